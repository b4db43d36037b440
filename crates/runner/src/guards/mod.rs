//! Guards: checks that cast doubt on a score, one per file. Each is a pure function of records. Warnings that need other
//! data (strangers, load, steal, a late crowd) are in `verdict`.

mod crowd_limit;
mod few_trials;
mod flood_control;
mod frequency;
mod gc;
mod littles_law;
mod not_durable;
mod outlier;
mod pool_wait;
mod single_start;
mod too_short;
mod trend;
mod unlike_cores;
mod unoptimised;
mod unverified;

use klatch_record::{Record, Warning, WarningKind};

pub use single_start::describe_noise;

/// Warnings about one run.
pub(crate) fn run_warnings(record: &Record) -> Vec<Warning> {
    let all = [
        unoptimised::guard(record),
        unverified::guard(record),
        crowd_limit::guard(record),
        gc::guard(record),
        unlike_cores::guard(record),
        flood_control::guard(record),
        pool_wait::guard(record),
        not_durable::guard(record),
        too_short::guard(record),
    ];
    all.into_iter().flatten().collect()
}

/// A warning if the numbers of a run contradict each other.
pub(crate) fn contradiction(record: &Record) -> Option<Warning> {
    littles_law::guard(record)
}

/// Warnings about the trials of one cell together, which must be in the order of time.
pub fn guard_series(trials: &[&Record]) -> Vec<Warning> {
    let scores: Vec<f64> = trials.iter().map(|record| record.score.messages_per_s).collect();
    [
        few_trials::guard(&scores),
        outlier::guard(&scores),
        trend::guard(&scores),
        frequency::guard(trials),
        single_start::guard(trials),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn warning(kind: WarningKind, message: String, advice: &str) -> Warning {
    Warning { kind, message, advice: advice.to_owned() }
}
