//! Waiting time inside the Java of a side, by method.

use klatch_record::ObservationData;

use super::side::{Amounts, about, stacked};
use crate::build::subject::Subject;
use crate::by_side::{Side, per_unit};
use crate::model::Chart;

/// Largest number of methods in the chart.
const TOP: usize = 8;

pub(super) fn waits(subject: &Subject, side: Side) -> Option<Chart> {
    let about = about(
        subject,
        side,
        "java-waits",
        "Waits inside the Java of the {side}, by method",
        "Waits of all its threads together that were long enough to be recorded: for monitors that another thread held, and of \
         virtual threads that kept their carrier (pinned).",
        ["Waiting time", "µs"],
    );
    stacked(subject, about, TOP, |record, data| {
        let ObservationData::Jfr(waits) = data else { return None };
        let waits = side.of(waits)?;
        let monitors = waits.monitors.places.iter().map(|place| {
            let monitor = place.monitor.as_deref().unwrap_or("unknown");
            (format!("{} (monitor of {monitor})", place.method), place)
        });
        let pinned = waits.pinned.places.iter().map(|place| (format!("{} (pinned)", place.method), place));
        let mut amounts = Amounts::new();
        for (name, place) in monitors.chain(pinned) {
            *amounts.entry(name).or_default() += per_unit(record, place.wait_s * 1e6)?;
        }
        Some(amounts)
    })
}
