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
    assert_eq!(interrupt(child), "klatch: interrupted; the directories that are written stay in site");
    let size = |directory: &std::path::Path| -> u64 {
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    let all =
        std::fs::read_dir(folder.path().join("site/file_set")).unwrap().map(|entry| entry.unwrap().path());
    // The one under way has another name.
    let whole: Vec<_> = all.filter(|path| path.extension().is_none()).collect();
    assert!(whole.len() < 10_000 && whole.iter().all(|directory| size(directory) == size(&first)));
}
