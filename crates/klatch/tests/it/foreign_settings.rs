//! Settings of the caller that other programs have met: odd names of folders, locales, signals that are ignored, small limits.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use klatch_record::Status;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::{Finished, children_of, klatch, run_once, two_at_a_time, until_joined};

/// A folder for temporary files with a name that every kind of configuration file must quote. Other users can enter it, for servers that
/// do not run as root.
fn odd_folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a b'c\"d\\e");
    std::fs::create_dir(&odd).unwrap();
    for path in [folder.path(), &odd] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    (folder, odd)
}

#[test]
fn servers_start_in_a_folder_with_an_odd_name_and_in_a_locale_that_is_not_there() {
    const WEB: [&str; 8] = ["--workload", "web", "--line", "none", "--lines", "2", "--directories", "1"];
    const RR: [&str; 4] = ["--workload", "rr", "--connections", "2"];
    const CHAT: [&str; 6] = ["--rooms", "1", "--users", "3", "--count", "10"];
    const TLS: [&str; 8] = ["--rooms", "1", "--users", "3", "--count", "10", "--knob", "transport=tls"];
    let platforms: [(&str, &[&str]); 13] = [
        ("nginx", &WEB),
        ("lighttpd", &WEB),
        ("h2o", &WEB),
        ("apache-event", &WEB),
        ("apache-prefork", &WEB),
        ("caddy", &WEB),
        ("postgresql", &RR),
        ("redis", &RR),
        ("inspircd", &CHAT),
        ("inspircd", &TLS),
        ("mosquitto", &TLS),
        ("nats", &TLS),
        ("ngircd", &TLS),
    ];
    two_at_a_time(&platforms, |(platform, workload)| {
        let (_parent, folder) = odd_folder();
        let out = tempfile::tempdir().unwrap();
        let mut command = run_once(out.path(), &["--platform", platform, "--timeout", "20"]);
        if workload[0] == "--workload" {
            command.args(["--duration", "0.3"]);
        }
        command
            .args(*workload)
            .env("TMPDIR", &folder)
            .env("LC_ALL", "xx_XX.UTF-8")
            .env("LANG", "xx_XX.UTF-8");
        let finished = Finished::run(&mut command);
        if finished.err.contains("is not installed") {
            return klatch_testing::not_run(platform, &finished.err);
        }
        assert_eq!(finished.status, Some(0), "{platform}: {finished:?}");
        assert_eq!(finished.record().verdict.status, Status::Valid, "{platform}: {finished:?}");
    });
}

/// `sh -c SCRIPT klatch`, where `"$@"` is this command.
fn in_shell(script: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let out = tempfile::tempdir().unwrap();
    let mut run = run_once(out.path(), &["--platform", "native-epoll", "--pacing", "rate", "--rate", "20"]);
    run.args(["--count", "30", "--rooms", "1", "--users", "3"]);
    // As of `nohup`, and of a background job of a script.
    let mut command = in_shell("trap '' HUP INT; exec \"$@\"", &run);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until_joined(&mut run);
    for signal in [Signal::HUP, Signal::INT] {
        kill_process(Pid::from_child(&run), signal).unwrap();
    }
    let finished = Finished::from(run.wait_with_output().unwrap());
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert_eq!(finished.record().verdict.status, Status::Valid);
}

/// Else a server would be killed after five seconds, instead of asked to end.
#[test]
fn what_klatch_starts_does_not_ignore_the_signal_that_ends_it() {
    let out = tempfile::tempdir().unwrap();
    let mut run = run_once(out.path(), &["--platform", "native-epoll", "--pacing", "rate", "--rate", "20"]);
    run.args(["--count", "30", "--rooms", "1", "--users", "3"]);
    let mut command = in_shell("trap '' TERM; exec \"$@\"", &run);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until_joined(&mut run);
    let ignores_term = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
        ignored & 1 << (Signal::TERM.as_raw() - 1) != 0
    };
    let children = children_of(run.id());
    assert!(children.len() >= 2, "server and crowd: {children:?}");
    for (pid, command) in children {
        assert!(!ignores_term(pid), "{command}");
    }
    let finished = Finished::from(run.wait_with_output().unwrap());
    assert_eq!(finished.status, Some(0), "{finished:?}");
}

#[test]
fn a_server_ignores_what_was_ignored_when_it_started() {
    let mut serve = klatch();
    serve.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut command = in_shell("trap '' INT; exec \"$@\"", &serve);
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.contains("port"), "{ready}");
    kill_process(Pid::from_child(&server), Signal::INT).unwrap();
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    let status = server.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(0), None));
}

/// `ulimit -f` counts blocks of 512 bytes. The signal of it would end the program without a word.
#[test]
fn a_file_that_may_not_grow_is_an_error_with_words() {
    let out = tempfile::tempdir().unwrap();
    let mut run = run_once(out.path(), &["--platform", "native-epoll"]);
    run.args(["--rooms", "1", "--users", "3", "--count", "5"]);
    let finished = Finished::run(&mut in_shell("ulimit -f 4; exec \"$@\"", &run));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("File too large"), "{finished:?}");
}

#[test]
fn a_result_that_cannot_be_written_is_an_error_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing/result.json");
    let nowhere = nowhere.to_str().unwrap();
    // Nobody listens there, so a crowd that began would say so.
    for command in [
        &["crowd", "--host", "127.0.0.1", "--port", "1", "--out", nowhere][..],
        &["serve", "--listen", "127.0.0.1:0", "--out", nowhere],
        &["floor", "--blocks", "1", "--history", "/proc/self/nothing/floor.jsonl"],
    ] {
        let finished = Finished::run(klatch().args(command));
        assert_eq!(finished.status, Some(2), "{command:?}: {finished:?}");
        let is_named =
            ["cannot write ", "cannot append to "].iter().any(|words| finished.err.contains(words));
        assert!(is_named && finished.out.is_empty(), "{command:?}: {finished:?}");
    }
}

/// A command whose build sleeps, with a child of its own.
#[test]
fn an_interrupt_ends_a_build_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("source")).unwrap();
    std::fs::write(folder.path().join("source/main.c"), "").unwrap();
    let begun = folder.path().join("begun");
    let text = format!(
        "name = 'slow'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\nsources = 'source'\ncommand = ['true']\n\
         [build]\ncommand = ['sh', '-c', 'sleep 300 & : >{}; wait']\n",
        begun.display()
    );
    std::fs::write(folder.path().join("slow.toml"), text).unwrap();
    let mut command = run_once(&folder.path().join("results"), &["--platform", "slow", "--catalog"]);
    command.arg(folder.path()).env("XDG_CACHE_HOME", folder.path().join("cache"));
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = std::time::Instant::now();
    while !begun.exists() {
        assert!(began.elapsed().as_secs() < 20, "the build has not begun");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let asked = std::time::Instant::now();
    let finished = Finished::from(run.wait_with_output().unwrap());
    assert!(asked.elapsed().as_secs_f64() < 1.0, "{:?}", asked.elapsed());
    assert_eq!(finished.status, Some(130), "{finished:?}");
}
