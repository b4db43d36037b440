//! Users who leave and come back during a run: every message still has all its listeners.

use crate::support::proxy::{Mischief, in_front_of_one};
use crate::support::{Finished, NativeServer, klatch, run_once};
use klatch_record::{FailureKind, Record, Status};
use klatch_testing::{Need, needs};

const USERS: usize = 10;
/// Two rooms of five users, of which each reconnects ten times a second.
const SMALL: [&str; 8] = ["--rooms", "2", "--users", "5", "--count", "40", "--churn", "10"];

fn run(more: &[&str]) -> (Option<i32>, Record) {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(run_once(out.path(), more).args(SMALL));
    (finished.status, finished.record())
}

/// Checks that a run is valid, and that users reconnected in it.
fn assert_valid(more: &[&str]) -> Record {
    let (status, record) = run(more);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{more:?}: {record:?}");
    assert_eq!((record.score.sent, record.score.received), (400, 1_600), "{more:?}");
    let reconnects = record.results.reconnects().unwrap_or_else(|| panic!("{more:?}: nobody reconnected"));
    // A user sends for at least 0.4 s, and is due within the first 0.1 s.
    assert!(reconnects.count >= USERS as u64, "{more:?}: {reconnects:?}");
    record
}

#[test]
fn users_reconnect_under_every_pacing_and_transport() {
    for pacing in ["turns", "rounds", "flood"] {
        assert_valid(&["--platform", "native-epoll", "--pacing", pacing, "--pause", "0.01"]);
    }
    for transport in ["ws", "tls", "wss"] {
        assert_valid(&["--platform", "native-epoll", "--transport", transport, "--pause", "0.01"]);
    }
}

#[test]
fn users_resume_their_tls_sessions_if_both_sides_are_asked_to() {
    let tls = ["--platform", "native-epoll", "--transport", "tls", "--pause", "0.01"];
    let resumed = |more: &[&str]| {
        let record = assert_valid(&[&tls, more].concat());
        record.shards[0].tls.as_ref().unwrap().resumed
    };
    assert_eq!(resumed(&["--knob", "tickets=on"]), 0);
    assert_eq!(resumed(&["--crowd-knob", "resume=on"]), 0);
    // All have reconnected at least once.
    assert_eq!(resumed(&["--knob", "tickets=on", "--crowd-knob", "resume=on"]), USERS as u64);
}

#[test]
fn other_runtimes_resume_tls_sessions() {
    needs!(
        Need::Program("java", "openjdk-17-jre-headless"),
        Need::Program("node", "nodejs"),
        Need::Program("go", "golang-go")
    );
    let given: [(&str, &[&str]); 3] =
        [("java-threads", &[]), ("node-events", &[]), ("go-goroutines", &["--knob", "tickets=on"])];
    for (platform, knobs) in given {
        let options =
            ["--platform", platform, "--transport", "tls", "--pause", "0.01", "--crowd-knob", "resume=on"];
        let record = assert_valid(&[&options, knobs].concat());
        // Not all: a user who comes back while others use up the tickets has none.
        assert!(record.shards[0].tls.as_ref().unwrap().resumed > 0, "{platform}");
    }
}

#[test]
fn shards_count_their_reconnects_together() {
    let record = assert_valid(&["--platform", "native-epoll", "--shards", "2", "--pause", "0.01"]);
    assert_eq!(record.shards.len(), 2);
}

#[test]
fn a_duet_pauses_when_all_are_back() {
    let options = [
        "--duration",
        "4s",
        "--starts",
        "1",
        "--rooms",
        "2",
        "--users",
        "5",
        "--slice",
        "50ms",
        "--churn",
        "5",
    ];
    let out = tempfile::tempdir().unwrap();
    let mut duet = klatch();
    duet.args(["duet", "native-epoll", "native-epoll", "--json"]).args(options).arg("--out").arg(out.path());
    let finished = Finished::run(&mut duet);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let record = out.path().join("latest/a/block-001/trial-1.json");
    let record: Record = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    assert!(record.results.reconnects().is_some_and(|reconnects| reconnects.count > 0));

    // What it printed has a report, under any name.
    let printed = out.path().join("d.json");
    std::fs::write(&printed, &finished.out).unwrap();
    let report = Finished::run(klatch().arg("report").arg(&printed).args(["--format", "md"]));
    assert!(report.status == Some(0) && report.out.contains("native-epoll"), "{report:?}");
}

/// Runs against a server that has a fault in the first connection that is made anew.
fn spoilt(mischief: Mischief) -> (Option<i32>, Record) {
    let server = NativeServer::start();
    let target = format!("irc://{}", in_front_of_one(server.address, USERS, mischief));
    run(&["--target", &target, "--timeout", "1", "--pause", "0.01"])
}

#[test]
fn a_user_who_is_not_let_in_again_is_named() {
    let (status, record) = spoilt(Mischief::RefuseNick);
    assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid), "{record:?}");
    let failure = record.checks.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Join, "{failure:?}");
    assert!(failure.detail.contains(" 433 ") && failure.user.is_some(), "{failure:?}");
}

#[test]
fn a_user_who_hears_nothing_after_its_return_is_named() {
    let (status, record) = spoilt(Mischief::FallSilent { delivery: 1 });
    assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid), "{record:?}");
    assert!(record.checks.lost > 0 && record.checks.duplicated + record.checks.corrupted == 0, "{record:?}");
}

#[test]
fn what_has_no_churn_refuses_it() {
    for (more, message) in [
        (&["--pacing", "rate", "--rate", "5"][..], "churn must be 0 under pacing rate"),
        (&["--crowd", "native-threads"], "users reconnect in the native crowd only"),
        (&["--churn", "-1"], "churn must be 0 to 1,000 reconnects/s, got -1"),
        (&["--workload", "rr"], "churn belongs to the workload chat, not to rr"),
    ] {
        let mut words = vec!["run", "--platform", "native-epoll"];
        if !more.contains(&"--churn") {
            words.extend(["--churn", "1"]);
        }
        let finished = Finished::run(klatch().args(words).args(more));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(message), "{message}: {finished:?}");
    }
    let crowd = ["crowd", "--port", "1", "--threads", "--churn", "1"];
    let finished = Finished::run(klatch().args(crowd));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("two threads a user do not"), "{finished:?}");
}
