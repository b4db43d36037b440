//! Output with a closed or full receiver: every command ends as usual, without a panic.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::support::{Finished, klatch};

const SMALL: [&str; 14] = [
    "run",
    "--platform",
    "native-epoll",
    "--warmups",
    "0",
    "--trials",
    "1",
    "--rooms",
    "2",
    "--users",
    "4",
    "--count",
    "25",
    "--out",
];

/// A pipe whose reading end is closed.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn run_unread(command: &mut Command) -> Finished {
    command.stdout(unread()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap().into()
}

#[test]
fn commands_survive_a_closed_standard_output() {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (out.path().join("a"), out.path().join("b"));
    for side in [&a, &b] {
        let finished = run_unread(klatch().args(SMALL).arg(side));
        assert!(finished.status == Some(0) && !finished.err.contains("panicked"), "{finished:?}");
        assert!(side.join("latest/trial-1.json").is_file(), "the record is the result: {finished:?}");
    }
    let paths = [a.to_str().unwrap(), b.to_str().unwrap()];
    let schedule = ["--duration", "3s", "--starts", "1", "--slice", "20ms", "--warmup", "20ms"];
    let calibrate = [&["--rooms", "1", "--users", "2", "--out", paths[0]] as &[&str], &schedule].concat();
    let plan = ["plan", "--target", "irc://127.0.0.1:1", "--shards", "2"];
    let conformance = ["conformance", "native-epoll"];
    for arguments in [
        &["platforms", "--knobs"] as &[&str],
        &["platforms", "--json"],
        &["schema"],
        &["--help"],
        &[&["compare"] as &[&str], &paths].concat(),
        &[&["calibrate"] as &[&str], &calibrate].concat(),
        &plan,
        &conformance,
    ] {
        let finished = run_unread(klatch().args(arguments));
        assert_eq!(
            (finished.status, finished.err.contains("panicked")),
            (Some(0), false),
            "{arguments:?}: {finished:?}"
        );
    }
}

#[test]
fn a_run_survives_closed_standard_output_and_error() {
    let out = tempfile::tempdir().unwrap();
    let run = klatch().args(SMALL).arg(out.path()).stdout(unread()).stderr(unread()).status().unwrap();
    assert_eq!(run.code(), Some(0));
    assert!(out.path().join("latest/trial-1.json").is_file());
}

#[test]
fn a_full_standard_output_is_reported() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let finished = klatch().arg("schema").stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let finished = Finished::from(finished.wait_with_output().unwrap());
    assert_eq!(finished.status, Some(2));
    assert!(
        finished.err.starts_with("klatch: cannot write to standard output: No space left"),
        "{finished:?}"
    );
}

#[test]
fn no_command_replaces_a_device_or_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (results, link, pipe) =
        (folder.path().join("r"), folder.path().join("link"), folder.path().join("pipe"));
    let run = Finished::run(klatch().args(SMALL).arg(&results));
    assert_eq!(run.status, Some(0), "{run:?}");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (special, kind) in [(&link, "a symbolic link"), (&pipe, "no regular file")] {
        let mut command = klatch();
        let refused = Finished::run(command.arg("report").arg(&results).arg("--out").arg(special));
        assert_eq!(refused.status, Some(2), "{refused:?}");
        assert!(refused.err.contains(&format!("it exists and is {kind}")), "{refused:?}");
        assert!(!special.symlink_metadata().unwrap().is_file(), "it is still there");
    }
}

#[test]
fn a_folder_for_results_is_not_standard_output() {
    for command in ["run", "study"] {
        let finished: Finished = klatch().args([command, "--out", "-"]).output().unwrap().into();
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains("so they cannot go to standard output"), "{finished:?}");
    }
}
