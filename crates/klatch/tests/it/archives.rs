//! Archives of a JVM are written by a training run, used by the runs that count, and removed.

use std::path::Path;

use crate::support::{Finished, run_once};
use klatch_record::Status;

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "3", "--count", "10"];

#[test]
fn the_classes_of_the_server_are_archived_before_its_first_run() {
    let (out, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = run_once(out.path(), &["--json", "--platform", "java-selector", "--knob", "cds=app"]);
    command.env("TMPDIR", temporary.path()).args(SMALL);
    let record = Finished::run(&mut command).record();
    assert_eq!(record.verdict.status, Status::Valid);
    let options = record.platform.runtime.unwrap().options;
    // With -Xshare:on a JVM without the archive does not start.
    assert_eq!(options[0], "-Xshare:on", "{options:?}");
    let archive = options[1].strip_prefix("-XX:SharedArchiveFile=").unwrap();
    assert!(Path::new(archive).starts_with(temporary.path()), "{archive}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "an archive is left");
    let records = std::fs::read_dir(out.path().join("latest")).unwrap().count();
    assert_eq!(records, 1, "the training run has a record");
}

#[test]
fn a_platform_without_a_server_makes_no_training_run() {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--workload", "files", "--platform", "java-files"]);
    let finished = Finished::run(command.args(["--knob", "cds=app"]));
    let message = "the training run of java-files@";
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(
        finished.err.contains(message) && finished.err.contains("this workload has none"),
        "{finished:?}"
    );
}
