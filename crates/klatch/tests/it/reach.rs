//! Crowds on hosts that a command reaches. The hosts here are folders of this machine, and a script stands in for an engine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::{Finished, NativeServer, klatch};
use klatch_record::{Status, WarningKind};

/// Writes a program into a folder.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// `klatch run` on these hosts, with the programs of the folder in its search path.
fn run(server: &NativeServer, programs: &Path, arguments: &[&str]) -> Command {
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = klatch();
    command.env("PATH", path).args(["run", "--warmups", "1", "--trials", "1", "--json", "--out"]);
    command.arg(programs.join("results")).args(["--target", &format!("irc://{}", server.address)]);
    command.args(["--rooms", "4", "--users", "4", "--count", "25", "--host-program"]);
    command.arg(env!("CARGO_BIN_EXE_klatch")).args(arguments);
    command
}

/// The record of the trial, which is the last line.
fn trial(finished: &Finished) -> klatch_record::Record {
    assert_eq!(finished.status, Some(0), "{finished:?}");
    serde_json::from_str(finished.out.lines().last().unwrap()).unwrap()
}

#[test]
fn a_template_runs_the_crowd_on_its_hosts() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    for template in ["env AT={host} {command...}", "sh -c 'AT={host}; eval \"$0\"' {command}"] {
        let arguments = ["--hosts", "alpha,beta", "--reach", template];
        let record = trial(&Finished::run(&mut run(&server, folder.path(), &arguments)));
        assert_eq!((record.verdict.status, record.score.sent), (Status::Valid, 400), "{template}");
        let hosts: Vec<_> = record.shards.iter().map(|shard| shard.host.as_deref().unwrap()).collect();
        assert_eq!(hosts, ["alpha", "beta"]);
        assert!(record.shards[1].command.iter().any(|word| word.contains("AT=beta")), "{record:?}");
        assert!(record.shards[0].usage.as_ref().unwrap().cpu_s > 0.0, "each shard measures itself");
        assert!(record.shards.iter().all(|shard| shard.klatch.as_ref() == Some(&record.klatch)));
        assert!(record.warnings.iter().all(|warning| warning.kind != WarningKind::OtherBuild));
    }
}

#[test]
fn a_host_with_another_klatch_is_named_and_recorded() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    program(folder.path(), "older", r#""$@" | sed --unbuffered 's/"version":"[^"]*"/"version":"0.0.7"/'"#);
    let arguments = ["--hosts", "alpha", "--reach", "env AT={host} older {command...}"];
    let record = trial(&Finished::run(&mut run(&server, folder.path(), &arguments)));
    assert_eq!(record.shards[0].klatch.as_ref().unwrap().version, "0.0.7");
    let shard = &record.shards[0].warnings;
    let named = shard.iter().find(|warning| warning.kind == WarningKind::OtherBuild);
    let message = &named.unwrap_or_else(|| panic!("{:?}", record.warnings)).message;
    assert!(message.starts_with("the Klatch on alpha is another build: 0.0.7 "), "{message}");
}

#[test]
fn the_nodes_of_a_slurm_allocation_are_the_hosts() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    program(folder.path(), "scontrol", r#"[ "$*" = 'show hostnames n[1-3]' ] && printf 'n1\nn2\nn3\n'"#);
    // The options of srun begin with two dashes; the command follows them.
    program(folder.path(), "srun", r#"while [ "${1#--}" != "$1" ]; do shift; done; exec "$@""#);
    let mut command = run(&server, folder.path(), &["--hosts", "@slurm"]);
    command.env("SLURM_JOB_NODELIST", "n[1-3]").env("SLURMD_NODENAME", "n1");
    let record = trial(&Finished::run(&mut command));
    let shards: Vec<_> = record
        .shards
        .iter()
        .map(|shard| (shard.host.as_deref().unwrap(), shard.command[..2].join(" ")))
        .collect();
    assert_eq!(shards, [("n2", "srun --nodelist=n2".into()), ("n3", "srun --nodelist=n3".into())]);
    let outside =
        Finished::run(run(&server, folder.path(), &["--hosts", "@slurm"]).env("SLURM_JOB_NODELIST", ""));
    assert_eq!(outside.status, Some(2), "{outside:?}");
    assert!(
        outside.err.contains("SLURM_JOB_NODELIST is not set; run klatch in a batch script"),
        "{outside:?}"
    );
    let alone = Finished::run(
        run(&server, folder.path(), &["--hosts", "@slurm"])
            .env("SLURM_JOB_NODELIST", "n9")
            .env("SLURMD_NODENAME", "n9"),
    );
    assert!(alone.err.contains("scontrol show hostnames n9 failed with exit status: 1"), "{alone:?}");
}

#[test]
fn the_words_of_the_engine_are_the_reason() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    program(
        folder.path(),
        "srun",
        "echo 'srun: error: Unable to create step: Invalid node name' >&2; exit 1",
    );
    let arguments = ["--hosts", "gone", "--reach", "slurm"];
    let finished = Finished::run(&mut run(&server, folder.path(), &arguments));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("Unable to create step: Invalid node name"), "{finished:?}");
}
