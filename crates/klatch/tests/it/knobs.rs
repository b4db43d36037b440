//! Knobs of server and crowd apply to all of their threads and are in the record. A knob that cannot be applied is refused
//! before anything starts.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Finished, children_of, klatch, run_once};
use klatch_record::Status;
use rustix::process::{Pid, Signal, geteuid, kill_process};

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "3", "--count", "10"];

fn refused(command: &mut Command, message: &str) {
    let finished = Finished::run(command);
    assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
    assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
}

/// The nice value of each thread of `pid`, field 19 of its stat, and the CPUs that it may run on. A thread may end meanwhile.
fn threads(pid: u32) -> Vec<(String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    tasks
        .filter_map(|task| {
            let read = |name| std::fs::read_to_string(task.path().join(name)).ok();
            let (stat, status) = (read("stat")?, read("status")?);
            let nice = stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().to_owned();
            let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).unwrap();
            Some((nice, cpus.to_owned()))
        })
        .collect()
}

#[test]
fn knobs_of_server_and_crowd_apply_to_all_their_threads() {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--platform", "native-threads", "--knob", "cpus=first:1"]);
    command.args(["--knob", "nice=3", "--crowd-knob", "nice=9", "--rooms", "1", "--users", "4"]);
    command.args(["--count", "1000", "--pause", "1"]);
    let mut running = command.stdout(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let (server, crowd) = loop {
        assert!(Instant::now() < deadline, "no server with eight threads and crowd");
        let children = children_of(running.id());
        let find = |word| children.iter().find(|(_, line)| line.contains(word)).map(|(pid, _)| *pid);
        match (find(" serve "), find(" crowd ")) {
            (Some(server), Some(crowd)) if threads(server).len() > 8 => break (server, crowd),
            _ => std::thread::yield_now(),
        }
    };
    let (of_server, of_crowd) = (threads(server), threads(crowd));
    kill_process(Pid::from_raw(running.id() as i32).unwrap(), Signal::INT).unwrap();
    running.wait().unwrap();
    let own = threads(std::process::id())[0].1.clone();
    assert!(of_server.iter().all(|(nice, cpus)| nice == "3" && cpus.parse::<u32>().is_ok()), "{of_server:?}");
    assert!(of_crowd.iter().all(|(nice, cpus)| nice == "9" && *cpus == own), "{of_crowd:?}");
}

#[test]
fn knobs_are_in_the_record() {
    let out = tempfile::tempdir().unwrap();
    let knobs = ["--knob", "policy=batch", "--crowd-knob", "thp=never", "--crowd-knob", "nice=1"];
    let finished =
        Finished::run(run_once(out.path(), &["--platform", "native-epoll"]).args(SMALL).args(knobs));
    let record = finished.record();
    assert_eq!(record.platform.knobs, [("policy".to_owned(), "batch".to_owned())].into());
    let of_crowd = [("nice", "1"), ("thp", "never")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(record.crowd.knobs, of_crowd.into());
}

#[test]
fn the_java_crowd_has_knobs_of_its_own_and_of_its_java() {
    let out = tempfile::tempdir().unwrap();
    let crowd = ["--crowd", "java", "--crowd-knob", "yield", "--crowd-knob", "heap=64m"];
    let server = ["--platform", "native-threads", "--knob", "yield"];
    let record = Finished::run(run_once(out.path(), &server).args(SMALL).args(crowd)).record();
    assert!(record.crowd.command.contains(&"--yield".to_owned()), "{:?}", record.crowd);
    assert_eq!(record.crowd.runtime.unwrap().options[..2], ["-Xms64m", "-Xmx64m"]);
    assert!(record.platform.command.unwrap().contains(&"--yield".to_owned()));
}

#[test]
fn the_volanomark_test_has_two_threads_for_each_connection_and_yields_at_both_ends() {
    let out = tempfile::tempdir().unwrap();
    let yields = [("yield".to_owned(), "on".to_owned())].into();
    for (platform, crowd) in [(None, "java"), (Some("native-threads"), "native-threads")] {
        let mut run = run_once(out.path(), &["--volanomark"]);
        run.args(SMALL).args(platform.iter().flat_map(|name| ["--platform", name]));
        let record = Finished::run(&mut run).record();
        assert_eq!(record.verdict.status, Status::Valid, "{:?}", record.verdict);
        assert_eq!((record.crowd.kind.name(), &record.crowd.knobs), (crowd, &yields));
        assert_eq!(record.platform.knobs, yields, "{}", record.platform.name);
        assert!(record.crowd.command.contains(&"--yield".to_owned()), "{:?}", record.crowd);
    }
    // What the command line says is kept.
    let mut run =
        run_once(out.path(), &["--volanomark", "--platform", "native-threads", "--crowd-knob", "yield=off"]);
    let record = Finished::run(run.args(SMALL)).record();
    assert!(!record.crowd.command.contains(&"--yield".to_owned()), "{:?}", record.crowd);
    let mut run = klatch();
    run.args([
        "run",
        "--volanomark",
        "--platform",
        "native-threads",
        "--warmups",
        "0",
        "--trials",
        "1",
        "--out",
    ]);
    let finished = Finished::run(run.arg(out.path()).args(SMALL));
    assert!(finished.out.starts_with("test      VolanoMark test\n"), "{finished:?}");
    refused(
        run_once(out.path(), &["--volanomark", "--platform", "redis"]).args(SMALL),
        "klatch: the VolanoMark test is that of java-threads or native-threads, not of redis",
    );
}

#[test]
fn inapplicable_knobs_are_refused_before_anything_starts() {
    let out = tempfile::tempdir().unwrap();
    for (knob, message) in [
        (["--knob", "cpus=900"], "klatch: knob cpus=900: CPU 900 does not exist; this machine has "),
        (["--crowd-knob", "cpus=0-900"], "does not exist; this machine has "),
        (["--crowd-knob", "policy=fast"], "klatch: knob policy=fast: must be other, batch, idle, "),
        (["--crowd-knob", "heap=1g"], "klatch: the native crowd has no knob heap; it has ktls, resume, "),
        (["--crowd-knob", "yield"], "klatch: the native crowd has no knob yield; it has ktls, resume, "),
    ] {
        refused(run_once(out.path(), &["--platform", "native-epoll"]).args(knob), message);
    }
    assert!(std::fs::read_dir(out.path()).unwrap().next().is_none(), "no folder for results");
}

#[test]
fn knobs_that_need_permission_are_refused_without_it() {
    let out = tempfile::tempdir().unwrap();
    for (side, knob, message) in [
        ("--knob", "nice=-5", "a nice value below 0, that of klatch, needs permission; run klatch as root"),
        (
            "--crowd-knob",
            "policy=fifo:10",
            "needs permission; run klatch as root, or allow it with `ulimit -r 10`",
        ),
    ] {
        let mut command = match geteuid().is_root() {
            true => Command::new("setpriv"),
            false => klatch(),
        };
        if geteuid().is_root() {
            command.args(["--bounding-set", "-sys_nice", env!("CARGO_BIN_EXE_klatch")]);
        }
        command.args(["run", "--platform", "native-epoll", side, knob, "--out"]).arg(out.path());
        refused(&mut command, message);
    }
}

#[test]
fn missing_large_pages_are_refused() {
    let out = tempfile::tempdir().unwrap();
    let knobs = ["--knob", "pages=large", "--knob", "heap=900g"];
    refused(
        run_once(out.path(), &["--platform", "java-threads"]).args(knobs),
        "klatch: knob pages=large: the heap needs 921600 MiB of large pages, and ",
    );
}
