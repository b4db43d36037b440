//! What speaks against a score: one guard a file, each a pure function of records. The guards that need what is not in a
//! record (strangers, load, steal, a late crowd) are in `verdict`.

mod crowd_limit;
mod few_trials;
mod frequency;
mod gc;
mod littles_law;
mod one_start;
mod outlier;
mod too_short;
mod trend;

use klatch_record::{Record, Warning, WarningKind};

pub use one_start::describe_noise;

/// Warnings about one run.
pub(crate) fn run_warnings(record: &Record) -> Vec<Warning> {
    [crowd_limit::guard(record), gc::guard(record), too_short::guard(record)].into_iter().flatten().collect()
}

/// How the numbers of a run contradict each other, if they do.
pub(crate) fn contradiction(record: &Record) -> Option<Warning> {
    littles_law::guard(record)
}

/// What to know of the trials of one cell together, in the order of time.
pub fn guard_series(trials: &[&Record]) -> Vec<Warning> {
    let scores: Vec<f64> = trials.iter().map(|record| record.score.messages_per_s).collect();
    [
        few_trials::guard(&scores),
        outlier::guard(&scores),
        trend::guard(&scores),
        frequency::guard(trials),
        one_start::guard(trials),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn warning(kind: WarningKind, message: String, advice: &str) -> Warning {
    Warning { kind, message, advice: advice.to_owned() }
}
