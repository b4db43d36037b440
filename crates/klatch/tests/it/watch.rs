//! Real runs in a real browser: watched, and talked to by the gateway and by the server's own WebSocket.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::support::{Finished, klatch, run_once};
use klatch_record::{Record, Status};
use klatch_testing::{Chromium, Need, needs};

/// A run with a page, killed when dropped.
struct Watched {
    run: Child,
    url: String,
    /// Kept open: the run reports its progress here.
    _progress: BufReader<ChildStderr>,
}

impl Watched {
    /// Starts a run of ten rooms whose users speak by the clock, so that it lasts as long on every machine.
    fn start(out: &std::path::Path, options: &[&str]) -> Watched {
        let workload =
            ["--rooms", "10", "--users", "5", "--pacing", "rate", "--rate", "4", "--count", "60", "--web"];
        let mut run = run_once(out, options)
            .args(workload)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut progress = BufReader::new(run.stderr.take().unwrap());
        progress.read_line(&mut line).unwrap();
        let url = line.trim().trim_start_matches("watch").trim().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line}");
        Watched { run, url, _progress: progress }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

/// A browser and a run need the CPUs for themselves, so there is one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const HEARD: &str = "document.querySelector('#lines').textContent";

fn join(browser: &mut Chromium, nick: &str) {
    browser.wait_for("!document.querySelector('#join').hidden");
    browser.evaluate(&format!(
        "document.querySelector('#nick').value = '{nick}'; document.querySelector('#join button').click()"
    ));
    browser.wait_for("!document.querySelector('#say').hidden");
}

/// Two people talk to the crowd and to each other during a run, and stay until its end.
fn talk_in_a_run(options: &[&str]) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let out = tempfile::tempdir().unwrap();
    // The run lasts 15 s, and a browser may take some of them to start.
    let (mut ann, mut ben) = (Chromium::start(), Chromium::start());
    let watched = Watched::start(out.path(), options);
    let announced = || klatch_report::viewer::announced(out.path());
    assert_eq!(announced(), std::slice::from_ref(&watched.url));
    for (browser, nick) in [(&mut ann, "ann"), (&mut ben, "ben")] {
        browser.visit(&watched.url, 1000, false);
        join(browser, nick);
        // Messages of the crowd arrive.
        browser.wait_for(
            "[...document.querySelectorAll('#lines b')].some((from) => /^r1u\\d+$/.test(from.textContent))",
        );
    }
    let evil = "<img src=x onerror=window.caught=1>";
    ann.evaluate(&format!(
        "document.querySelector('#text').value = '{evil}'; document.querySelector('#say button').click()"
    ));
    ben.wait_for(&format!("{HEARD}.includes('ann{evil}')"));
    for browser in [&mut ann, &mut ben] {
        browser.wait_for("document.querySelector('#connection').textContent === 'all runs are made'");
        let result = browser.evaluate("document.querySelector('#runs').textContent");
        assert!(result.as_str().unwrap().contains("valid"), "{result}");
        assert!(result.as_str().unwrap().contains("ann"), "the result does not name the stranger: {result}");
        assert_eq!(browser.evaluate("document.querySelectorAll('img').length + (window.caught ?? 0)"), 0);
        assert_eq!(browser.evaluate("document.querySelectorAll('#rate polyline').length"), 2);
    }
    let folder = std::fs::read_dir(out.path())
        .unwrap()
        .flatten()
        .find(|entry| entry.path().join("trial-1.json").is_file());
    let text = std::fs::read_to_string(folder.unwrap().path().join("trial-1.json")).unwrap();
    let record: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(record.verdict.status, Status::Valid, "{:?}", record.verdict);
    assert_eq!((record.score.sent, record.score.received), (3_000, 12_000));
    let mut nicks: Vec<_> = record.checks.strangers.iter().map(|stranger| stranger.nick.as_str()).collect();
    nicks.sort_unstable();
    nicks.dedup();
    assert_eq!(nicks, ["ann", "ben"]);
    assert!(announced().is_empty(), "the page is still announced");
}

#[test]
fn a_port_that_is_in_use_is_told_before_anything_starts() {
    let out = tempfile::tempdir().unwrap();
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let used = holder.local_addr().unwrap();
    let web = format!("--web={}", used.port());
    let finished = Finished::run(&mut run_once(out.path(), &["--platform", "native-epoll", &web]));
    assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""));
    let told = format!("klatch: cannot listen on 127.0.0.1:{}: Address already in use", used.port());
    assert!(finished.err.starts_with(&told) && finished.err.lines().count() == 1, "{finished:?}");
}

#[test]
fn a_study_is_watched_unless_it_has_duets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let text =
        "question = 'q'\nplatforms = ['native-epoll', 'native-threads']\n[workload]\nrooms = 2\nusers = 5\n";
    let rules =
        ["count = 20\n[rules]\npreset = 'volano-1999'\n", "[rules]\npreset = 'duet'\ntrials_max = 2\n"];
    let [watched, refused] = rules.map(|rules| {
        std::fs::write(&file, format!("{text}{rules}")).unwrap();
        let mut study = klatch();
        study.arg("study").arg(&file).args(["--web", "--json", "--out"]).arg(folder.path().join("results"));
        Finished::run(&mut study)
    });
    assert_eq!(watched.status, Some(0), "{watched:?}");
    assert!(watched.err.starts_with("watch     http://127.0.0.1:"), "{watched:?}");
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("--web shows runs, and small has duets; leave it out"), "{refused:?}");
}

#[test]
fn two_people_in_a_room_over_the_gateway() {
    needs!(Need::Chromium);
    talk_in_a_run(&["--platform", "native-epoll"]);
}

#[test]
fn two_people_in_a_room_over_the_servers_own_websocket() {
    needs!(Need::TestAll, Need::Chromium);
    talk_in_a_run(&["--platform", "native-epoll", "--transport", "ws"]);
}

#[test]
fn a_person_in_a_room_behind_a_certificate_that_no_browser_knows() {
    needs!(Need::Chromium);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let out = tempfile::tempdir().unwrap();
    let mut browser = Chromium::start();
    let watched = Watched::start(out.path(), &["--platform", "native-epoll", "--transport", "wss"]);
    browser.visit(&watched.url, 400, true);
    join(&mut browser, "ann");
    browser.wait_for("document.querySelectorAll('#lines b').length > 3");
}
