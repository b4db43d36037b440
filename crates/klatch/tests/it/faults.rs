//! Every message is accounted for: the verdict names each kind of server fault with its place.

use crate::support::proxy::{Mischief, in_front_of};
use crate::support::{Finished, NativeServer, run_once};
use klatch_record::{Record, Status};

/// Runs 2 rooms × 5 users × 20 messages against a server with this fault, by event loops and by two threads per user.
/// Returns exit statuses and records.
fn spoilt(mischief: Mischief, pacing: &str) -> [(Option<i32>, Record); 2] {
    let run = |crowd: &str| {
        let out = tempfile::tempdir().unwrap();
        let server = NativeServer::start();
        let target = format!("irc://{}", in_front_of(server.address, mischief));
        let workload =
            ["--rooms", "2", "--users", "5", "--count", "20", "--pacing", pacing, "--timeout", "1"];
        let finished = Finished::run(
            run_once(out.path(), &["--target", &target]).args(["--crowd", crowd]).args(workload),
        );
        (finished.status, finished.record())
    };
    std::thread::scope(|scope| {
        let threads = scope.spawn(|| run("native-threads"));
        [run("native"), threads.join().unwrap()]
    })
}

fn reasons(record: &Record) -> String {
    record.verdict.messages()
}

#[test]
fn an_honest_server_is_valid() {
    for (status, record) in spoilt(Mischief::None, "turns") {
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
        assert_eq!((record.score.sent, record.score.received), (200, 800));
        assert_eq!(record.platform.class, None, "the class of a target is unknown");
        assert_eq!(record.usage.server, None, "a server that Klatch did not start is not observed");
    }
}

#[test]
fn a_lost_delivery_is_detected() {
    for (status, record) in spoilt(Mischief::Lose { delivery: 10 }, "flood") {
        assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid));
        assert_eq!(record.checks.lost, 1);
        assert!(
            reasons(&record).contains("1 delivery lost; first, lost: room 1, user 3, message "),
            "{record:?}"
        );
        assert!(reasons(&record).contains("no progress for 1 s"), "{record:?}");
    }
}

#[test]
fn a_lost_delivery_under_turns_stops_the_room_and_is_detected() {
    for (status, record) in spoilt(Mischief::Lose { delivery: 10 }, "turns") {
        assert_eq!((status, record.checks.lost), (Some(1), 1));
        assert!(record.checks.unsent > 0 && reasons(&record).contains("messages never sent"), "{record:?}");
    }
}

#[test]
fn a_duplicated_delivery_is_detected() {
    for (status, record) in spoilt(Mischief::Repeat { delivery: 10 }, "turns") {
        assert_eq!((status, record.checks.duplicated, record.score.received), (Some(1), 1, 800));
        assert!(
            reasons(&record).contains("1 delivery duplicated; first, duplicated: room 1, user 3, "),
            "{record:?}"
        );
    }
}

#[test]
fn a_duplicate_of_the_last_delivery_is_detected() {
    for (status, record) in spoilt(Mischief::Repeat { delivery: 80 }, "turns") {
        assert_eq!((status, record.checks.duplicated), (Some(1), 1), "{record:?}");
    }
}

#[test]
fn a_reordered_delivery_is_detected() {
    for (status, record) in spoilt(Mischief::Swap { delivery: 10 }, "flood") {
        assert_eq!((status, record.checks.reordered, record.checks.lost), (Some(1), 1, 0), "{record:?}");
        assert!(
            reasons(&record).contains("1 delivery reordered; first, reordered: room 1, user 3, "),
            "{record:?}"
        );
    }
}

#[test]
fn a_corrupted_delivery_is_detected() {
    for (status, record) in spoilt(Mischief::Alter { delivery: 10 }, "flood") {
        assert_eq!((status, record.checks.corrupted), (Some(1), 1));
        assert!(
            reasons(&record).contains("1 delivery corrupted; first, corrupted: room 1, user 3, "),
            "{record:?}"
        );
    }
}

#[test]
fn an_echo_is_detected() {
    for (status, record) in spoilt(Mischief::Echo, "turns") {
        assert_eq!((status, record.checks.duplicated), (Some(1), 20));
        assert!(reasons(&record).contains("delivered to its own speaker"), "{record:?}");
    }
}

#[test]
fn a_closed_connection_is_detected() {
    for (status, record) in spoilt(Mischief::Close { delivery: 10 }, "turns") {
        assert_eq!(status, Some(1));
        assert!(reasons(&record).starts_with("room 1, user 3: the "), "{record:?}");
        assert!(reasons(&record).contains("connection"), "{record:?}");
    }
}

#[test]
fn a_silent_server_is_detected() {
    for (status, record) in spoilt(Mischief::FallSilent { delivery: 10 }, "turns") {
        assert_eq!(status, Some(1));
        assert!(reasons(&record).starts_with("no progress for 1 s"), "{record:?}");
    }
}

#[test]
fn a_failed_join_is_detected() {
    for (status, record) in spoilt(Mischief::RefuseNick, "turns") {
        assert_eq!(status, Some(1));
        let expected = "room 1, user 3: the server answered: :srv 433 * r1u3 :Nickname is already in use";
        assert!(reasons(&record).starts_with(expected), "{record:?}");
    }
}
