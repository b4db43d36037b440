//! Waiting time of a side for kernel locks, by caller.

use klatch_record::ObservationData;
use klatch_record::observed::Waiter;

use super::side::{Amounts, about, stacked};
use crate::build::subject::Subject;
use crate::by_side::{Side, per_unit};
use crate::model::Chart;

/// Largest number of callers in the chart.
const TOP: usize = 8;

pub(super) fn callers(subject: &Subject, side: Side) -> Option<Chart> {
    let about = about(
        subject,
        side,
        "lock-waits",
        "Waits of the {side} for locks of the kernel, by caller",
        "Waiting time of all its threads together, about: callers are looked up for one wait of some. On a paravirtual guest a CPU \
         that waits may be halted.",
        ["Waiting time", "µs"],
    );
    let waiter = match side {
        Side::Server => Waiter::Server,
        Side::Crowd => Waiter::Crowd,
    };
    stacked(subject, about, TOP, |record, data| {
        let ObservationData::Locks(locks) = data else { return None };
        let mut amounts = Amounts::new();
        for caller in locks.callers.iter().filter(|caller| caller.waiter == waiter) {
            let name = format!("{} ({})", caller.caller, caller.kind);
            *amounts.entry(name).or_default() += per_unit(record, caller.wait_s * 1e6)?;
        }
        Some(amounts)
    })
}
