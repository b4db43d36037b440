//! What speaks against a score: one guard a file, each a pure function of records. The guards that need what is not in a
//! record (strangers, load, steal, a late crowd) are in `verdict`.

mod crowd_limit;
mod few_trials;
mod frequency;
mod gc;
mod littles_law;
mod lucky_cells;
mod one_start;
mod outlier;
mod too_short;
mod trend;

use klatch_record::{Record, Status, Warning, WarningKind};

pub(crate) use lucky_cells::guard as guard_cells;
pub(crate) use one_start::floor;

/// Adds the warnings of one run to its record. A valid score that contradicts itself becomes `unknown`.
pub(crate) fn guard_run(record: &mut Record) {
    record.warnings.extend(crowd_limit::guard(record));
    record.warnings.extend(gc::guard(record));
    record.warnings.extend(too_short::guard(record));
    if let Some(warning) = littles_law::guard(record) {
        if record.verdict.status == Status::Valid {
            record.verdict.status = Status::Unknown;
            record.verdict.reasons.push(warning.message.clone());
        }
        record.warnings.push(warning);
    }
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
