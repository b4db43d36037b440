//! The program itself.

use std::path::Path;
use std::process::{Command, Output};

fn research(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_klatch-research")).args(arguments).output().unwrap()
}

#[test]
fn costs_that_are_not_frozen_predict_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let costs = folder.path().join("costs.toml");
    let text = klatch_simulator::Costs::text("pentium-iii").unwrap();
    std::fs::write(&costs, text.replacen("value = 115", "value = 114", 1)).unwrap();
    let finished = research(&["papers", "--costs", costs.to_str().unwrap()]);
    let error = String::from_utf8(finished.stderr).unwrap();
    assert_eq!(finished.status.code(), Some(2), "{error}");
    assert!(error.contains("are not frozen") && finished.stdout.is_empty(), "{error}");
}

#[test]
fn the_speed_of_the_simulator_is_appended_to_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("new/simulator.jsonl");
    for lines in [1, 2] {
        let finished = research(&["speed", "--history", history.to_str().unwrap()]);
        assert_eq!(finished.status.code(), Some(0), "{finished:?}");
        let text = std::fs::read_to_string(&history).unwrap();
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((text.lines().count(), &last["kind"]), (lines, &"measured".into()));
        assert!(last["rows"][4]["events_per_s"].as_f64().unwrap() > 1e5, "{last}");
    }
}

#[test]
fn commands_of_the_readme_parse() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let lines =
        readme.lines().filter_map(|line| line.strip_prefix("$ cargo run --release -p klatch-research -- "));
    let commands: Vec<&str> = lines.map(|line| line.split(" #").next().unwrap().trim_end()).collect();
    assert_eq!(commands.len(), 4);
    for command in commands {
        let words = ["klatch-research"].into_iter().chain(command.split(' '));
        if let Err(error) = klatch_research::command_line().try_get_matches_from(words) {
            panic!("{command}: {error}");
        }
    }
}
