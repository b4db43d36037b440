//! The command that most people type next, for the last line of a command.

use std::path::Path;

use klatch_host::machine::is_in_lab;
use klatch_record::{Estimate, Metric, Record};
use klatch_report::{Ending, Report, fitted, width};

use crate::output::print;
use klatch_record::own_arguments;

/// Half the width of an interval, as a share of the mean, above which a longer run is the next command.
const WIDE: f64 = 0.05;

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

/// After runs of one start of a server: more trials where the interval is wide, else the report.
pub(crate) fn after_runs(report: &Report, records: &[Record], out: &Path) -> Vec<String> {
    let estimate = |metric: &Metric| report.cells.iter().find_map(|cell| cell.estimates.get(metric.name));
    let [[operations, cpu_of_operations], [messages, cpu]] = [true, false].map(Metric::of_score);
    // Others disturb CPU time less than the throughput.
    let decides = [cpu_of_operations, cpu, operations, messages];
    let wide = decides.into_iter().find_map(estimate).is_some_and(is_wide);
    let trials =
        records.first().and_then(|record| record.options.as_ref()).map_or(0, |options| options.trials);
    let is_study = report.cells.first().is_some_and(|cell| cell.trials >= 2) && has_platform(records);
    match wide && trials < 20 {
        // Trials of one start share whatever happened when it started.
        true if is_study => again(&[("--starts", "5")]),
        true => again(&[("--trials", &(trials * 2).max(5).to_string())]),
        false => open(out),
    }
}

/// Whether Klatch started the server, on this machine, so that it can start it again and again.
fn has_platform(records: &[Record]) -> bool {
    let options = records.first().and_then(|record| record.options.as_ref());
    options.is_some_and(|options| options.target.is_none() && options.remote.is_none())
}

fn is_wide(estimate: &Estimate) -> bool {
    let width = estimate.low.zip(estimate.high).map(|(low, high)| (high - low) / 2.0 / estimate.mean);
    width.is_none_or(|width| width > WIDE)
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
