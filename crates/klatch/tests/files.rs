//! Workload `files`: readers of cached files on every platform that has it.

mod support;

use klatch_record::{Record, Status, Workload};
use support::{Finished, klatch, run_once};

/// Runs the workload on small files for a moment and returns exit status and record.
fn run(arguments: &[&str]) -> (Option<i32>, Record) {
    let out = tempfile::tempdir().unwrap();
    let workload =
        ["--workload", "files", "--duration", "0.3", "--files", "2", "--file-mib", "2", "--timeout", "20"];
    let mut command = run_once(out.path(), &workload);
    let finished = Finished::run(command.args(arguments));
    (finished.status, finished.record())
}

fn refused(arguments: &[&str], reason: &str) {
    let finished = Finished::run(klatch().args(["run", "--workload", "files"]).args(arguments));
    assert_eq!(finished.status, Some(2), "{arguments:?}");
    assert!(finished.err.contains(reason), "{arguments:?}: {}", finished.err);
}

#[test]
fn every_platform_that_has_it_reads_and_checks_blocks() {
    let mut carried = 0;
    for ways in support::carrying("files") {
        for way in &ways {
            let (status, record) = run(&["--platform", way, "--readers", "3", "--block", "16KiB"]);
            assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
            let operations = record.operations.as_ref().unwrap();
            assert_eq!((operations.name.as_str(), operations.connections.parties), ("read", 3), "{way}");
            assert!(operations.connections.least > 0 && operations.count > 100, "{way}: {operations:?}");
            assert_eq!((record.score.sent, record.score.received), (operations.count, operations.count));
            assert_eq!(record.latency.as_ref().unwrap().count, operations.count);
            let reading = record.usage.server.as_ref().unwrap();
            assert!(reading.cpu_s > 0.1 && record.usage.crowd.is_none(), "{way}: {reading:?}");
            assert!(operations.cpu_us_per_operation.is_some_and(|cpu_us| cpu_us > 0.1), "{way}");
            assert_eq!(record.platform.name.split('@').next(), way.split('@').next());
            carried += 1;
        }
    }
    assert!(carried >= 3, "only {carried} platforms have the workload");
}

#[test]
fn the_default_platform_is_a_reader_and_shards_are_processes() {
    let (status, record) = run(&["--readers", "5", "--shards", "2", "--order", "sequential", "--unverified"]);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    assert_eq!((record.platform.name.as_str(), record.shards.len()), ("native-pread", 2));
    let Workload::Files(files) = &record.workload else { panic!("{:?}", record.workload) };
    assert_eq!((files.readers, files.verified), (5, false));
    assert_eq!(record.operations.unwrap().connections.parties, 5);
    // Two processes, each with its main thread and a thread that reads its commands.
    assert!(record.usage.server.unwrap().threads >= 5 + 2);
}

#[test]
fn what_a_reader_cannot_have_is_refused() {
    refused(&["--crowd", "native-threads"], "workload files has no crowd");
    refused(&["--crowd-knob", "cpus=0"], "workload files has no crowd: set knobs of the platform");
    refused(&["--target", "file://127.0.0.1:1"], "a target has the form");
    refused(&["--target", "http://127.0.0.1:1"], "workload files has no server to name");
    refused(&["--platform", "native-epoll"], "native-epoll does not carry the workload files");
    refused(
        &["--platform", "native-uring", "--knob", "loops=2"],
        "native-uring has no knob loops; it has reads",
    );
    refused(&["--block", "5000"], "block size must be a power of two");
    refused(&["--block", "a"], "a block is a number of bytes");
    refused(&["--lines", "3"], "--lines belongs to --workload web, not to files");
    refused(&["--file-mib", "65536", "--files", "1000"], "MiB of memory");
    refused(&["--readers", "1", "--shards", "2"], "reader count must be 2 or more");
}

#[test]
fn a_duet_compares_two_ways_to_read() {
    let out = tempfile::tempdir().unwrap();
    let arguments =
        ["duet", "native-pread", "native-mmap", "--workload", "files", "--files", "1", "--file-mib", "4"];
    let finished =
        Finished::run(klatch().args(arguments).args(["--for", "12s", "--json", "--out"]).arg(out.path()));
    assert_eq!(finished.status, Some(0), "{}", finished.err);
    let duet: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    let metrics = duet["metrics"].as_array().unwrap();
    let cpu = metrics.iter().find(|metric| metric["metric"] == "server_cpu_us_per_message").unwrap();
    let ratio = cpu["ratio"]["estimate"].as_f64().unwrap();
    assert!(ratio > 0.0, "{cpu}");
}
