//! The table and its page.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use klatch_research::{commands, faults, load, page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn every_number_stands_in_a_committed_file() {
    assert_eq!(faults(&load().unwrap(), &root()), Vec::<String>::new());
}

#[test]
fn a_changed_note_is_a_fault() {
    let copy = tempfile::tempdir().unwrap();
    for folder in ["research/notes", "docs/reference", "crates/simulator/src/schedulers"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(root().join(folder)).unwrap().flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), copy.path().join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    let papers = load().unwrap();
    assert_eq!(faults(&papers, copy.path()), Vec::<String>::new());
    let note = copy.path().join("research/notes/2026-11-27-threads-2000.md");
    let text = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, text.replace("0.73 times", "0.68 times")).unwrap();
    let changed = faults(&papers, copy.path());
    let fault = "result 1: research/notes/2026-11-27-threads-2000.md does not contain";
    assert!(changed.iter().any(|text| text.contains(fault)), "{changed:?}");
}

#[test]
fn the_page_is_made_from_the_table() {
    let committed = std::fs::read_to_string(root().join("research/papers.md")).unwrap();
    let is_current = committed == page(&load().unwrap());
    assert!(is_current, "run: cargo run -p klatch-research -- page --out research/papers.md");
}

#[test]
fn every_result_has_a_row_and_a_section() {
    let page = page(&load().unwrap());
    let mut numbers: Vec<String> = (1..=40).map(|number| number.to_string()).collect();
    numbers.insert(38, "38b".to_owned());
    let starts = |start: &str, end: char| -> Vec<String> {
        let lines = page.lines().filter_map(|line| line.strip_prefix(start));
        lines.map(|rest| rest.split(end).next().unwrap().to_owned()).collect()
    };
    assert_eq!(starts("| [", ']'), numbers);
    assert_eq!(starts("### Result ", ' '), numbers);
}

#[test]
fn commands_of_the_table_parse() {
    let papers = load().unwrap();
    let all = commands(&papers);
    assert!(all.len() > 30, "the commands were not read: {}", all.len());
    for command in all {
        let line = match command.split(' ').next() {
            Some("klatch-research") => klatch_research::command_line(),
            _ => klatch::command_line(),
        };
        if let Err(error) = line.try_get_matches_from(command.split(' ')) {
            assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{command}: {error}");
        }
    }
}
