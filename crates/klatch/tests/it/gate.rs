//! Crowds without a parent start together: their gate is a room of the server under test.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::support::{Finished, NativeServer, klatch};
use klatch_platforms::{PlatformRequest, Processes, Server, resolve};
use klatch_record::{Class, Record, Status, Workload};
use rustix::process::{Pid, Signal, kill_process};

/// A shard with 2 rooms that waits at a gate.
fn shard(address: SocketAddr, protocol: &str, start: u32, gate: &str, out: &Path) -> Child {
    let mut command = klatch();
    command.args(["crowd", "--host", &address.ip().to_string(), "--port", &address.port().to_string()]);
    command.args(["--protocol", protocol, "--start", &start.to_string(), "--rooms", "2"]);
    command.args(["--users", "4", "--count", "25"]);
    command.args(["--gate", gate, "--gate-timeout", "30", "--out"]).arg(out.join(start.to_string()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn merged(out: &Path, starts: &[u32]) -> (Finished, Record) {
    let files = starts.iter().map(|start| out.join(start.to_string()));
    let finished = Finished::run(klatch().args(["merge", "--json"]).args(files));
    let record = finished.record();
    (finished, record)
}

/// Starts three shards, each after the previous one is at the gate, and merges their records.
fn three_shards(address: SocketAddr, protocol: &str) -> Record {
    let out = tempfile::tempdir().unwrap();
    let mut waiting: Vec<Child> = Vec::new();
    for (place, start) in [5, 1, 3].into_iter().enumerate() {
        waiting.push(shard(address, protocol, start, "3", out.path()));
        let last = waiting.last_mut().unwrap();
        // The last shard opens the gate so fast that it may skip the gate event.
        if place < 2 {
            crate::support::until_line(last, " of 3 shards at the gate");
        }
    }
    for child in waiting {
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(0), "{protocol}: {finished:?}");
    }
    let (finished, record) = merged(out.path(), &[1, 3, 5]);
    assert_eq!(
        (finished.status, record.verdict.status),
        (Some(0), Status::Valid),
        "{protocol}: {finished:?}"
    );
    assert_eq!((record.score.sent, record.score.received), (600, 1800), "{protocol}");
    assert_eq!(record.checks.strangers, [], "nobody of the gate is in a room of the crowd");
    record
}

#[test]
fn shards_at_a_gate_start_together_over_every_protocol() {
    together(&three_shards(NativeServer::start().address, "irc"));
    let all = Processes::default();
    let platforms = [("redis", "redis"), ("nats", "nats"), ("mosquitto", "mqtt")];
    let representatives = if klatch_testing::tests_all() { &platforms[..] } else { &platforms[..1] };
    for &(platform, protocol) in representatives {
        let request = PlatformRequest { name: Some(platform.into()), ..PlatformRequest::default() };
        let chosen = resolve(&request, &Workload::default()).unwrap();
        let patience = std::time::Duration::from_secs(60);
        let server = Server::start(&chosen, [127, 0, 0, 1].into(), &all, patience).unwrap();
        together(&three_shards(server.address, protocol));
    }
}

/// All shards share one clock here, so the test can check the common start.
fn together(record: &Record) {
    let opened = || record.shards.iter().map(|shard| shard.opened.as_ref().unwrap().ns);
    let apart_ns = opened().max().unwrap() - opened().min().unwrap();
    assert!(apart_ns < 2_000_000_000, "the gates opened {apart_ns} ns apart: {record:?}");
}

/// A shard that an engine starts, perhaps before its server.
fn numbered(port: u16, shard: &str, out: &Path) -> Command {
    let mut command = klatch();
    command.args(["crowd", "--rooms", "5", "--users", "4", "--count", "25", "--port", &port.to_string()]);
    command.args(["--shard", shard, "--wait-for-server", "30", "--out"]).arg(out);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn numbered_shards_wait_for_their_server_and_share_the_rooms() {
    let out = tempfile::tempdir().unwrap();
    let file = |number: u32| out.path().join(number.to_string());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let first = numbered(port, "0/2", &file(0)).spawn().unwrap();
    let second = numbered(port, "env/2", &file(1)).env("JOB_COMPLETION_INDEX", "1").spawn().unwrap();
    let mut server = klatch();
    let mut server = server
        .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for child in [first, second] {
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let (finished, record) = merged(out.path(), &[0, 1]);
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.workload.parties(), record.score.sent), (5, 500));
}

#[test]
fn a_server_announces_itself_and_adds_its_use() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let crowds: Vec<Child> = ["0/2", "1/2"]
        .map(|number| {
            let mut command = klatch();
            command.args(["crowd", "--rooms", "4", "--users", "4", "--count", "500", "--shard", number]);
            command.args(["--wait-for-server", "30", "--server-file"]).arg(file("server"));
            command.arg("--out").arg(file(&number[..1])).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .into();
    let mut command = klatch();
    command.args(["serve", "--model", "threads", "--listen", "127.0.0.1:0", "--ready-file"]);
    command.arg(file("server")).arg("--out").arg(file("use")).stdout(Stdio::null());
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    for crowd in crowds {
        let finished = Finished::from(crowd.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    assert!(!file("server").exists(), "no crowd finds a server that has ended");
    let merge = |names: &[&str]| {
        Finished::run(klatch().args(["merge", "--json"]).args(names.iter().map(|name| file(name))))
    };
    let finished = merge(&["1", "use", "0"]);
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    let server = record.usage.server.as_ref().unwrap();
    // 16 users have two threads each.
    assert!(server.cpu_s > 0.0 && server.switches_voluntary > Some(100) && server.threads > 32, "{server:?}");
    assert!(record.score.cpu_us_per_message.unwrap() > server.cpu_us_per_message, "{record:?}");
    assert_eq!(record.platform.class, Some(Class::Classic));
    assert_eq!(record.platform.command.as_ref().unwrap()[1], "serve");
    assert_eq!(record.checks.strangers, [], "the server's own user is in no room of the crowd");
    let twice = merge(&["0", "1", "use", "use"]);
    assert!(twice.err.contains("there are the files of 2 servers"), "{twice:?}");
    let other = std::fs::read_to_string(file("use")).unwrap();
    let run = record.shards[0].gate_run.as_ref().unwrap();
    std::fs::write(file("other"), other.replace(run, "1f")).unwrap();
    let stale = merge(&["0", "1", "other"]);
    assert_eq!(stale.status, Some(2), "{stale:?}");
    assert!(stale.err.contains("the run at the gate is "), "{stale:?}");
}

#[test]
fn shards_that_cannot_be_are_refused() {
    let out = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refusals: [(&str, &[&str], &str); 4] = [
        ("3/3", &[], "it must be I/N with I from 0 to N - 1, or env/N, and is 3/3"),
        ("0/6", &[], "there are 6 shards for 5 rooms; each shard needs one"),
        ("0/2", &["--gate", "3:run"], "--shard counts 2 shards, and --gate 3; give both the same number"),
        (
            "0/2",
            &["--wait-for-server", "0.3"],
            "waited for the server for 0.3 s: no server accepted connections on 127.0.0.1:",
        ),
    ];
    for (shard, more, reason) in refusals {
        let finished = Finished::run(numbered(port, shard, &out.path().join("record")).args(more));
        assert_eq!(finished.status, Some(2), "{shard} {more:?}: {finished:?}");
        assert!(finished.err.contains(reason), "{shard} {more:?}: {}", finished.err);
    }
}

#[test]
fn an_incomplete_gate_lists_the_shards_present() {
    let (server, out) = (NativeServer::start(), tempfile::tempdir().unwrap());
    let mut command = klatch();
    command.args(["crowd", "--port", &server.address.port().to_string(), "--rooms", "2", "--users", "4"]);
    command.args(["--gate", "3:short", "--gate-timeout", "2", "--out"]).arg(out.path().join("1"));
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let expected = "invalid: the gate: after 2 s 1 of 3 shards are at the gate short: rooms 1 to 2";
    assert!(finished.out.contains(expected), "{finished:?}");
    let (finished, record) = merged(out.path(), &[1]);
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid));
    assert_eq!(
        record.verdict.reasons[0].message,
        format!("1 of 3 announced shards are here: {}", record.shards[0]),
        "{record:?}"
    );
}

/// The shards at a gate that cannot open, after one of them was killed with this signal.
fn ends_without(address: SocketAddr, protocol: &str, signal: Signal, reason: &str) {
    let out = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut dead = shard(address, protocol, 5, "4:lost", out.path());
    crate::support::until_line(&mut dead, "1 of 4 shards at the gate");
    let mut waiting = [1, 3].map(|start| shard(address, protocol, start, "4:lost", out.path()));
    waiting.iter_mut().for_each(|shard| crate::support::until_line(shard, "3 of 4 shards at the gate"));
    kill_process(Pid::from_child(&dead), signal).unwrap();
    dead.wait().unwrap();
    for shard in waiting {
        let finished = Finished::from(shard.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(1), "{finished:?}");
        let expected = format!("invalid: the gate: the shard of rooms 5 to 6 {reason}; ");
        assert!(finished.out.contains(&expected), "{expected}: {finished:?}");
    }
    assert!(began.elapsed().as_secs() < 25, "the gate itself waits for 30 s");
}

#[test]
fn a_shard_that_is_gone_ends_the_gate_for_all() {
    let left = "left the gate: it ended, or its connection broke";
    ends_without(NativeServer::start().address, "irc", Signal::KILL, left);
    let request = PlatformRequest { name: Some("redis".into()), ..PlatformRequest::default() };
    let processes = Processes::default();
    let patience = std::time::Duration::from_secs(60);
    let chosen = resolve(&request, &Workload::default()).unwrap();
    let server = Server::start(&chosen, [127, 0, 0, 1].into(), &processes, patience).unwrap();
    // Redis does not report who has left.
    ends_without(server.address, "redis", Signal::KILL, "has been silent for 5 s");
}

#[test]
fn shards_of_two_runs_at_one_gate_are_not_one_run() {
    let server = NativeServer::start();
    let runs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for out in &runs {
        let shards = [1, 3].map(|start| shard(server.address, "irc", start, "2:start", out.path()));
        for shard in shards {
            let finished = Finished::from(shard.wait_with_output().unwrap());
            assert_eq!(finished.status, Some(0), "{finished:?}");
        }
    }
    let mixed = [runs[0].path().join("1"), runs[1].path().join("3")];
    let finished = Finished::run(klatch().args(["merge", "--json"]).args(mixed));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(
        finished.err.contains("these are not shards of one run: the run at the gate is "),
        "{finished:?}"
    );
    let (finished, record) = merged(runs[1].path(), &[1, 3]);
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
}

#[test]
fn a_record_goes_to_standard_output_and_replaces_no_device() {
    let server = NativeServer::start();
    let port = server.address.port().to_string();
    let crowd = |out: &str| {
        let mut command = klatch();
        command
            .args(["crowd", "--port", &port, "--rooms", "1", "--users", "3", "--count", "5", "--out", out]);
        Finished::run(&mut command)
    };
    let finished = crowd("-");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert_eq!(finished.record().verdict.status, Status::Valid);
    assert!(finished.err.contains("valid"), "the text for people is on standard error: {}", finished.err);
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let refused = crowd(pipe.to_str().unwrap());
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("it exists and is no regular file"), "{refused:?}");
    assert!(!pipe.is_file(), "the pipe is still one");
    // A link to standard output, as /dev/stdout is one. Here that is a regular file.
    let (link, out) = (folder.path().join("stdout"), folder.path().join("out"));
    std::os::unix::fs::symlink("/proc/self/fd/1", &link).unwrap();
    let mut command = klatch();
    command.args(["crowd", "--port", &port, "--rooms", "1", "--users", "3", "--count", "5", "--out"]);
    let status = command.arg(&link).stdout(std::fs::File::create(&out).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(link.is_symlink(), "the link is still one");
}

#[test]
fn an_invalid_gate_is_refused() {
    let finished = Finished::run(klatch().args(["crowd", "--gate", "0"]));
    assert_eq!(finished.status, Some(2));
    assert!(finished.err.contains("a gate is SHARDS or SHARDS:NAME"), "{finished:?}");
}

#[test]
fn the_commands_of_a_plan_run_the_crowd() {
    let (server, out) = (NativeServer::start(), tempfile::tempdir().unwrap());
    let target = format!("irc://{}", server.address);
    let mut command = klatch();
    command.args(["plan", "--target", &target, "--shards", "3", "--gate-name", "night-1"]);
    command.args(["--rooms", "7", "--users", "4", "--count", "10", "--host-program"]);
    let plan = Finished::run(command.arg(env!("CARGO_BIN_EXE_klatch")));
    assert_eq!((plan.status, plan.out.lines().count()), (Some(0), 4), "{plan:?}");
    let shell = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).current_dir(out.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.spawn().unwrap()
    };
    let (shards, merge) = plan.out.trim_end().rsplit_once('\n').unwrap();
    let started: Vec<Child> = shards.lines().map(shell).collect();
    for child in started {
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    let merged = Finished::from(shell(merge).wait_with_output().unwrap());
    assert_eq!(merged.status, Some(0), "{merged:?}");
    for line in ["the shard of rooms 1 to 2 on ", "the shard of rooms 5 to 7 on ", "messages/s", "valid"] {
        assert!(merged.out.contains(line), "{line:?} is not in {}", merged.out);
    }
    let too_many =
        Finished::run(klatch().args(["plan", "--target", &target, "--shards", "3", "--rooms", "2"]));
    assert!(too_many.err.contains("shard count must be 1 to 2 (the rooms), got 3"), "{too_many:?}");
}
