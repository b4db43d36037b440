//! Duets: two servers or crowds in slices of time, planted differences, and every way for a side to fail.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::proxy::{Mischief, in_front_of};
use crate::support::{Finished, NativeServer, children_of, decided, klatch};
use klatch_record::{Duet, DuetEnd, Record, Status};
use rustix::process::{Pid, Signal, kill_process};

const SMALL: [&str; 8] = ["--rooms", "2", "--users", "5", "--slice", "20ms", "--warmup", "100ms"];

fn duet(a: &str, b: &str, out: &Path) -> Command {
    let mut command = klatch();
    command.args(["duet", a, b]).args(SMALL).arg("--out").arg(out);
    command
}

fn result(finished: &Finished) -> Duet {
    serde_json::from_str(&finished.out).unwrap_or_else(|error| panic!("no duet ({error}): {finished:?}"))
}

fn pairs(duet: &Duet) -> usize {
    duet.starts.iter().map(|start| start.pairs.len()).sum()
}

#[test]
fn a_server_against_itself_leaves_a_result_and_ordinary_records() {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(
        duet("native-epoll", "native-epoll", out.path())
            .args(["--duration", "10s", "--starts", "3", "--json"])
            .args(["--require", "B/A server_cpu_us <= 9; change/base throughput > 0.1"]),
    );
    let duet = result(&finished);
    assert_eq!(duet.requirements.len(), 2, "{:?}", duet.requirements);
    // A busy machine has no time for three.
    assert!(duet.end == DuetEnd::Complete && (1..=3).contains(&duet.starts.len()), "{duet:?}");
    assert!(pairs(&duet) > 0);
    let cpu = duet.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    if let Some(ratio) = decided("the requirements", cpu) {
        assert_eq!(finished.status, Some(0), "{finished:?}");
        assert!(finished.err.contains("met: B/A server_cpu_us <= 9: "), "{finished:?}");
        assert!((0.3..3.0).contains(&ratio.estimate), "{cpu:?}");
        // Three starts differ by what the scatter within them does not explain, which a busy machine may leave unknown.
        let has_both = cpu.within_start.is_some() && duet.starts.len() == 3;
        assert_eq!(cpu.between_starts.is_some(), has_both, "{cpu:?}");
    } else {
        assert_eq!(finished.status, Some(4), "{finished:?}");
    }
    let schema = Finished::run(klatch().args(["schema", "duet"])).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    jsonschema::validate(&schema, &serde_json::to_value(&duet).unwrap()).unwrap();
    let folder = std::fs::canonicalize(out.path().join("latest")).unwrap();
    let saved: Duet =
        serde_json::from_str(&std::fs::read_to_string(folder.join("duet.json")).unwrap()).unwrap();
    assert_eq!(saved, duet);
    let record = std::fs::read_to_string(folder.join("b/block-002/trial-1.json")).unwrap();
    let record: Record = serde_json::from_str(&record).unwrap();
    assert_eq!((record.verdict.status, record.checks.finished), (Status::Valid, true), "{record:?}");
    assert_eq!(record.score.received, record.score.sent * 4);
    for format in ["html", "md", "csv", "json"] {
        let report =
            Finished::run(klatch().arg("report").arg(&folder).args(["--out", "-", "--format", format]));
        assert_eq!(report.status, Some(0), "{report:?}");
        assert!(report.out.contains("native-epoll: change against base") || format == "csv", "{format}");
    }
    let compared = Finished::run(klatch().arg("compare").args([folder.join("a"), folder.join("b")]));
    assert_eq!(compared.status, Some(0), "{compared:?}");
}

/// Crowds of each kind, pacings other than turns, and both sides at once.
#[test]
fn crowds_and_pacings_run_in_slices() {
    for options in [
        &["--crowd", "native-threads"] as &[&str],
        &["--crowd", "java", "--warmup", "1s", "--slice", "50ms", "--duration", "10s"],
        &["--crowd", "native", "--crowd-b", "native-threads", "--pacing", "rounds"],
        &["--pacing", "rate", "--rate", "500"],
        &["--together"],
    ] {
        let out = tempfile::tempdir().unwrap();
        let mut command = duet("native-epoll", "native-threads", out.path());
        let finished =
            Finished::run(command.args(["--duration", "4s", "--starts", "1", "--json"]).args(options));
        assert_eq!(finished.status, Some(0), "{options:?}: {finished:?}");
        let duet = result(&finished);
        let cpu = duet.metrics.iter().find(|metric| metric.metric == "cpu_us_per_message").unwrap();
        if decided(&format!("the latencies of a duet with {options:?}"), cpu).is_none() {
            continue;
        }
        // Under a rate the latency counts from the schedule, which stands still in pauses.
        // A quarter of the pauses are as long as two slices. A busy machine can delay a few slices as much.
        let mut latencies: Vec<f64> =
            duet.starts[0].pairs.iter().map(|pair| pair.a.latency_p50_us.unwrap()).collect();
        latencies.sort_unstable_by(f64::total_cmp);
        let p85_us = latencies[latencies.len() * 85 / 100];
        assert!(p85_us < 20_000.0, "{options:?}: a latency contains a pause: {latencies:?}");
    }
}

#[test]
fn a_lost_message_ends_the_duet_with_the_name_of_the_side() {
    let out = tempfile::tempdir().unwrap();
    let servers = [NativeServer::start(), NativeServer::start()];
    let a = format!("irc://{}", servers[0].address);
    let b = format!("irc://{}", in_front_of(servers[1].address, Mischief::Lose { delivery: 200 }));
    let mut command = duet(&a, &b, out.path());
    let finished = Finished::run(command.args(["--duration", "20s", "--starts", "1", "--timeout", "1"]));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(
        finished.err.contains(&format!("klatch: {}: ", &b["irc://".len()..]))
            && finished.err.contains("1 delivery lost"),
        "{finished:?}"
    );
    let record = out.path().join("latest/b/block-001/trial-1.json");
    let record: Record = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    assert_eq!(record.checks.lost, 1);
}

#[test]
fn a_server_that_dies_ends_the_duet_and_nothing_is_left() {
    let out = tempfile::tempdir().unwrap();
    let mut command = duet("native-epoll", "native-threads", out.path());
    let mut child =
        command.args(["--duration", "60s", "--starts", "1"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut String::new()).unwrap();
    let children = children_of(child.id());
    let (server, _) = children.iter().find(|(_, line)| line.contains("--model threads")).expect("B runs");
    kill_process(Pid::from_raw(*server as i32).unwrap(), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let text: Vec<String> = errors.lines().map_while(Result::ok).collect();
    let told = text.iter().any(|line| line.starts_with("klatch: native-threads: ") && line.contains("died"));
    assert!(told, "{text:?}");
    for (pid, command) in children {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{command} still runs");
    }
}

#[test]
fn an_interrupted_duet_keeps_what_it_has() {
    let out = tempfile::tempdir().unwrap();
    let mut command = duet("native-epoll", "native-epoll", out.path());
    let mut child =
        command.args(["--duration", "60s", "--starts", "1"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut String::new()).unwrap();
    let children = children_of(child.id());
    assert_eq!(children.len(), 4, "two servers and two crowds: {children:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let saved = std::fs::read_to_string(out.path().join("latest/duet.json")).unwrap();
    let duet: Duet = serde_json::from_str(&saved).unwrap();
    assert_eq!(duet.end, DuetEnd::Interrupted);
    assert!(pairs(&duet) >= 1);
    for (pid, command) in children {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{command} still runs");
    }
}

/// A width that no machine reaches ends the duet after the first starts that show it, far before its time.
#[test]
fn a_hopeless_width_ends_early_and_says_so() {
    let out = tempfile::tempdir().unwrap();
    let mut command = duet("native-epoll", "native-epoll", out.path());
    let finished = Finished::run(command.args([
        "--within",
        "0.001%",
        "--duration",
        "60s",
        "--starts",
        "40",
        "--name-b",
        "new",
    ]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for text in
        ["at this noise ±0.001 % takes about ", "klatch: hopeless: at this noise ±0.001 % takes about "]
    {
        assert!(finished.err.contains(text), "{text:?} is not in {finished:?}");
    }
    let saved = std::fs::read_to_string(out.path().join("latest/duet.json")).unwrap();
    let duet: Duet = serde_json::from_str(&saved).unwrap();
    assert!(matches!(duet.end, DuetEnd::Hopeless { needed_s } if needed_s > 60.0), "{:?}", duet.end);
    assert!((3..20).contains(&duet.starts.len()), "{} starts", duet.starts.len());
    assert_eq!([duet.a.name.as_str(), duet.b.name.as_str()], ["base", "new"]);
    let last: Vec<&str> = finished.out.lines().rev().take(5).collect();
    assert!(
        last[0].starts_with("next: klatch ") && last[4].contains("new") && last[4].contains("base"),
        "{last:?}"
    );
}

#[test]
fn impossible_duets_are_refused() {
    let out = tempfile::tempdir().unwrap();
    for (b, options, message) in [
        ("native-epoll", &["--pacing", "flood"] as &[&str], "moments without messages in flight"),
        ("native-epoll", &["--duration", "1s"], "raise --duration, or lower --starts or --warmup"),
        ("native-epoll", &["--together", "--crowd-knob", "cpus=0"], "leave the knob out"),
        ("native-epoll", &["--slice", "1ms"], "slice must be 10 ms to 10 s"),
        (
            "native-epoll",
            &["--name-a", "x", "--name-b", "x"],
            "both sides are called x: give one of them another name: use --name-a",
        ),
        ("native-epoll", &["--require", "p99 <= 5ms"], "a duet judges ratios of its sides: B/A p99 <= 1.02"),
        (
            "native-epoll",
            &["--require", "x/y p99 <= 1.1"],
            "x/y are not the sides of this duet; use B/A, or change/base",
        ),
        (
            "native-epoll",
            &["--require", "B/A join_s <= 1.1"],
            "there is no metric join_s; there are throughput",
        ),
        ("native-epoll", &["--blind-passes"], "--blind-passes belongs to --fail-if-slower or --require"),
        ("native-tea", &[], "native-tea"),
        ("nowhere.toml", &[], "there is no file nowhere.toml"),
    ] {
        let finished = Finished::run(duet("native-epoll", b, out.path()).args(options));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
    }
}
