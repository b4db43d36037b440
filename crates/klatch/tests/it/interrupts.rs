//! Ctrl-C in commands that start no server: each says what is kept, or that nothing is.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Finished, children_of, gone, klatch, until_line};

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Interrupts the command, and returns the last line that it printed to standard error.
fn interrupt(child: Child) -> String {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let finished = Finished::from(child.wait_with_output().unwrap());
    assert_eq!((finished.status, finished.out.as_str()), (Some(130), ""), "{finished:?}");
    finished.err.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_simulation_keeps_nothing() {
    let mut command = klatch();
    let mut child = start(command.args(["simulate", "run", "--set", "rooms=100", "--set", "count=10000"]));
    until_line(&mut child, "simulating chat under goodness");
    assert_eq!(interrupt(child), "klatch: interrupted; nothing is kept");
}

#[test]
fn a_probe_keeps_nothing_and_leaves_no_process() {
    let threads = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    let mut command = klatch();
    let child = start(command.args(["probe", "yield", "--tasks", "2", "--rounds", "100000000"]));
    while threads(child.id()) < 2 {
        std::thread::yield_now();
    }
    assert_eq!(interrupt(child), "klatch: interrupted; nothing is kept");
    let mut command = klatch();
    let child = start(command.args(["probe", "hackbench", "-g", "1", "-f", "2", "-l", "100000000"]));
    while children_of(child.id()).len() < 4 {
        std::thread::yield_now();
    }
    let children = children_of(child.id());
    assert_eq!(interrupt(child), "klatch: interrupted; nothing is kept");
    assert!(children.into_iter().all(|(pid, _)| gone(pid).is_some()));
}

/// Whether the process has a handler of SIGINT.
fn catches_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (Signal::INT.as_raw() - 1)) != 0
}

#[test]
fn readers_of_results_keep_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody writes into these, so they wait.
    let [runs, others] = ["runs.jsonl", "others.jsonl"].map(|name| {
        let path = folder.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let (runs, others) = (runs.as_str(), others.as_str());
    let trace = folder.path().join("trace");
    let trace = trace.to_str().unwrap();
    for arguments in [
        vec!["report", runs, "--format", "json"],
        vec!["compare", runs, others],
        vec!["history", runs],
        vec!["trace", "import", runs, trace],
        vec!["trace", "show", runs],
    ] {
        let mut command = klatch();
        let mut child = start(command.args(&arguments));
        while !catches_interrupts(child.id()) {
            assert_eq!(child.try_wait().unwrap(), None, "{arguments:?} ended");
            std::thread::yield_now();
        }
        assert_eq!(interrupt(child), "klatch: interrupted; nothing is kept", "{arguments:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn directories_of_a_site_are_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["web-files", "site", "--directories", "10000"]).current_dir(folder.path());
    let child = start(&mut command);
    let first = folder.path().join("site/file_set/dir00000");
    while !first.exists() {
        std::thread::yield_now();
    }
    let said = interrupt(child);
    let written = said.strip_prefix("klatch: interrupted; ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(
        said,
        format!("klatch: interrupted; {written} of 10,000 directories are written and stay in site")
    );
    let size = |directory: &std::path::Path| -> u64 {
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    let all =
        std::fs::read_dir(folder.path().join("site/file_set")).unwrap().map(|entry| entry.unwrap().path());
    let all: Vec<_> = all.collect();
    assert_eq!(all.len().to_string(), written.replace(',', ""), "nothing unfinished stays");
    assert!(all.iter().all(|directory| size(directory) == size(&first)));
}
