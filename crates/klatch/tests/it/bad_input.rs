//! Every error gives one clear message and the right exit status, and leaves no process behind.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Finished, NativeServer, klatch, run_once};
use klatch_testing::{Need, needs};

fn fails(command: &mut Command, message: &str) {
    let finished = Finished::run(command);
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
    assert!(!finished.err.contains("panicked") && !finished.err.contains("Error {"), "{finished:?}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let out = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (["--rooms", "0"], "klatch: rooms must be 1 to 65,535, got 0"),
        (["--users", "1"], "klatch: users must be 2 to 10,000, got 1"),
        (["--size", "20"], "klatch: size must be 36 to 400, got 20"),
        (["--trials", "0"], "klatch: trial count must be 1 to 1,000, got 0"),
        (["--window", "3"], "klatch: window belongs to pacing rounds"),
        (["--pacing", "rate"], "klatch: pacing rate needs a rate or stages"),
        (["--rooms", "many"], "invalid value 'many' for '--rooms"),
        (["--platform", "fax"], "klatch: no platform is named fax; klatch platforms lists all "),
        (
            ["--target", "chat.example"],
            "chat.example does not say which protocol the server speaks: did you mean irc://chat.example? There are irc, ",
        ),
    ] {
        // The later of two equal options overrides the earlier one.
        fails(run_once(out.path(), &[]).args(arguments).args(["--timeout", "5"]), message);
    }
}

#[test]
fn pause_is_refused_under_rate() {
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
fn a_port_in_use_is_reported() {
    let server = NativeServer::start();
    let address = server.address.to_string();
    fails(
        klatch().args(["serve", "--listen", &address]),
        &format!("cannot listen on {address}: address already in use"),
    );
}

#[test]
fn a_refused_connection_is_reported() {
    let out = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = format!("irc://{free}");
    fails(
        &mut run_once(out.path(), &["--target", &target]),
        &format!("klatch: no server at {free}: cannot connect: "),
    );
}

#[test]
fn a_crowd_without_a_server_counts_nothing() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let finished = Finished::run(klatch().args(["crowd", "--port", &free.port().to_string()]));
    assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
    assert!(finished.err.contains(&format!("klatch: no server at {free}: ")), "{finished:?}");
}

#[test]
fn an_unresponsive_host_is_reported() {
    let out = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    // The backlog of a listener that never accepts: once it is full, the kernel drops further connections.
    let patience = std::time::Duration::from_millis(300);
    let queue: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, patience).ok()).collect();
    assert!(!queue.is_empty());
    let target = format!("irc://{address}");
    let mut command = run_once(out.path(), &["--target", &target, "--connect-timeout", "1"]);
    fails(&mut command, &format!("klatch: no server at {address}: cannot connect: "));
}

#[test]
fn an_unknown_host_is_reported() {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--target", "irc://nowhere.invalid:6667"]);
    fails(&mut command, "klatch: cannot find host nowhere.invalid: ");
}

/// A program that claims to be a Java of this version and executes `then` when asked to run something.
fn pretended_java(folder: &Path, version: &str, then: &str) -> PathBuf {
    let path = folder.join("java");
    let print_version = format!("echo '    java.specification.version = {version}' >&2");
    let script = format!("#!/bin/sh\ncase \"$*\" in *-version*) {print_version};; *) {then};; esac\n");
    klatch_testing::write_program(&path, &script);
    path
}

#[test]
fn a_java_that_is_too_old_is_refused() {
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
        "java-threads@17 ended before it was ready (exit status 3); standard error: no memory",
    );
}

/// A run that measured nothing leaves no folder, and `latest` leads to the last one with a result.
#[test]
fn a_start_that_fails_leaves_the_results_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let names = || {
        let entries =
            std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let small = ["--platform", "native-epoll", "--rooms", "1", "--users", "2", "--count", "2"];
    // A short run on a busy machine may be unknown, and has its record too.
    assert!(matches!(Finished::run(&mut run_once(&out, &small)).status, Some(0 | 3)));
    let (before, latest) = (names(), out.join("latest").canonicalize().unwrap());
    assert!(before.len() == 2 && latest.join("trial-1.json").is_file(), "{before:?}");
    let java = pretended_java(folder.path(), "17", "exit 3");
    fails(run_once(&out, &["--platform", "java-threads", "--java"]).arg(&java), "ended before it was ready");
    assert_eq!((names(), out.join("latest").canonicalize().unwrap()), (before, latest));
}

#[test]
fn a_java_home_without_a_java_that_starts_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let run = |home: &Path| {
        let mut command = run_once(home, &["--platform", "java-threads"]);
        command.env("JAVA_HOME", home);
        command
    };
    fails(&mut run(home.path()), "klatch: java-threads cannot use JAVA_HOME: ");
    std::fs::create_dir(home.path().join("bin")).unwrap();
    let script = "#!/bin/sh\necho 'Error: Could not reserve enough space' >&2\nexit 1\n";
    klatch_testing::write_program(&home.path().join("bin/java"), script);
    fails(&mut run(home.path()), "it says: Error: Could not reserve enough space; correct or unset it");
}

#[test]
fn a_full_disk_is_reported_before_anything_starts() {
    needs!(Need::UserNamespaces);
    let folder = tempfile::tempdir().unwrap();
    // A small file system in a separate mount namespace, which disappears with the program.
    let script = r#"mount -t tmpfs -o size=100k none "$1" && exec "$2" run --platform native-epoll --out "$1/results""#;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(folder.path());
    command.arg(env!("CARGO_BIN_EXE_klatch"));
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(
        finished.err.contains("No space left on device") && finished.err.contains("with --out"),
        "{finished:?}"
    );
    assert!(finished.out.is_empty(), "nothing has started: {finished:?}");
}

#[test]
fn an_error_is_printed_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.jsonl");
    let record = klatch_record::samples::record(1, 1, 50_000.0);
    std::fs::write(&results, serde_json::to_string(&record).unwrap()).unwrap();
    // A file occupies the path of the report's folder.
    let report = results.join("report.html");
    let mut command = klatch();
    command.args(["report", "--format", "html", "--out"]).arg(&report).arg(&results);
    fails(&mut command, &format!("klatch: cannot write {}: Not a directory", report.display()));
    // A command that does not exist.
    fails(klatch().args(["serve", "--sendq", "1"]), "klatch: sendq must be at least 4096, got 1");
}

#[test]
fn an_uncreatable_folder_is_reported() {
    let mut command = run_once(Path::new("/proc/results"), &["--platform", "native-epoll"]);
    fails(&mut command, "klatch: cannot write results to /proc/results: ");
}
