//! Whatever is wrong is told in one clear message, with the right exit status, and nothing is left running.

mod support;

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use klatch_testing::{Need, needs};
use support::{NativeServer, Said, klatch, run_once};

fn fails(command: &mut Command, message: &str) {
    let said = Said::of(command);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains(message), "{message:?} is not in {said:?}");
    assert!(!said.err.contains("panicked") && !said.err.contains("Error {"), "{said:?}");
}

#[test]
fn numbers_out_of_range() {
    let out = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (["--rooms", "0"], "klatch: room count must be 1..=10000, got 0"),
        (["--users", "1"], "klatch: user count must be 2..=10000, got 1"),
        (["--size", "20"], "klatch: message size must be 36..=400, got 20"),
        (["--trials", "0"], "klatch: trial count must be 1..=1000, got 0"),
        (["--window", "3"], "klatch: --window belongs to --pacing rounds"),
        (["--pacing", "rate"], "--rate <MESSAGES/S>"),
        (["--rooms", "many"], "invalid value 'many' for '--rooms"),
        (["--platform", "fax"], "klatch: no platform is called fax; there are "),
        (
            ["--target", "chat.example"],
            "a target has the form irc://host:port (or redis://, nats://, mqtt://), got chat.example",
        ),
    ] {
        // The later of two equal options counts.
        fails(run_once(out.path(), &[]).args(arguments).args(["--timeout", "5"]), message);
    }
}

#[test]
fn a_pause_moves_no_schedule() {
    let message = "klatch: pause must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5";
    let arguments = ["--pacing", "rate", "--rate", "5", "--pause", "0.5"];
    let out = tempfile::tempdir().unwrap();
    fails(run_once(out.path(), &[]).args(arguments), message);
    fails(klatch().arg("crowd").args(arguments), message);
    let study = out.path().join("paused.toml");
    let text = "question = \"?\"\nplatforms = [\"native-epoll\"]\n[workload]\npacing = \"rate\"\nrate = 5\npause = 0.5\n";
    std::fs::write(&study, text).unwrap();
    fails(
        klatch().arg("study").arg(&study).arg("--out").arg(out.path()),
        message.trim_start_matches("klatch: "),
    );
}

#[test]
fn a_port_in_use() {
    let server = NativeServer::start();
    let address = server.address.to_string();
    fails(
        klatch().args(["serve", "--listen", &address]),
        &format!("cannot listen on {address}: address already in use"),
    );
}

#[test]
fn nobody_listens() {
    let out = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = format!("irc://{free}");
    fails(
        &mut run_once(out.path(), &["--target", &target]),
        &format!("klatch: no server at {free}: cannot connect: "),
    );
}

#[test]
fn a_host_that_does_not_answer() {
    let out = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    // The queue of a listener that accepts nobody: once it is full, the kernel drops what comes.
    let patience = std::time::Duration::from_millis(300);
    let queue: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, patience).ok()).collect();
    assert!(!queue.is_empty());
    let target = format!("irc://{address}");
    let mut command = run_once(out.path(), &["--target", &target, "--connect-timeout", "1"]);
    fails(&mut command, &format!("klatch: no server at {address}: cannot connect: "));
}

#[test]
fn an_unknown_host() {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--target", "irc://nowhere.invalid:6667"]);
    fails(&mut command, "cannot find host nowhere.invalid");
}

/// A program that claims to be a Java of this version, and does `then` when it is to run something.
fn pretended_java(folder: &Path, version: &str, then: &str) -> PathBuf {
    let path = folder.join("java");
    let tells = format!("echo '    java.specification.version = {version}' >&2");
    let script = format!("#!/bin/sh\ncase \"$*\" in *-version*) {tells};; *) {then};; esac\n");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_java_that_is_too_old() {
    let out = tempfile::tempdir().unwrap();
    let java = pretended_java(out.path(), "11", "exit 1");
    let mut command = run_once(out.path(), &["--platform", "java-threads", "--java"]);
    let message = format!("klatch: java-threads needs Java 17 or newer, and {} is Java 11", java.display());
    fails(command.arg(&java), &message);
}

#[test]
fn a_server_that_never_gets_ready_is_stopped() {
    let out = tempfile::tempdir().unwrap();
    let pid_file = out.path().join("pid");
    let java =
        pretended_java(out.path(), "17", &format!("echo $$ > {}; exec sleep 1000", pid_file.display()));
    let mut command = run_once(out.path(), &["--platform", "java-threads", "--ready-timeout", "1", "--java"]);
    fails(command.arg(&java), "klatch: java-threads@17 was not ready after 1 s and was stopped");
    let pid = std::fs::read_to_string(pid_file).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "the server still runs");
}

#[test]
fn a_server_that_dies_at_once_is_quoted() {
    let out = tempfile::tempdir().unwrap();
    let java = pretended_java(out.path(), "17", "echo no memory >&2; exit 3");
    let mut command = run_once(out.path(), &["--platform", "java-threads", "--java"]);
    fails(
        command.arg(&java),
        "java-threads@17 ended before it was ready (exit status 3); it said: no memory",
    );
}

#[test]
fn a_full_disk_is_told_before_anything_starts() {
    needs!(Need::UserNamespaces);
    let folder = tempfile::tempdir().unwrap();
    // A small file system in a mount namespace of its own: it goes when the program ends.
    let script = r#"mount -t tmpfs -o size=100k none "$1" && exec "$2" run --platform native-epoll --out "$1/results""#;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(folder.path());
    command.arg(env!("CARGO_BIN_EXE_klatch"));
    let said = Said::of(&mut command);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("No space left on device") && said.err.contains("with --out"), "{said:?}");
    assert!(said.out.is_empty(), "nothing has started: {said:?}");
}

#[test]
fn an_error_is_printed_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.jsonl");
    std::fs::write(&results, "").unwrap();
    // What stands where the folder of the report should be is a file.
    let report = results.join("report.html");
    let mut command = klatch();
    command.args(["report", "--format", "html", "--output"]).arg(&report).arg(&results);
    fails(&mut command, &format!("klatch: cannot write {}: Not a directory", report.display()));
    // A command that is not there.
    fails(klatch().args(["serve", "--sendq", "1"]), "klatch: --sendq must be at least 4096, got 1");
}

#[test]
fn a_folder_that_cannot_be_made() {
    let mut command = run_once(Path::new("/proc/results"), &["--platform", "native-epoll"]);
    fails(&mut command, "klatch: cannot write results to /proc/results: ");
}
