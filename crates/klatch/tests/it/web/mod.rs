//! Workload `web`: a site on real servers, lines that must conform, and the faults that the crowd finds.

mod faulty;
use crate::support::{Finished, klatch, run_once};
use faulty::{Mischief, faulty_site, timed_site};
use klatch_record::{Record, Status, Workload};

/// Runs the workload for a moment and returns exit status and record.
fn run(arguments: &[&str]) -> (Option<i32>, Record) {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--workload", "web", "--timeout", "5"]);
    let finished = Finished::run(command.args(arguments));
    (finished.status, finished.record())
}

/// As fast as possible, on a small site.
const FAST: [&str; 8] = ["--line", "none", "--lines", "6", "--directories", "2", "--duration", "0.5"];

#[test]
fn every_model_serves_a_site_whose_every_byte_is_checked() {
    for platform in ["native-epoll", "native-threads", "native-uring", "native-tokio"] {
        let (status, record) = run(&[&["--platform", platform], &FAST[..]].concat());
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{platform}: {record:?}");
        let operations = record.operations.as_ref().unwrap();
        assert_eq!((operations.name.as_str(), record.results.parties().unwrap().parties), ("request", 6));
        assert_eq!((record.score.sent, record.score.received), (operations.count, operations.count));
        assert!(
            operations.count > 20 && record.results.in_window().unwrap() <= operations.count,
            "{operations:?}"
        );
        assert_eq!((record.platform.class, record.results.conforming()), (None, None), "a line has no speed");
    }
}

#[test]
fn every_platform_that_carries_it_serves_the_site() {
    for way in crate::support::carrying("web").into_iter().flatten() {
        let (status, record) = run(&[&["--platform", &way], &FAST[..]].concat());
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{way}: {record:?}");
        assert!(record.operations.unwrap().count > 10, "{way}");
        let server = record.usage.server.unwrap();
        assert!(server.cpu_s > 0.0, "{way}: {server:?}");
    }
}

#[test]
fn the_workers_of_a_server_of_several_processes_are_counted() {
    klatch_testing::needs!(klatch_testing::Need::Program("nginx", "nginx-light"));
    let (status, record) = run(&[&["--platform", "nginx", "--knob", "workers=2"], &FAST[..]].concat());
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    let Workload::Web(web) = &record.workload else { panic!("another workload") };
    assert!(web.static_only, "nginx has no dynamic half, and the record says so");
    // The master waits, so all this time is that of workers.
    let server = record.usage.server.unwrap();
    assert!(server.threads >= 3 && server.cpu_s > 0.05, "{server:?}");
}

#[test]
fn shards_and_loops_have_lines_and_posts_of_their_own() {
    let (status, record) =
        run(&[&["--platform", "native-epoll", "--shards", "2", "--crowd-loops", "2"], &FAST[..]].concat());
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    assert_eq!((record.shards.len(), record.workload.parties()), (2, 6));
}

#[test]
fn lines_read_at_their_speed_and_conform() {
    let options = ["--platform", "native-epoll", "--lines", "40", "--line", "4000kbit", "--directories", "2"];
    let (status, record) = run(&[&options[..], &["--duration", "3"]].concat());
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    let conforming = record.results.conforming().unwrap();
    assert_eq!((conforming.of, conforming.line_kbit_per_s), (40, 4_000));
    assert!(conforming.lines >= 36, "{conforming:?}");
    assert!(conforming.kbit_per_s.iter().all(|(kbit, _)| *kbit <= 4_000), "{conforming:?}");
}

#[test]
fn a_line_makes_the_sends_of_a_server_block() {
    let mean_write_ms = |line: &str| {
        let (address, writes) = timed_site(Mischief::None);
        let target = format!("http://{address}");
        let site = ["--target", &target, "--directories", "2"];
        let (status, _) = run(&[&site[..], &["--lines", "8", "--line", line, "--duration", "3"]].concat());
        assert_eq!(status, Some(0));
        writes.mean_ms()
    };
    // Files of 300 KiB and more take 0.3 s and more at 8 Mbit/s. Two buffers of 64 KiB hide a part of that.
    let (slow, fast) = (mean_write_ms("8000kbit"), mean_write_ms("none"));
    assert!(slow > 150.0 && fast < slow / 3.0, "{slow} ms at 8 Mbit/s, {fast} ms without a speed");
}

#[test]
fn a_line_of_a_slow_server_does_not_conform() {
    let target = format!("http://{}", faulty_site(Mischief::Slow));
    let (status, record) = run(&[
        "--target",
        &target,
        "--lines",
        "2",
        "--line",
        "4000kbit",
        "--directories",
        "2",
        "--duration",
        "1",
    ]);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    let conforming = record.results.conforming().unwrap();
    assert_eq!((conforming.lines, conforming.of), (0, 2), "{conforming:?}");
}

#[test]
fn each_fault_of_a_site_is_found_and_named() {
    let expected = [
        (Mischief::ShortBody, "short body: "),
        (Mischief::AlteredByte, "altered byte: "),
        (Mischief::WrongFile, "wrong file: "),
        (Mischief::WrongStatus, "status 503 instead of 200"),
        (Mischief::WrongAd, "wrong ad: "),
        (Mischief::StaleTag, "stale tag: "),
        (Mischief::Surplus, " bytes that no request asked for"),
        (Mischief::NoKeepAlive, "connection that is to be kept open"),
        (Mischief::LostPost, "was confirmed and has no record"),
        (Mischief::DoubledPost, " has 2 records"),
        (Mischief::TornRecord, " is torn"),
    ];
    for (mischief, words) in expected {
        let target = format!("http://{}", faulty_site(mischief));
        let (status, record) = run(&[&["--target", &target], &FAST[..]].concat());
        assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid), "{mischief:?}");
        let found = record.checks.faults.iter().any(|fault| fault.to_string().contains(words));
        assert!(found, "{mischief:?}: {words:?} is not in {:?}", record.checks.faults);
        assert!(!record.verdict.messages().is_empty());
    }
}

#[test]
fn an_honest_site_by_its_address_is_valid() {
    let target = format!("http://{}", faulty_site(Mischief::None));
    let (status, record) = run(&[&["--target", &target], &FAST[..]].concat());
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], words: &str| {
        let mut command = klatch();
        command.args(["run", "--workload", "web", "--out"]).arg(out.path()).args(arguments);
        let finished = Finished::run(&mut command);
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(words), "{words:?} is not in {finished:?}");
    };
    refused(&["--line", "fast"], "line must be a number of kbit/s, such as 400kbit, or none, got fast");
    refused(&["--line", "3kbit"], "line must be 8 to 10,000,000, got 3");
    refused(&["--directories", "0"], "directories must be 1 to 10,000, got 0");
    refused(&["--size", "3"], "size belongs to the workload chat or rr, not to web");
    refused(&["--platform", "redis"], "redis does not carry the workload web");
    refused(
        &["--platform", "native-epoll", "--crowd", "native-threads"],
        "event loops carry the workload web, two threads a user do not",
    );
}
