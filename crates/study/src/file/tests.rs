use std::collections::BTreeSet;
use std::path::Path;

use klatch_record::{Build, ResultKind};

use super::*;
use crate::scripted::base;

fn build() -> Build {
    Build { version: "0".to_owned(), ..Build::default() }
}

#[test]
fn every_shipped_study_is_valid_and_its_keys_name_its_kind() {
    for study in shipped() {
        let file = load(study.name).unwrap();
        let cells = match file.kind() {
            ResultKind::Measured => file.measured(&base(), 1).map(|plan| plan.cells.len()),
            ResultKind::Emulated => file.emulated(build()).map(|study| study.plan.cells.len()),
            ResultKind::Simulated => {
                file.simulated(build(), &|| Err("no host".to_owned())).map(|plan| plan.cells.len())
            }
        };
        assert!(cells.unwrap_or_else(|error| panic!("{error}")) > 0, "{}", study.name);
        assert_eq!(StudyFile::new(Path::new("copy.toml"), study.text).kind(), study.kind, "{}", study.name);
        assert!(study.question().is_some(), "{}", study.name);
    }
}

#[test]
fn every_study_of_the_folders_is_shipped_and_no_two_have_one_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let files = ["", "lab", "simulated"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    let toml = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).count();
    let names: BTreeSet<&str> = shipped().iter().map(|study| study.name).collect();
    assert_eq!((names.len(), shipped().len()), (toml, toml));
}

#[test]
fn an_unknown_name_is_answered_with_a_similar_one_of_any_kind() {
    for (typed, meant) in
        [("threads-2001", "threads-2000"), ("goodnes-cost", "goodness-cost"), ("eigth-cpus", "eight-cpus")]
    {
        let error = load(typed).unwrap_err().to_string();
        let expected =
            format!("no study is called {typed}, and there is no such file; did you mean {meant}?");
        assert_eq!(error, expected);
    }
    let error = load("nowhere/mine.toml").unwrap_err().to_string();
    assert!(error.starts_with("cannot read nowhere/mine.toml: "), "{error}");
}

#[test]
fn cells_with_equal_names_are_numbered() {
    let at = |value: &str| (Levels::from([("scheduler".to_owned(), value.to_owned())]), ());
    let grid = Grid::new(vec![at("o1:yield=2"), at("o1-yield-2")], &["scheduler"], "scheduler");
    let names: Vec<&str> = grid.cells.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["o1-yield-2", "o1-yield-2-2"]);
}
