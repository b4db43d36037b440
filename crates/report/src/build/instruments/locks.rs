//! Who waited for locks of the kernel.

use std::collections::BTreeMap;

use klatch_record::Found;
use klatch_record::observed::Locks;

use super::found;
use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// Callers in the chart.
const TOP: usize = 8;

fn locks(found: &Found) -> Option<&Locks> {
    match found {
        Found::Locks(locks) => Some(locks),
        _ => None,
    }
}

pub(super) fn callers(subject: &Subject) -> Option<Chart> {
    // Waiting time per trial, ms, by caller.
    let of_cell = |(place, _): (usize, &klatch_record::CellResult)| {
        let all = found(subject, place, locks);
        let mut waits: BTreeMap<String, f64> = BTreeMap::new();
        for caller in all.iter().flat_map(|one| &one.callers) {
            let name = format!("{} ({})", caller.caller, caller.kind);
            *waits.entry(name).or_default() += caller.wait_s * 1e3 / all.len() as f64;
        }
        (place, waits, all.len() as u64)
    };
    let cells: Vec<_> = subject.cells().map(of_cell).filter(|(_, waits, _)| !waits.is_empty()).collect();
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, wait) in cells.iter().flat_map(|(_, waits, _)| waits) {
        *sums.entry(name).or_default() += wait;
    }
    let mut top: Vec<(&str, f64)> = sums.into_iter().collect();
    top.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut points = Vec::new();
    for (place, waits, n) in &cells {
        for (name, _) in top.iter().take(TOP) {
            let wait = waits.get(*name).copied().unwrap_or(0.0);
            let label = Place::Named(subject.grid.labels[*place].clone());
            points.push(Point { n: Some(*n), ..Point::plain(name, label, wait) });
        }
    }
    (!points.is_empty()).then(|| Chart {
        id: "lock-waits".to_owned(),
        title: "Waiting for locks of the kernel, by caller".to_owned(),
        caption: "Waiting time of all threads in a trial, about: callers are looked up for one wait of some. On a paravirtual \
                  guest a CPU that waits may be halted."
            .to_owned(),
        kind: ChartKind::Stacked,
        x: Axis::words(""),
        y: Axis::linear("Waiting time in a trial", "ms"),
        points,
        marks: Vec::new(),
    })
}
