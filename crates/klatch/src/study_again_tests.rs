//! Every option of the commands for studies that affects the results is in the result, and the report's command repeats it.

use clap::{ArgMatches, FromArgMatches};
use klatch_record::{Build, ResultKind, STUDY_SCHEMA_NAME, StudyResult};
use klatch_report::study_again;

use super::*;
use crate::command_line;

/// Options that do not affect the results: where they go, how they are shown, how long they may take, and a check.
const NOT_MEASURED: [&str; 9] = ["dry-run", "resume", "out", "json", "live", "web", "jobs", "limit", "twice"];

/// The matches of the innermost command.
fn parse(words: &[String]) -> ArgMatches {
    let mut matches =
        command_line().try_get_matches_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    while let Some((_, inner)) = matches.remove_subcommand() {
        matches = inner;
    }
    matches
}

/// The command with a value for every option that is measured, and the one that repeats a result with the same options.
fn again(kind: ResultKind, command: &[&str], read: fn(&ArgMatches) -> (u64, BTreeMap<String, String>)) {
    let mut words: Vec<String> = ["klatch"].iter().chain(command).map(|word| (*word).to_owned()).collect();
    let all = command_line();
    let declared = command.iter().fold(&all, |of, name| of.find_subcommand(name).unwrap());
    words.push("file.toml".to_owned());
    for (number, option) in (7..).zip(declared.get_arguments()) {
        let Some(name) = option.get_long().filter(|name| !NOT_MEASURED.contains(name)) else { continue };
        words.push(format!("--{name}"));
        words.extend(option.get_action().takes_values().then(|| number.to_string()));
    }
    let (seed, options) = read(&parse(&words));
    let result = StudyResult {
        schema: STUDY_SCHEMA_NAME.to_owned(),
        kind,
        name: "file".to_owned(),
        question: String::new(),
        klatch: Build { version: "0".to_owned(), commit: None, profile: None },
        started_at: String::new(),
        ended_at: String::new(),
        seed,
        options: options.clone(),
        rules: String::new(),
        metric: String::new(),
        first_trials: None,
        axes: Vec::new(),
        cells: Vec::new(),
        pairs: Vec::new(),
    };
    let mut repeated = study_again(&result, Path::new("file.toml"));
    assert_eq!(read(&parse(&repeated)), (seed, options), "{repeated:?}");
    // An option that is forgotten in the result is missing here.
    words.sort_unstable();
    repeated.sort_unstable();
    assert_eq!(words, repeated);
}

#[test]
fn the_command_of_a_result_repeats_its_study() {
    again(ResultKind::Measured, &["study"], |matches| {
        let study = Study::from_arg_matches(matches).unwrap();
        (study.seed, study.options())
    });
    // These have their seeds in the file.
    again(ResultKind::Simulated, &["simulate"], |matches| (1, crate::simulate::options(matches)));
    again(ResultKind::Emulated, &["lab", "run"], |matches| (1, crate::lab::options(matches)));
}
