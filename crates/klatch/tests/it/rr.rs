//! Workload `rr`: request/response against real servers, and the faults that it finds.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::support::{Finished, decided, klatch, least, run_once, two_at_a_time};
use klatch_record::{Record, Status, Workload, WorkloadKind};

/// Bytes of a request in tests against a faulty server.
const SIZE: usize = 16;

/// Runs the workload for a moment and returns exit status and record.
fn run(arguments: &[&str]) -> (Option<i32>, Record) {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--workload", "rr", "--duration", "0.3", "--timeout", "2"]);
    let finished = Finished::run(command.args(arguments));
    (finished.status, finished.record())
}

#[test]
fn every_model_answers_every_request_of_every_crowd() {
    for platform in ["native-epoll", "native-threads", "native-uring", "native-tokio"] {
        for crowd in ["native", "native-threads"] {
            let workload = ["--connections", "3", "--size", "5000", "--depth", "4"];
            let (status, record) =
                run(&[&["--platform", platform, "--crowd", crowd], &workload[..]].concat());
            assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
            let operations = record.operations.as_ref().unwrap();
            assert_eq!(
                (operations.name.as_str(), record.results.parties().unwrap().parties),
                ("transaction", 3)
            );
            assert_eq!((record.score.sent, record.score.received), (operations.count, operations.count));
            assert!(record.results.parties().unwrap().least > 0 && operations.count > 30, "{operations:?}");
            assert_eq!(record.latency.as_ref().unwrap().count, operations.count);
            // The last reply can come just before the end of the time.
            assert!((0.25..3.0).contains(&record.score.elapsed_s), "{record:?}");
            assert!(record.usage.server.is_some() && operations.cpu_us_per_operation.is_some());
            assert_eq!(record.platform.class, None, "only chat servers have a class");
        }
    }
}

#[test]
fn a_schedule_is_fixed_in_advance() {
    let (status, record) = run(&["--platform", "native-epoll", "--connections", "4", "--rate", "100"]);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    // 30 requests in 0.3 s, of which a phase below one period may leave out the last one.
    assert!((4 * 29..=4 * 30).contains(&record.score.sent), "{record:?}");
    assert!(record.send_lag.is_some());
}

#[test]
fn every_platform_that_carries_it_answers_every_request() {
    let mut carried = 0;
    for ways in crate::support::carrying("rr") {
        for way in &ways {
            let (status, record) =
                run(&["--platform", way, "--connections", "3", "--depth", "2", "--size", "300"]);
            assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
            assert!(record.results.parties().unwrap().least > 0, "{way}");
            carried += 1;
        }
    }
    assert!(carried >= least(9, 4), "only {carried} platforms carry the workload");
}

#[test]
fn shards_and_loops_have_connections_of_their_own() {
    let workload = ["--connections", "7", "--shards", "2", "--crowd-loops", "2"];
    let (status, record) = run(&[&["--platform", "native-epoll"], &workload[..]].concat());
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    assert_eq!(record.results.parties().unwrap().parties, 7);
    let shards: Vec<_> = record.shards.iter().map(|shard| (shard.start, shard.rooms, shard.loops)).collect();
    assert_eq!((shards, record.workload.parties()), (vec![(1, 3, Some(2)), (4, 4, Some(2))], 7));
    let Workload::Rr(rr) = record.workload else { panic!("another workload") };
    assert_eq!((rr.size_bytes, rr.duration_s), (4, 0.3));
}

#[test]
fn two_servers_are_compared_in_slices() {
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["duet", "native-epoll", "native-uring", "--workload", "rr", "--connections", "4"]);
    command.args(["--duration", "9s", "--warmup", "0.2s", "--json", "--out"]).arg(out.path());
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let duet: klatch_record::Duet = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(duet.workload.connections(), 4);
    let metric = duet.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    assert!(decided("rr", metric).is_none_or(|ratio| ratio.estimate > 0.0), "{metric:?}");
}

/// What a faulty server does with its tenth reply.
#[derive(Clone, Copy, PartialEq)]
enum Mischief {
    Alter,
    Lose,
    Swap,
    Repeat,
    Close,
    /// Another reply after the last one.
    Continue,
}

/// An echo server with a fault.
fn faulty(mischief: Mischief) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            std::thread::spawn(move || serve(client, mischief));
        }
    });
    address
}

/// Answers requests until the client ends. The first request joins, and is not counted.
fn serve(mut client: TcpStream, mischief: Mischief) {
    client.set_nodelay(true).unwrap();
    let mut request = [0; SIZE];
    let mut held = None;
    for number in 0.. {
        if client.read_exact(&mut request).is_err() {
            if mischief == Mischief::Continue {
                let _ = client.write_all(&[b'x'; SIZE]);
            }
            return;
        }
        let mut reply = request.to_vec();
        if number == 10 {
            match mischief {
                Mischief::Alter => reply[SIZE - 1] ^= 1,
                Mischief::Lose => reply.clear(),
                Mischief::Repeat => reply.extend_from_slice(&request),
                Mischief::Swap => held = Some(std::mem::take(&mut reply)),
                Mischief::Close => return,
                Mischief::Continue => {}
            }
        } else if let Some(held) = held.take() {
            reply.extend_from_slice(&held);
        }
        let _ = client.write_all(&reply);
    }
}

/// The exit status and the reasons of a run against a server with this fault, with each kind of crowd.
fn spoilt(mischief: Mischief) -> [(Option<i32>, Record); 2] {
    ["native", "native-threads"].map(|crowd| {
        let target = format!("echo://{}", faulty(mischief));
        run(&["--target", &target, "--crowd", crowd, "--connections", "1", "--depth", "2", "--size", "16"])
    })
}

#[test]
fn each_fault_of_a_server_is_found_and_named() {
    let expected = [
        (Mischief::Alter, "1 reply corrupted; first, corrupted: connection 1, request 9 (got: "),
        (Mischief::Lose, "1 reply lost; first, lost: connection 1, request 9"),
        (Mischief::Swap, "1 reply reordered; first, reordered: connection 1, request 9"),
        (Mischief::Repeat, "1 reply duplicated; first, duplicated: connection 1, request 9 (got: "),
        // Requests that it has not read make the end a reset.
        (Mischief::Close, "connection 1: the "),
        (Mischief::Continue, "1 reply without a request; first, unexpected: connection 1, request "),
    ];
    two_at_a_time(&expected, |(mischief, words)| {
        for (status, record) in spoilt(*mischief) {
            assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid), "{words}");
            assert!(
                record.verdict.messages().contains(words),
                "{words} is not in {}",
                record.verdict.messages()
            );
        }
    });
}

#[test]
fn a_server_of_another_protocol_is_refused_with_its_answer() {
    let out = tempfile::tempdir().unwrap();
    let chat = crate::support::NativeServer::start();
    let target = format!("redis://{}", chat.address);
    let finished = Finished::run(&mut run_once(out.path(), &["--workload", "rr", "--target", &target]));
    let record = finished.record();
    assert_eq!(record.verdict.status, Status::Invalid);
    assert!(
        record.verdict.messages().contains("connection 1: the server answered: :klatch.localhost "),
        "{record:?}"
    );
}

#[test]
fn what_does_not_belong_to_the_workload_is_refused() {
    let refused = |arguments: &[&str], words: &str| {
        let finished = Finished::run(klatch().arg("run").args(arguments));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(words), "{words:?} is not in {finished:?}");
    };
    let rr = |more: &[&'static str]| [&["--workload", "rr"], more].concat();
    refused(&rr(&["--rooms", "3"]), "rooms belongs to the workload chat, not to rr");
    refused(&rr(&["--count", "3"]), "count belongs to the workload chat, not to rr");
    refused(&["--depth", "3"], "depth belongs to the workload rr, not to chat");
    refused(&rr(&["--duration", "-1"]), "duration must be above 0 and at most 86,400 seconds, got -1");
    refused(&rr(&["--size", "3"]), "size must be 4 to 65,536, got 3");
    refused(&rr(&["--size", "65536", "--depth", "17"]), "depth must be 1 to 16, got 17");
    refused(&rr(&["--platform", "mosquitto"]), "mosquitto does not carry the workload rr; it carries chat");
    refused(
        &rr(&["--platform", "native-epoll", "--crowd", "java"]),
        "the Java crowd carries the workload chat, not rr",
    );
    refused(
        &rr(&["--target", "irc://127.0.0.1:1"]),
        "the protocol irc does not carry the workload rr; it carries chat",
    );
    refused(&rr(&["--platform", "native-epoll", "--shards", "2"]), "connection count must be 2 or more");
    let all = WorkloadKind::ALL.map(WorkloadKind::name).join(", ");
    refused(&["--workload", "web2"], &format!("[possible values: {all}]"));
}
