//! System calls of a side per message or operation.

use klatch_record::ObservationData;

use super::side::{about, stacked};
use crate::build::subject::Subject;
use crate::by_side::{Side, per_unit};
use crate::model::Chart;

/// Largest number of calls in the chart.
const TOP: usize = 8;

pub(super) fn calls(subject: &Subject, side: Side) -> Option<Chart> {
    let about = about(
        subject,
        side,
        "syscalls",
        "System calls of the {side}",
        "Those most called; mean over the trials.",
        ["System calls", ""],
    );
    stacked(subject, about, TOP, |record, data| {
        let ObservationData::Syscalls(calls) = data else { return None };
        let calls = side.of(calls)?.calls.iter();
        calls.map(|(name, count)| Some((name.clone(), per_unit(record, *count as f64)?))).collect()
    })
}
