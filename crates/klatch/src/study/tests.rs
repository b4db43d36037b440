//! Every option of `klatch study` belongs to kinds of studies, and those that affect the results are in the result and in the report's
//! command.

use std::path::Path;

use clap::FromArgMatches;
use klatch_record::{Build, STUDY_SCHEMA_NAME};
use klatch_report::study_again;

use super::*;
use crate::command_line;

/// Options for every kind that do not affect the results: where they go, and how they are shown.
const NOT_MEASURED: [&str; 4] = ["dry-run", "resume", "out", "json"];
/// The same for some kinds: how the runs are shown, how long they may take, and a check.
const NOT_MEASURED_OF_KINDS: [&str; 6] = ["lines", "web", "junit", "jobs", "limit", "twice"];

fn parse(words: &[String]) -> Study {
    let matches = command_line().try_get_matches_from(words);
    let matches = matches.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    Study::from_arg_matches(matches.subcommand().unwrap().1).unwrap()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The options of the command, each with whether it takes a value.
fn declared() -> Vec<(String, bool)> {
    let all = command_line();
    let study = all.find_subcommand("study").unwrap();
    let option =
        |option: &clap::Arg| Some((option.get_long()?.to_owned(), option.get_action().takes_values()));
    study.get_arguments().filter_map(option).collect()
}

#[test]
fn every_option_suits_all_kinds_or_is_in_the_table() {
    let table = parse(&words(&["klatch", "study"])).options_of_kinds();
    assert!(table.iter().all(|(_, is_given, _)| !is_given));
    let common = NOT_MEASURED.into_iter().chain(["only"]);
    let mut known: Vec<&str> = table.iter().map(|(name, ..)| *name).chain(common).collect();
    let declared = declared();
    let mut declared: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
    known.sort_unstable();
    declared.sort_unstable();
    assert_eq!(declared, known);
}

/// The command with a value for every option that a kind has and that is measured, and the one that repeats its result.
#[test]
fn the_command_of_a_result_repeats_its_study() {
    let table = parse(&words(&["klatch", "study"])).options_of_kinds();
    for kind in [ResultKind::Measured, ResultKind::Emulated, ResultKind::Simulated] {
        let is_of_kind = |name: &str| {
            let own = table.iter().find(|(own, ..)| *own == name);
            own.is_none_or(|(_, _, kinds)| kinds.contains(&kind))
        };
        let is_measured =
            |name: &str| !NOT_MEASURED.contains(&name) && !NOT_MEASURED_OF_KINDS.contains(&name);
        let mut given = words(&["klatch", "study", "file.toml"]);
        for (number, (name, takes_value)) in (7..).zip(declared()) {
            if is_of_kind(&name) && is_measured(&name) {
                given.push(format!("--{name}"));
                given.extend(takes_value.then(|| match name.as_str() {
                    "require" => "errors == 0".to_owned(),
                    "preset" => "quick".to_owned(),
                    _ => number.to_string(),
                }));
            }
        }
        let study = parse(&given);
        assert!(study.options_of_kinds().iter().any(|(_, is_given, _)| *is_given), "{given:?}");
        let result = StudyResult {
            schema: STUDY_SCHEMA_NAME.to_owned(),
            kind,
            name: "file".to_owned(),
            question: String::new(),
            klatch: Build { version: "0".to_owned(), ..Build::default() },
            started_at: String::new(),
            ended_at: String::new(),
            seed: study.seed.unwrap_or(1),
            options: study.options(),
            rules: String::new(),
            metric: String::new(),
            first_trials: None,
            axes: Vec::new(),
            cells: Vec::new(),
            pairs: Vec::new(),
        };
        let mut repeated = study_again(&result, Path::new("file.toml"));
        let again = parse(&repeated);
        assert_eq!((again.seed, again.options()), (study.seed, study.options()), "{repeated:?}");
        // An option that is forgotten in the result is missing here.
        given.sort_unstable();
        repeated.sort_unstable();
        assert_eq!(given, repeated);
    }
}
