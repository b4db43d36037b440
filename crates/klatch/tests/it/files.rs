//! Workload `files`: readers of cached files on every platform that has it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

use crate::support::{Finished, decided, klatch, least, run_once, sample, until_joined};
use klatch_record::{Duet, FailureKind, FaultKind, Record, Status, Workload};

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
    for ways in crate::support::carrying("files") {
        for way in &ways {
            let (status, record) = run(&["--platform", way, "--readers", "3", "--block", "16KiB"]);
            assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
            let operations = record.operations.as_ref().unwrap();
            assert_eq!(
                (operations.name.as_str(), record.results.parties().unwrap().parties),
                ("read", 3),
                "{way}"
            );
            assert!(
                record.results.parties().unwrap().least > 0 && operations.count > 100,
                "{way}: {operations:?}"
            );
            assert_eq!((record.score.sent, record.score.received), (operations.count, operations.count));
            assert_eq!(record.latency.as_ref().unwrap().count, operations.count);
            let reading = record.usage.server.as_ref().unwrap();
            assert!(reading.cpu_s > 0.0 && record.usage.crowd.is_none(), "{way}: {reading:?}");
            assert!(operations.cpu_us_per_operation.is_some_and(|cpu_us| cpu_us > 0.1), "{way}");
            assert_eq!(record.platform.name.split('@').next(), way.split('@').next());
            carried += 1;
        }
    }
    assert!(carried >= least(4, 2), "only {carried} platforms have the workload");
}

/// The options of each way to read that this machine has with this folder for caches, where Javas may be too.
fn ways_to_read(cache: &Path) -> Vec<Vec<String>> {
    let mut command = klatch();
    command.env("XDG_CACHE_HOME", cache);
    let platforms = crate::support::carrying_by(command, "files").concat();
    let with = |name: &str, knob: &str| ["--platform", name, "--knob", knob].map(str::to_owned).to_vec();
    let in_java = platforms.iter().filter(|name| name.starts_with("java-files@"));
    let mapped = in_java.map(|name| with(name, "reads=mapped"));
    platforms.iter().map(|name| vec!["--platform".to_owned(), name.clone()]).chain(mapped).collect()
}

/// Changes a byte of page 7.
fn change_page_7(path: &Path) {
    const AT: u64 = 7 * 4096 + 99;
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, AT).unwrap();
    file.write_all_at(&[byte[0] ^ 1], AT).unwrap();
}

#[test]
fn planted_faults_are_detected_in_the_same_words_by_every_platform() {
    let (out, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = cache.path().join("klatch/files/seed-1-1-mib/file0000");
    let ways = ways_to_read(cache.path());
    assert!(ways.iter().any(|way| way.len() > 2), "no Java: {ways:?}");
    for way in &ways {
        let workload = ["--workload", "files", "--files", "1", "--file-mib", "1", "--duration", "1.5"];
        let command = || {
            let mut command = run_once(out.path(), &workload);
            command.args(way).env("XDG_CACHE_HOME", cache.path());
            command
        };
        let mut run = command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until_joined(&mut run);
        change_page_7(&path);
        let finished = Finished::from(run.wait_with_output().unwrap());
        let record = finished.record();
        assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{way:?}");
        let fault = &record.checks.faults[0];
        assert_eq!((fault.kind, fault.reader, fault.count), (FaultKind::Corrupted, Some(1), 1));
        let words = format!("corrupted: reader 1, read {} (page 7 of file 0)", fault.sequence.unwrap());
        assert_eq!(fault.to_string(), words, "{way:?}");
        assert_eq!(record.score.sent, record.score.received + record.checks.corrupted, "{way:?}");

        let finished = Finished::run(&mut command());
        let failure = finished.record().checks.failure.unwrap();
        assert_eq!((finished.status, failure.kind), (Some(1), FailureKind::Join), "{way:?}");
        assert_eq!(
            failure.detail,
            "reader 1: page 7 of file 0 has other contents than it must have; delete the folder of the files, and Klatch writes \
             them again"
        );

        std::fs::write(&path, "short").unwrap();
        let finished = Finished::run(&mut command());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(finished.status, Some(2), "{way:?}");
        let words = format!("cannot read {}: it has 5 bytes, and must have 1048576", path.display());
        assert!(finished.err.contains(&words), "{way:?}: {}", finished.err);
    }
}

#[test]
fn the_default_platform_is_a_reader_and_shards_are_processes() {
    let (status, record) = run(&["--readers", "5", "--shards", "2", "--order", "sequential", "--unverified"]);
    assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
    assert_eq!((record.platform.name.as_str(), record.shards.len()), ("native-pread", 2));
    let Workload::Files(files) = &record.workload else { panic!("{:?}", record.workload) };
    assert_eq!((files.readers, files.verified), (5, false));
    assert_eq!(record.results.parties().unwrap().parties, 5);
    // Two processes, each with its main thread and a thread that reads its commands.
    assert!(record.usage.server.unwrap().threads >= 5 + 2);
}

#[test]
fn what_a_reader_cannot_have_is_refused() {
    refused(&["--crowd", "native-threads"], "workload files has no crowd");
    refused(&["--crowd-knob", "cpus=0"], "workload files has no crowd: set knobs of the platform");
    refused(&["--target", "file://127.0.0.1:1"], "there is no protocol file; there are irc");
    refused(&["--target", "http://127.0.0.1:1"], "workload files has no server to name");
    refused(&["--platform", "native-epoll"], "native-epoll does not carry the workload files");
    refused(
        &["--platform", "native-uring", "--knob", "loops=2"],
        "native-uring has no knob loops; it has reads",
    );
    refused(&["--block", "5000"], "block must be a power of two");
    refused(&["--block", "a"], "block must be a number of bytes, such as 4096 or 4KiB, got a");
    refused(&["--lines", "3"], "lines belongs to the workload web, not to files");
    refused(&["--file-mib", "65536", "--files", "1000"], "MiB of memory");
    refused(&["--readers", "1", "--shards", "2"], "reader count must be 2 or more");
}

#[test]
fn a_duet_compares_two_ways_to_read() {
    let out = tempfile::tempdir().unwrap();
    for other in sample(["native-mmap", "java-files"], 2) {
        let mut command = klatch();
        command.args(["duet", "native-pread", other, "--workload", "files"]);
        command.args([
            "--files",
            "1",
            "--file-mib",
            "4",
            "--duration",
            "7s",
            "--starts",
            "2",
            "--warmup",
            "1s",
        ]);
        command.args(["--json", "--out"]).arg(out.path());
        let finished = Finished::run(&mut command);
        assert_eq!(finished.status, Some(0), "{other}: {}", finished.err);
        let duet: Duet = serde_json::from_str(&finished.out).unwrap();
        let cpu = duet.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
        let slices =
            duet.starts.iter().map(|start| start.pairs.len() as u64 + start.disturbed as u64).sum::<u64>();
        assert!(slices > 0, "{other}: no pairs");
        // A JVM that compiles while it is paused disturbs pairs too.
        assert!(decided(other, cpu).is_none_or(|ratio| ratio.estimate > 0.0), "{other}: {cpu:?}");
    }
}
