//! Profiles of pprof, which its reference implementation reads back.

use std::process::Command;

use klatch_report::pprof;
use klatch_testing::{Need, needs};

const A: &str = "server;main;read 30\nserver;main;write;copy 60\ncrowd;main 10\nno count\n";
const B: &str = "server;main;read 30\nserver;main;write;copy 90\ncrowd;main 10\n";

/// The rows of `go tool pprof -top` that have a routine: its own samples, and its name.
fn top(arguments: &[&std::ffi::OsStr]) -> Vec<(String, String)> {
    let output = Command::new("go").args(["tool", "pprof", "-top"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().skip_while(|line| !line.contains("flat%")).skip(1);
    rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        (words[0].to_owned(), words[5].to_owned())
    })
    .collect()
}

#[test]
fn stacks_and_their_difference_are_those_that_pprof_reads() {
    needs!(Need::Program("go", "golang-go"));
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [("a", A), ("b", B)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, pprof(text).unwrap()).unwrap();
        path
    });
    let row = |own: &str, name: &str| (own.to_owned(), name.to_owned());
    let of_a = top(&[a.as_os_str()]);
    assert_eq!(of_a[..3], [row("60", "copy"), row("30", "read"), row("10", "main")]);
    let difference = top(&["-diff_base".as_ref(), a.as_os_str(), b.as_os_str()]);
    assert_eq!(difference[0], row("30", "copy"), "{difference:?}");
    assert!(difference[1..].iter().all(|(own, _)| own == "0"), "{difference:?}");
}

#[test]
fn a_file_without_stacks_is_no_profile() {
    assert_eq!(pprof("no count\n"), None);
}
