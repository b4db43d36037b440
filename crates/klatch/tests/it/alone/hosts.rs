//! Crowds on other machines, which are network namespaces with an sshd each. Needs root.

use std::process::Stdio;
use std::time::Duration;

use crate::support::network::{self, Link, Network};
use crate::support::{Finished, until_joined};
use klatch_record::{Record, Status};
use klatch_testing::all_met;
use rustix::process::{Pid, Signal, kill_process};

fn run(network: &Network, arguments: &[&str]) -> (Finished, Record) {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(&mut network.run(out.path(), arguments));
    let record = finished.record();
    (finished, record)
}

const SMALL: [&str; 6] = ["--rooms", "5", "--users", "4", "--count", "25"];

#[test]
fn hosts_share_the_rooms_and_make_one_record() {
    if !all_met(&network::NEEDS) {
        return;
    }
    let network = Network::new(None);
    let (finished, record) = run(&network, &SMALL);
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.score.sent, record.score.received), (500, 1500));
    let shards: Vec<_> = record
        .shards
        .iter()
        .map(|shard| (shard.start, shard.rooms, shard.host.as_deref().unwrap()))
        .collect();
    assert_eq!(shards, [(1, 2, "a"), (3, 3, "b")]);
    for shard in &record.shards {
        assert!(shard.usage.as_ref().unwrap().cpu_s > 0.0 && shard.environment.is_some(), "{shard:?}");
        assert_eq!(shard.command[0], "ssh");
        assert!(shard.address.starts_with("10.77.1.1:"), "{shard:?}");
    }
    assert!(record.usage.server.unwrap().cpu_s > 0.0 && record.score.cpu_us_per_message.is_some());
    let (finished, record) = run(&network, &[&SMALL[..], &["--shards", "4", "--servers", "2"]].concat());
    assert_eq!(
        (finished.status, record.shards.len(), record.platform.servers),
        (Some(0), 4, 2),
        "{finished:?}"
    );
}

#[test]
fn link_delay_shows_in_the_latency_and_link_loss_loses_no_message() {
    if !all_met(&network::NEEDS) {
        return;
    }
    let link = Link { delay: Duration::from_millis(20), lose_every: 100 };
    let network = Network::new(Some(link));
    let rate = ["--pacing", "rate", "--rate", "10"];
    let (finished, record) = run(&network, &[&SMALL[..], &rate].concat());
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.score.sent, record.score.received), (500, 1500));
    let latency = record.latency.unwrap();
    // To the server and back. TCP retransmits lost packets.
    assert!((40_000.0..60_000.0).contains(&latency.p50_us), "p50 was {} µs", latency.p50_us);
    assert!(latency.max_us > 60_000.0, "the slowest took {} µs", latency.max_us);
}

#[test]
fn a_shard_that_dies_on_its_host_is_named() {
    if !all_met(&network::NEEDS) {
        return;
    }
    let network = Network::new(None);
    let out = tempfile::tempdir().unwrap();
    let slow = ["--pacing", "rate", "--rate", "5", "--count", "50", "--rooms", "2", "--users", "4"];
    let mut command = network.run(out.path(), &slow);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until_joined(&mut running);
    let shard = network.crowd_on(1);
    kill_process(Pid::from_raw(shard as i32).unwrap(), Signal::KILL).unwrap();
    let finished = Finished::from(running.wait_with_output().unwrap());
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
    let expected = "the shard of room 2 on b: the crowd ended without a result; on standard error: ";
    assert!(record.verdict.reasons[0].message.starts_with(expected), "{record:?}");
    assert!(record.score.sent < 400, "the other shard did not go on to its end: {record:?}");
}

#[test]
fn an_unreachable_host_is_reported() {
    if !all_met(&network::NEEDS) {
        return;
    }
    let network = Network::new(None);
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(network.run(out.path(), &SMALL).args(["--host-program", "/nowhere/klatch"]));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("the crowd (the shard of rooms "), "{finished:?}");
    assert!(finished.err.contains("ended without a result; on standard error: "), "{finished:?}");
    assert!(finished.err.contains("/nowhere/klatch"), "{finished:?}");
}
