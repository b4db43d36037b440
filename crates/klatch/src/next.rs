//! The command that most people type next, for the last line of a command.

use std::path::Path;

use klatch_host::machine::is_in_lab;
use klatch_record::{Record, own_arguments};
use klatch_report::{Ending, LongerRun, Report, fitted, longer_run, width};

use crate::output::print;

/// Prints the last lines of a command. In the lab there is nobody who would type the next command, and no such folder afterwards.
pub(crate) fn print_ending(ending: Ending) {
    let answer = fitted(&ending.answer, width());
    print(Ending { answer, next: if is_in_lab() { Vec::new() } else { ending.next }, ..ending });
}

/// Opens the reports of a folder of results.
pub(crate) fn open(out: &Path) -> Vec<String> {
    let mut words = words(&["klatch", "browse"]);
    if out != Path::new("results") {
        words.push(out.display().to_string());
    }
    words
}

/// The command of this process with other values of options, which come last.
pub(crate) fn again(options: &[(&str, &str)]) -> Vec<String> {
    changed(own_arguments().into_iter().skip(1), options)
}

/// The command of this process with other values of options, before its last `tail` arguments, which are a command of their own.
pub(crate) fn again_before(tail: usize, options: &[(&str, &str)]) -> Vec<String> {
    let mut own = own_arguments().split_off(1);
    let mut command = own.split_off(own.len().saturating_sub(tail));
    if own.pop_if(|last| last == "--").is_some() {
        command.insert(0, "--".to_owned());
    }
    [changed(own.into_iter(), options), command].concat()
}

fn changed(arguments: impl Iterator<Item = String>, options: &[(&str, &str)]) -> Vec<String> {
    let mut command = words(&["klatch"]);
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let is_value = |(name, _): &(&str, &str)| argument == *name;
        let is_joined =
            |(name, _): &(&str, &str)| argument.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        if options.iter().any(is_value) {
            arguments.next();
        } else if !options.iter().any(is_joined) {
            command.push(argument);
        }
    }
    command.extend(options.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]));
    command
}

/// After runs of one start of a server: more of them where the interval is wide, else the report.
pub(crate) fn after_runs(report: &Report, records: &[Record], out: &Path) -> Vec<String> {
    match longer_run(report, records) {
        Some(LongerRun::Starts(starts)) => again(&[("--starts", &starts.to_string())]),
        Some(LongerRun::Trials(trials)) => again(&[("--trials", &trials.to_string())]),
        None => open(out),
    }
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_changes_is_there_once() {
        let line = |arguments: &str| {
            let arguments = arguments.split(' ').map(str::to_owned);
            changed(arguments, &[("--duration", "8m")]).join(" ")
        };
        assert_eq!(line("duet a b --duration 1m --json"), "klatch duet a b --json --duration 8m");
        assert_eq!(line("duet a --duration=1m b"), "klatch duet a b --duration 8m");
        assert_eq!(line("duet a b --format x"), "klatch duet a b --format x --duration 8m");
    }

    #[test]
    fn results_elsewhere_are_opened_there() {
        assert_eq!(open(Path::new("results")).join(" "), "klatch browse");
        assert_eq!(open(Path::new("/tmp/x")).join(" "), "klatch browse /tmp/x");
    }
}
