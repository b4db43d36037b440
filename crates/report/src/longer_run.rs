//! The runs that would make a wide interval narrow.

use klatch_record::{Estimate, Metric, Record};

use crate::model::Report;

/// Half the width of an interval, as a share of the mean, above which more runs are needed.
const WIDE: f64 = 0.05;
/// Trials above which more of them take too long.
const TRIALS_MAX: u32 = 20;

/// What would make an interval narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongerRun {
    /// As many starts of the server. Trials of one start share whatever happened when it started.
    Starts(u32),
    /// As many trials.
    Trials(u32),
}

/// What would make the interval of runs of one start of a server narrow; `None` if it is, or if there are many trials.
pub fn longer_run(report: &Report, records: &[Record]) -> Option<LongerRun> {
    let estimate = |metric: &Metric| report.cells.iter().find_map(|cell| cell.estimates.get(metric.name));
    let [[operations, cpu_of_operations], [messages, cpu]] = [true, false].map(Metric::of_score);
    // Others disturb CPU time less than the throughput.
    let decides = [cpu_of_operations, cpu, operations, messages];
    let wide = decides.into_iter().find_map(estimate).is_some_and(is_wide);
    let trials =
        records.first().and_then(|record| record.options.as_ref()).map_or(0, |options| options.trials);
    let is_study = report.cells.first().is_some_and(|cell| cell.trials >= 2) && has_platform(records);
    match wide && trials < TRIALS_MAX {
        true if is_study => Some(LongerRun::Starts(5)),
        true => Some(LongerRun::Trials((trials * 2).max(5))),
        false => None,
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
