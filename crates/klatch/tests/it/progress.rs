//! Progress on a terminal, and on one that cannot draw over what it shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Finished, klatch};

/// What the program prints on a terminal of this type with 100 columns and 30 lines, escapes included.
fn on_terminal(term: &str, arguments: &[&str], folder: &Path) -> String {
    let klatch = klatch();
    let line =
        format!("stty cols 100 rows 30; exec {} {}", klatch.get_program().display(), arguments.join(" "));
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(folder);
    terminal.env_remove("COLUMNS").env("TERM", term).stdin(Stdio::null());
    terminal.envs(klatch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let finished = Finished::run(&mut terminal);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished.out
}

const RUN: [&str; 11] = [
    "run",
    "--platform",
    "native-epoll",
    "--rooms",
    "2",
    "--users",
    "10",
    "--count",
    "1000",
    "--trials",
    "2",
];

/// Enters and leaves the second screen of a terminal.
const SCREEN: [&str; 2] = ["\x1b[?1049h", "\x1b[?1049l"];

#[test]
fn a_run_draws_on_a_terminal_and_prints_lines_on_a_dumb_one() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = on_terminal("xterm", &RUN, folder.path());
    for part in ["\x1b[2K", "trial 1 of 2: ", " of 200,000 messages, ", " messages/s, ", " s left"] {
        assert!(drawn.contains(part), "no {part:?}: {drawn}");
    }
    let plain = on_terminal("dumb", &RUN, folder.path());
    assert!(!plain.contains('\x1b') && plain.contains("trial 2 of 2: all joined in "), "{plain}");
}

#[test]
fn a_study_has_the_whole_terminal_unless_lines_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = "question = 'Which?'\nplatforms = ['native-epoll', 'native-threads']\n[workload]\nrooms = 1\nusers = 5\ncount = 50\n\
        [rules]\npreset = 'ibm-2000'\ntrials_max = 2\n";
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let view = on_terminal("xterm", &["study", "small.toml"], folder.path());
    assert!(SCREEN.iter().all(|escape| view.contains(escape)), "{view}");
    for part in ["rules: ", "threads", "starting the server", "next:"] {
        assert!(view.contains(part), "no {part:?}: {view}");
    }
    for (term, arguments) in
        [("xterm", &["study", "small.toml", "--lines"] as &[&str]), ("dumb", &["study", "small.toml"])]
    {
        let lines = on_terminal(term, arguments, folder.path());
        assert!(!lines.contains(SCREEN[0]) && lines.contains("(start 1 of 2)"), "{lines}");
    }
}

/// Work that ends soon shows nothing; what takes longer than two seconds says what it is, and how long it has taken.
#[test]
fn a_slow_start_is_shown_from_the_third_second_on() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = 'slow'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\ncommand = ['sh', '-c', 'sleep 3; exit 3']\n";
    std::fs::write(folder.path().join("slow.toml"), text).unwrap();
    let mut run = klatch();
    run.args(["run", "--platform", "slow", "--catalog", "."]).current_dir(folder.path());
    let finished = Finished::run(&mut run);
    assert!(finished.err.contains("starting slow: 2 s\n"), "{finished:?}");
    assert!(finished.err.contains("slow ended before it was ready"), "{finished:?}");
}
