//! Results of the instruments, cell by cell.

mod by_cell;
mod decision;
mod flame;
mod jfr;
mod jvm;
mod locks;
mod profile;
mod runqueue;
mod top;
mod wakeups;

use std::collections::BTreeMap;

use klatch_record::{Observation, ObservationData, Support};

use super::subject::Subject;
use crate::model::{Chart, Flame, InstrumentRow};

pub(super) const LEAD: &str = "Means over the observed trials of each cell. Shares with a routine on the stack \
    overlap: the network stack wakes. The table of instruments has their cost.";

/// Largest number of cells in one chart.
const CELLS_MAX: usize = 6;

/// The charts and flame graphs for which there are observations.
pub(super) fn charts(subject: &Subject) -> (Vec<Chart>, Vec<Flame>) {
    let charts = [
        runqueue::lengths,
        runqueue::over_time,
        decision::cost,
        wakeups::latency,
        locks::callers,
        jvm::collection,
        jfr::waits,
    ];
    let others = charts.iter().filter_map(|chart| chart(subject));
    (profile::charts(subject).chain(others).collect(), flame::graphs(subject))
}

/// The data of one instrument from the trials of a cell.
fn data<'a, T>(
    subject: &'a Subject,
    cell: usize,
    select: fn(&'a ObservationData) -> Option<&'a T>,
) -> Vec<&'a T> {
    let observations = subject.trials_of(cell).flat_map(|record| &record.observations);
    observations.filter_map(|one| select(one.data.as_ref()?)).collect()
}

/// The cells with observations that the charts show.
fn drawn_cells(subject: &Subject, has: impl Fn(usize) -> bool) -> Vec<usize> {
    subject.evenly(CELLS_MAX, has)
}

/// One row for each requested instrument.
pub(super) fn rows(subject: &Subject) -> Vec<InstrumentRow> {
    let mut seen: BTreeMap<_, Vec<&Observation>> = BTreeMap::new();
    for one in subject.runs.iter().flat_map(|run| &run.record.observations) {
        seen.entry(one.instrument).or_default().push(one);
    }
    let row = |(name, all): (klatch_record::InstrumentName, Vec<&Observation>)| {
        let shares: Vec<f64> = all.iter().filter_map(|one| one.cost?.share_of_cpu).collect();
        let mean = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        let failure = all.iter().find_map(|one| one.failure.as_ref()).map(|why| format!("no data: {why}"));
        let state = match &all[0].support {
            Support::Usable { base } => format!("by {base}"),
            Support::Fallback { base, why, .. } => format!("by {base}: {why}"),
            Support::NotAvailable { why, .. } => format!("not available: {why}"),
        };
        InstrumentRow {
            name: name.to_string(),
            state: failure.unwrap_or(state),
            runs: all.iter().filter(|one| one.data.is_some()).count() as u32,
            share_of_cpu: mean,
            memory_bytes: all.iter().filter_map(|one| Some(one.cost?.memory_bytes)).max(),
        }
    };
    seen.into_iter().map(row).collect()
}
