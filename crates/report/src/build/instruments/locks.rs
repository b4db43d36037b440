//! Waiting time for kernel locks, by caller.

use std::collections::BTreeMap;

use klatch_record::ObservationData;
use klatch_record::observed::Locks;

use super::by_cell::About;
use super::data;
use super::top::{Bar, chart};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

/// Largest number of callers in the chart.
const TOP: usize = 8;

fn locks(data: &ObservationData) -> Option<&Locks> {
    match data {
        ObservationData::Locks(locks) => Some(locks),
        _ => None,
    }
}

pub(super) fn callers(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "lock-waits",
        title: "Waiting for locks of the kernel, by caller",
        caption: "Waiting time of all threads in a trial, about: callers are looked up for one wait of some. On a paravirtual \
                  guest a CPU that waits may be halted.",
        y: Axis::linear("Waiting time in a trial", "ms"),
    };
    let bar = |(place, _): (usize, &klatch_record::CellResult)| {
        let all = data(subject, place, locks);
        let mut amounts: BTreeMap<String, f64> = BTreeMap::new();
        for caller in all.iter().flat_map(|one| &one.callers) {
            let name = format!("{} ({})", caller.caller, caller.kind);
            *amounts.entry(name).or_default() += caller.wait_s * 1e3 / all.len() as f64;
        }
        Bar { label: subject.grid.labels[place].clone(), amounts, n: all.len() as u64 }
    };
    chart(about, TOP, &subject.cells().map(bar).collect::<Vec<_>>())
}
