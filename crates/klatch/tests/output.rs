//! What is said to nobody: every command ends as it would have ended, without a panic.

mod support;

use std::fs::File;
use std::process::{Command, Stdio};

use support::{Said, klatch};

const SMALL: [&str; 14] = [
    "run",
    "--platform",
    "native-epoll",
    "--warmup",
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

/// A pipe that nobody reads.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn of_unread(command: &mut Command) -> Said {
    command.stdout(unread()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap().into()
}

#[test]
fn nobody_reads_the_output_of_any_command() {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (out.path().join("a"), out.path().join("b"));
    for side in [&a, &b] {
        let said = of_unread(klatch().args(SMALL).arg(side));
        assert!(said.status == Some(0) && !said.err.contains("panicked"), "{said:?}");
        assert!(side.join("latest/trial-1.json").is_file(), "the record is the result: {said:?}");
    }
    let paths = [a.to_str().unwrap(), b.to_str().unwrap()];
    let calibrate = ["--time", "0.1", "--rooms", "1", "--users", "2", "--count", "5", "--out", paths[0]];
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
        let said = of_unread(klatch().args(arguments));
        assert_eq!((said.status, said.err.contains("panicked")), (Some(0), false), "{arguments:?}: {said:?}");
    }
}

#[test]
fn nobody_reads_what_is_said_on_the_way_either() {
    let out = tempfile::tempdir().unwrap();
    let run = klatch().args(SMALL).arg(out.path()).stdout(unread()).stderr(unread()).status().unwrap();
    assert_eq!(run.code(), Some(0));
    assert!(out.path().join("latest/trial-1.json").is_file());
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let said = klatch().arg("schema").stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let said = Said::from(said.wait_with_output().unwrap());
    assert_eq!(said.status, Some(2));
    assert!(said.err.starts_with("klatch: cannot write to standard output: No space left"), "{said:?}");
}
