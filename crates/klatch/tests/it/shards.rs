//! Runs with rooms spread over several crowd and server processes.

use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::{Finished, NativeServer, children_of, klatch, run_once, until_joined};
use klatch_record::{Record, Status};
use rustix::process::{Pid, Signal, kill_process};

const SMALL: [&str; 6] = ["--rooms", "3", "--users", "4", "--count", "25"];

fn run(arguments: &[&str]) -> Record {
    let out = tempfile::tempdir().unwrap();
    let finished =
        Finished::run(run_once(out.path(), &["--platform", "native-epoll"]).args(SMALL).args(arguments));
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.score.sent, record.score.received), (300, 900), "{finished:?}");
    assert_eq!(record.latency.as_ref().unwrap().count, 900);
    let over_time = record.over_time.as_ref().unwrap();
    assert_eq!(over_time.intervals.iter().map(|interval| interval.deliveries).sum::<u64>(), 900);
    assert_eq!((record.workload.start(), record.workload.parties()), (1, 3));
    record
}

fn rooms(record: &Record) -> Vec<(u32, u32)> {
    record.shards.iter().map(|shard| (shard.start, shard.rooms)).collect()
}

#[test]
fn shards_of_one_machine_are_one_run() {
    for pacing in [&["--pacing", "turns"][..], &["--pacing", "rate", "--rate", "50"]] {
        let record = run(&[&["--shards", "2"], pacing].concat());
        assert_eq!(rooms(&record), [(1, 1), (2, 2)]);
        let of_shards: f64 = record.shards.iter().map(|shard| shard.usage.as_ref().unwrap().cpu_s).sum();
        let crowd = record.usage.crowd.as_ref().unwrap();
        assert!((crowd.cpu_s - of_shards).abs() < 1e-6 && of_shards > 0.0, "{record:?}");
        assert!(
            record.usage.server.as_ref().unwrap().cpu_s > 0.0 && record.score.cpu_us_per_message.is_some()
        );
        let clocks: Vec<_> =
            record.shards.iter().map(|shard| &shard.opened.as_ref().unwrap().clock).collect();
        assert_eq!(clocks[0], clocks[1]);
        let longest = record.shards.iter().map(|shard| shard.elapsed_s).fold(0.0, f64::max);
        assert!(record.score.elapsed_s >= longest, "from the first opening to the last delivery: {record:?}");
    }
}

#[test]
fn shards_of_the_java_crowd_are_one_run() {
    let record = run(&["--crowd", "java", "--shards", "3"]);
    assert_eq!(rooms(&record), [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn servers_have_rooms_and_shards_of_their_own() {
    let one = run(&[]);
    let two = run(&["--servers", "2"]);
    assert_eq!((one.platform.servers, two.platform.servers), (1, 2));
    assert_eq!(rooms(&two), [(1, 1), (2, 2)]);
    let [first, second] = &two.shards[..] else { panic!("{two:?}") };
    assert_ne!(first.address, second.address);
    assert_eq!(two.platform.address, format!("{}, {}", first.address, second.address));
    let threads = |record: &Record| record.usage.server.as_ref().unwrap().threads;
    assert_eq!(threads(&two), 2 * threads(&one));
}

/// A run of about ten seconds, after all users have joined.
fn slow_run(out: &Path, arguments: &[&str]) -> Child {
    let slow = ["--platform", "native-epoll", "--pacing", "rate", "--rate", "5", "--count", "50"];
    let mut command = run_once(out, &slow);
    command.args(["--rooms", "2", "--users", "4"]).args(arguments);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until_joined(&mut run);
    run
}

/// Kills a child, by its place among those of a kind.
fn kill_child(run: &Child, what: &str, place: usize) {
    let children = children_of(run.id());
    let (pid, _) = children.iter().filter(|(_, line)| line.contains(what)).nth(place).expect(what);
    kill_process(Pid::from_raw(*pid as i32).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_shard_that_is_killed_is_named() {
    let out = tempfile::tempdir().unwrap();
    let run = slow_run(out.path(), &["--shards", "2"]);
    kill_child(&run, " crowd --job", 1);
    let finished = Finished::from(run.wait_with_output().unwrap());
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
    let expected = "the shard of room 2: the crowd ended without a result; on standard error: nothing";
    assert_eq!(record.verdict.reasons[0].message, expected);
    let stopped = "it was stopped, because the shard of room 2 ended without a result";
    assert!(record.verdict.messages().contains(stopped), "{record:?}");
    assert!(record.score.sent < 200, "the other shard did not go on to its end: {record:?}");
}

#[test]
fn a_server_that_is_killed_is_named() {
    let out = tempfile::tempdir().unwrap();
    let run = slow_run(out.path(), &["--servers", "2"]);
    kill_child(&run, " serve ", 0);
    let finished = Finished::from(run.wait_with_output().unwrap());
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
    let dead = &record.shards[0].address;
    assert!(
        record.verdict.reasons[0]
            .message
            .starts_with(&format!("the server on {dead} died: killed by SIGKILL"))
    );
    assert!(record.verdict.reasons[1].message.starts_with("the shard of room 1: "), "{record:?}");
    assert!(!record.verdict.reasons.iter().any(|reason| reason.message.contains("room 2")), "{record:?}");
}

#[test]
fn a_shard_that_cannot_join_keeps_the_gate_closed() {
    use crate::support::proxy::{Mischief, in_front_of};
    let out = tempfile::tempdir().unwrap();
    let server = NativeServer::start();
    let target = format!("irc://{}", in_front_of(server.address, Mischief::RefuseNick));
    let mut command = run_once(out.path(), &["--target", &target, "--shards", "2"]);
    let finished = Finished::run(command.args(["--rooms", "2", "--users", "8", "--count", "10"]));
    let record = finished.record();
    assert_eq!((finished.status, record.score.total), (Some(1), 0), "{finished:?}");
    let reasons = record.verdict.messages();
    assert!(reasons.contains(":srv 433 * r1u3 :Nickname is already in use"), "{reasons}");
    assert!(reasons.contains("it was stopped, because the shard of room "), "{reasons}");
}

#[test]
fn invalid_shard_and_server_counts_are_refused() {
    let error = |arguments: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        let finished = Finished::run(run_once(out.path(), &["--rooms", "3"]).args(arguments));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        finished.err
    };
    let rooms =
        "room count must be 4 or more, as there are 4 shards (one a server and one a host at least), got 3";
    assert!(error(&["--shards", "4"]).contains(rooms));
    assert!(error(&["--servers", "4"]).contains(rooms));
    assert!(error(&["--shards", "0"]).contains("shard count must be 1 to 256, got 0"));
    for of_platform in [["--servers", "2"], ["--catalog", "x"], ["--ready-timeout", "5"]] {
        let refused = error(&[of_platform.as_slice(), &["--target", "irc://localhost:1"]].concat());
        assert!(refused.contains("cannot be used with '--target"), "{of_platform:?}: {refused}");
    }
    assert!(error(&["--hosts", "a,b"]).contains("name an address of this machine with --host-address"));
    assert!(error(&["--hosts", "a,-oProxyCommand=x"]).contains("a host must be a name, or @slurm alone"));
    assert!(error(&["--reach", "ssh 'a"]).contains("or a command in shell syntax with {host}"));
}

#[test]
fn records_of_crowds_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let server = NativeServer::start();
    let port = server.address.port().to_string();
    let path = |name: &str| folder.path().join(name);
    for start in ["1", "3"] {
        let mut command = klatch();
        command.args(["crowd", "--port", &port, "--rooms", "2", "--users", "4", "--count", "25"]);
        let finished = Finished::run(command.args(["--start", start, "--out"]).arg(path(start)));
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    let merge = |names: &[&str]| {
        let mut command = klatch();
        Finished::run(
            command
                .args(["merge", "--json", "--out"])
                .arg(path("all"))
                .args(names.iter().map(|name| path(name))),
        )
    };
    let finished = merge(&["3", "1"]);
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.score.sent, record.score.received), (400, 1200));
    assert_eq!(rooms(&record), [(1, 2), (3, 2)]);
    assert!(record.usage.crowd.unwrap().cpu_s > 0.0, "each crowd reports its own usage");
    let kinds: Vec<_> = record.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(
        kinds.iter().any(|kind| kind.contains("active in 0 % of the time")),
        "the crowds ran one after the other"
    );
    let schema: serde_json::Value = serde_json::from_str(&Finished::run(klatch().arg("schema")).out).unwrap();
    let written = std::fs::read_to_string(path("all")).unwrap();
    jsonschema::validate(&schema, &serde_json::from_str(&written).unwrap()).unwrap();
    let again = merge(&["all"]);
    assert_eq!(again.out, finished.out, "the merge of a merge is that merge");
    let twice = merge(&["1", "1"]);
    assert_eq!(twice.status, Some(2));
    assert!(twice.err.contains("share rooms: is a record named twice?"), "{twice:?}");
    std::fs::write(path("odd"), "{}").unwrap();
    assert!(merge(&["odd"]).err.contains("odd is no record: missing field"));
    assert!(merge(&["gone"]).err.contains("gone: No such file"));
}
