//! Reports of runs and of a study, side by side, and served on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Finished, klatch, run_once};

const WORKLOAD: [&str; 6] = ["--rooms", "1", "--users", "5", "--count", "20"];

/// Two results folders with one run each.
fn two_runs(out: &Path) -> Vec<PathBuf> {
    for platform in ["native-epoll", "native-threads"] {
        let finished = Finished::run(run_once(out, &["--platform", platform]).args(WORKLOAD));
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(out).unwrap().flatten().map(|entry| entry.path()).collect();
    folders.retain(|folder| !folder.is_symlink());
    folders.sort();
    folders
}

fn report(arguments: &[&Path], format: &str) -> String {
    let finished =
        Finished::run(klatch().arg("report").args(arguments).args(["--format", format, "--out", "-"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished.out
}

/// Whether the answer is that of one run: its throughput, or its CPU time if others disturbed that.
fn is_answered(text: &str) -> bool {
    ["native-epoll carries ", "native-epoll needs "].iter().any(|words| text.contains(words))
}

#[test]
fn runs_have_reports_in_every_format_alone_and_side_by_side() {
    let out = tempfile::tempdir().unwrap();
    let folders = two_runs(out.path());
    let [a, b] = [folders[0].as_path(), folders[1].as_path()];
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(a.join("trial-1.json")).unwrap()).unwrap();
    let score = record["score"]["messages_per_s"].as_f64().unwrap();
    assert!(report(&[a], "csv").contains(&format!("messages_per_s,{score},,,1")), "{score}");
    assert!(is_answered(&report(&[a], "md")));
    let json: serde_json::Value =
        serde_json::from_str(&report(&[&a.join("trial-1.json"), &b.join("trial-1.json")], "json")).unwrap();
    assert_eq!(
        (json["schema"].as_str(), json["cells"].as_array().map(Vec::len)),
        (Some("klatch-report/2"), Some(2))
    );
    for (format, value, reason) in [
        ("md", "| 50 % | ", "| needs 1,000,000 samples, had 400 |"),
        ("csv", ",latency_p50_us,", ",latency_p99.999_us,,,,1"),
        ("html", "<td class=\"number\">50 %</td>", "needs 1,000,000 samples, had 400"),
        ("json", "\"samples\": 400", "\"samples_needed\": 1000000"),
    ] {
        let mut command = klatch();
        command.arg("report").arg(a).args(["--format", format, "--out", "-", "--percentiles", "99.999,50"]);
        let text = Finished::run(&mut command).out;
        assert!(text.contains(value) && text.contains(reason), "{format}: {text}");
    }
    let both = report(&[a, b], "html");
    let platforms = ["native-epoll", "native-threads"];
    assert!(both.contains(&format!("<h3>{} against {}</h3>", platforms[1], platforms[0])), "{both}");
    // The name of a side is not added to that of its platform.
    assert!(!both.contains("native-epoll, native-epoll"), "{both}");

    let finished = Finished::run(klatch().arg("report").arg(a));
    assert!(finished.status == Some(0) && a.join("report.html").is_file(), "{finished:?}");
    let finished = Finished::run(klatch().arg("report").arg(out.path().join("nothing")));
    assert!(finished.status == Some(2) && finished.err.contains("nothing: No such file"), "{finished:?}");
    let empty = tempfile::tempdir().unwrap();
    let finished = Finished::run(klatch().arg("report").arg(empty.path()));
    assert!(
        finished.status == Some(2) && finished.err.contains("holds no record; name a folder"),
        "{finished:?}"
    );
}

/// The finished command, which was given this text.
fn with_input(command: &mut Command, text: &str) -> Finished {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn json_lines_and_standard_input_are_results_and_other_files_are_skipped_by_name() {
    let out = tempfile::tempdir().unwrap();
    let folders = two_runs(out.path());
    let line = |folder: &PathBuf| {
        let text = std::fs::read_to_string(folder.join("trial-1.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap().to_string() + "\n"
    };
    let lines: Vec<String> = folders.iter().map(line).collect();
    let (file, cut) = (out.path().join("runs.jsonl"), out.path().join("cut.jsonl"));
    std::fs::write(&file, lines.concat()).unwrap();
    // Records in a file are those in folders, without links to their files.
    let expected = report(&[&folders[0].join("trial-1.json"), &folders[1].join("trial-1.json")], "csv");
    assert_eq!(report(&[&file], "csv"), expected);
    let finished = with_input(klatch().args(["report", "-", "--format", "csv"]), &lines.concat());
    assert_eq!((finished.out, finished.status), (expected, Some(0)), "{}", finished.err);

    // A run that was killed has left half a line.
    std::fs::write(&cut, format!("{}{}", lines[0], &lines[1][..lines[1].len() / 2])).unwrap();
    let finished = Finished::run(klatch().arg("report").arg(&cut).args(["--format", "csv"]));
    assert!(
        finished.status == Some(0) && finished.err.contains("cut.jsonl:2 is skipped: it is not JSON: EOF"),
        "{finished:?}"
    );
    let [a, b] = [out.path().join("a.jsonl"), out.path().join("b.jsonl")];
    std::fs::write(&a, &lines[0]).unwrap();
    std::fs::write(&b, &lines[1]).unwrap();
    let compared = |a: &Path, b: &Path| {
        let finished = Finished::run(klatch().arg("compare").args([a, b]).arg("--json"));
        assert_eq!(finished.status, Some(0), "{finished:?}");
        serde_json::from_str::<serde_json::Value>(&finished.out).unwrap()["metrics"].clone()
    };
    assert_eq!(compared(&a, &b), compared(&folders[0], &folders[1]));

    std::fs::write(folders[0].join("package.json"), "{\"name\": \"x\"}").unwrap();
    std::fs::write(folders[0].join("trial-2.json"), "").unwrap();
    let finished = Finished::run(klatch().arg("report").arg(&folders[0]));
    let names =
        ["package.json is skipped: it has no `schema` of Klatch", "trial-2.json is skipped: it is empty"];
    assert!(finished.status == Some(0) && names.iter().all(|it| finished.err.contains(it)), "{finished:?}");
    let finished = Finished::run(klatch().arg("compare").args([&folders[0], &folders[1]]));
    assert!(finished.status == Some(0) && names.iter().all(|it| finished.out.contains(it)), "{finished:?}");
}

#[test]
fn a_study_ends_with_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let text = "question = 'Is <it> quick?'\nplatforms = ['native-epoll']\n[workload]\nrooms = [1, 2]\nusers = 5\ncount = 20\n\
        [rules]\npreset = 'ibm-2000'\ntrials_max = 2\n";
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("results");
    let finished = Finished::run(klatch().arg("study").arg(&file).arg("--out").arg(&out));
    assert!(finished.status == Some(0) && finished.out.contains("report: "), "{finished:?}");
    let page = std::fs::read_to_string(out.join("latest/report.html")).unwrap();
    assert!(page.contains("Is &#60;it&#62; quick?") && page.contains("id=\"chart-messages_per_s\""));
    assert!(finished.out.contains("(start 1 of 2)\n"), "{finished:?}");
    assert!(finished.out.contains("(start 2 of 2, at least "), "{finished:?}");
}

/// A `klatch browse`, killed when dropped, so that a failed assertion leaves none behind.
pub(crate) struct Open(Child);

impl Open {
    /// Browses a folder; returns the port too.
    pub(crate) fn folder(folder: &Path) -> (Open, u16) {
        let mut open = Open(klatch().arg("browse").arg(folder).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(open.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        (open, port)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Status line and body of a page.
pub(crate) fn get(port: u16, path: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

#[test]
fn results_are_listed_searched_shown_and_compared_on_loopback() {
    let out = tempfile::tempdir().unwrap();
    let folders = two_runs(out.path());
    let names: Vec<&str> =
        folders.iter().map(|folder| folder.file_name().unwrap().to_str().unwrap()).collect();
    let (_open, port) = Open::folder(out.path());
    let host = format!("127.0.0.1:{port}");
    let page = |path: &str| get(port, path, &host);

    let (status, index) = page("/");
    assert!(status.contains("200"), "{status}");
    // Newest result first.
    assert!(index.find(names[1]).unwrap() < index.find(names[0]).unwrap(), "{index}");
    let (_, matching) = page("/?words=native+epoll");
    assert!(matching.contains(names[0]) && !matching.contains(names[1]), "{matching}");
    assert!(is_answered(&page(&format!("/report/{}", names[0])).1));
    let both = page(&format!("/compare?a={}&b={}", names[0], names[1])).1;
    assert!(
        both.contains("<h3>native-threads against native-epoll</h3>")
            || both.contains("<h3>native-epoll against native-threads</h3>")
    );
    assert!(page(&format!("/compare?a={0}&b={0}", names[0])).1.contains("Select one result as base"));
    for (path, wanted) in [("/report/..%2f..%2fetc", "404"), ("/report/latest", "404"), ("/other", "404")] {
        assert!(page(path).0.contains(wanted), "{path}");
    }
    assert!(get(port, "/", "evil.example").0.contains("403"));
}

#[test]
fn a_client_of_open_that_does_not_read_or_sends_without_end_delays_nobody() {
    let out = tempfile::tempdir().unwrap();
    let (_open, port) = Open::folder(out.path());
    let host = format!("127.0.0.1:{port}");
    let attack = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
        // The server may have closed the connection, or stopped reading.
        let _ = stream.write_all(bytes);
        stream
    };
    // The answers to all of these are more than the buffers of the connection take.
    let unread = attack(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(10_000).as_bytes());
    let endless = attack(&[b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 1 << 20]].concat());
    endless.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut refusal = String::new();
    BufReader::new(&endless).read_line(&mut refusal).unwrap();
    assert!(refusal.starts_with("HTTP/1.1 431 "), "{refusal}");
    assert!(get(port, "/", &host).0.contains("200"));
    drop((unread, endless));
}
