//! The table of the papers: its numbers stand in committed files, its page is current, and its commands parse.

use std::path::{Path, PathBuf};

use crate::support::{Finished, klatch};
use clap::error::ErrorKind;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn table() -> String {
    let finished = Finished::run(klatch().arg("papers"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished.out
}

/// Each row of the table as its seven cells.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let rows = table.lines().filter(|line| line.starts_with('|') && line.matches(" | ").count() == 6);
    rows.map(|row| row.trim_matches(['|', ' ']).split(" | ").collect())
        .filter(|row: &Vec<&str>| row[0] != "#")
        .collect()
}

#[test]
fn every_number_stands_in_the_committed_file_and_the_page_is_current() {
    let finished = Finished::run(klatch().args(["papers", "--check"]).arg(root()));
    assert_eq!(finished.status, Some(0), "{}", finished.err);
}

#[test]
fn a_changed_note_or_page_fails_the_check() {
    let copy = tempfile::tempdir().unwrap();
    for folder in ["research/notes", "docs/reference", "crates/simulator/src/schedulers"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(root().join(folder)).unwrap().flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), copy.path().join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    let page = copy.path().join("research/papers.md");
    assert_eq!(Finished::run(klatch().args(["papers", "--out"]).arg(&page)).status, Some(0));
    let check = || Finished::run(klatch().args(["papers", "--check"]).arg(copy.path()));
    assert_eq!(check().status, Some(0), "{}", check().err);

    let note = copy.path().join("research/notes/2026-11-27-threads-2000.md");
    let text = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, text.replace("0.73 times", "0.68 times")).unwrap();
    let changed = check();
    assert_eq!(changed.status, Some(1), "{changed:?}");
    assert!(
        changed.err.contains("result 1: research/notes/2026-11-27-threads-2000.md does not contain"),
        "{}",
        changed.err
    );

    std::fs::write(&note, text).unwrap();
    std::fs::write(&page, table().replace("0.73 times", "0.68 times")).unwrap();
    let changed = check();
    assert!(
        changed.status == Some(1) && changed.err.contains("klatch papers --out research/papers.md"),
        "{changed:?}"
    );
}

#[test]
fn every_result_has_a_row_with_a_verdict() {
    let table = table();
    let mut numbers: Vec<String> = (1..=40).map(|number| number.to_string()).collect();
    numbers.insert(38, "38b".to_owned());
    let rows = rows(&table);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), numbers);
    let verdicts = [
        "**reproduced**",
        "**reproduced in shape**",
        "**not reproduced**, because",
        "**cannot be had here**, because",
    ];
    let without = rows.iter().find(|row| !verdicts.iter().any(|verdict| row[5].starts_with(verdict)));
    assert_eq!(without, None);
}

#[test]
fn commands_of_the_table_parse() {
    let table = table();
    let mut checked = 0;
    for row in rows(&table) {
        for command in row[6].split("<br>").filter(|cell| *cell != "–") {
            checked += 1;
            let words = command.trim_matches('`').split(' ');
            if let Err(error) = klatch::command_line().try_get_matches_from(words) {
                assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{command}: {error}");
            }
        }
    }
    assert!(checked > 30, "the commands were not read: {checked}");
}
