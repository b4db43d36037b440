//! CPU time of the threads of a side, by name.

use klatch_record::ObservationData;

use super::side::{about, stacked};
use crate::build::subject::Subject;
use crate::by_side::{Side, per_unit};
use crate::model::Chart;

/// Largest number of names in the chart.
const TOP: usize = 8;

pub(super) fn cpu_time(subject: &Subject, side: Side) -> Option<Chart> {
    let about = about(
        subject,
        side,
        "threads",
        "CPU time of the {side} by thread",
        "Threads of one name together, by the kernel's own count; mean over the trials.",
        ["CPU time", "µs"],
    );
    stacked(subject, about, TOP, |record, data| {
        let ObservationData::Usage(usage) = data else { return None };
        let groups = &side.of(&usage.sides)?.thread_groups;
        groups
            .iter()
            .map(|group| Some((group.name.trim().to_owned(), per_unit(record, group.cpu_s * 1e6)?)))
            .collect()
    })
}
