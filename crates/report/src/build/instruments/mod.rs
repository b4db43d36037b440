//! Results of the instruments, cell by cell.

mod by_cell;
mod decision;
pub(super) mod flame;
mod jfr;
mod jvm;
mod locks;
mod profile;
mod runqueue;
mod side;
mod syscalls;
mod threads;
mod top;
mod wakeups;

use std::collections::BTreeMap;

use klatch_record::{Observation, ObservationData, Support};

use super::subject::Subject;
use crate::by_side::Side;
use crate::model::{Chart, Flame, InstrumentRow, Section};

const LEAD: &str = "Means over the observed trials of each cell. The table of instruments has their cost.";

/// Largest number of cells in one chart.
const CELLS_MAX: usize = 6;

/// The sections for which there are observations: the server, then the crowd, then what is not of one side.
pub(super) fn sections(subject: &Subject) -> Vec<Section> {
    let mut lead = Some(LEAD.to_owned() + &profile::other_programs(subject));
    let mut sections = Vec::new();
    let mut add = |id: &str, title: String, charts: Vec<Chart>, flames: Vec<Flame>| {
        if !charts.is_empty() || !flames.is_empty() {
            sections.push(Section {
                id: id.to_owned(),
                title,
                lead: lead.take(),
                tables: Vec::new(),
                charts,
                flames,
            });
        }
    };
    for (id, side) in [("why", Side::Server), ("why-crowd", Side::Crowd)] {
        let title = format!("Why: the {}", side::words(subject, side).1);
        add(id, title, side_charts(subject, side), Vec::new());
    }
    let charts = [
        wakeups::latency,
        wakeups::events,
        jvm::collection,
        runqueue::lengths,
        runqueue::over_time,
        decision::cost,
    ];
    let charts = charts.iter().filter_map(|chart| chart(subject)).collect();
    add("why-machine", "Why: scheduler and call stacks".to_owned(), charts, flame::graphs(subject));
    sections
}

/// The charts of one side.
fn side_charts(subject: &Subject, side: Side) -> Vec<Chart> {
    let charts = [threads::cpu_time, syscalls::calls, locks::callers, jfr::waits];
    let others = charts.iter().filter_map(|chart| chart(subject, side));
    profile::charts(subject, side).chain(others).collect()
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
