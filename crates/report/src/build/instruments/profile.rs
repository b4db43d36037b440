//! Where CPU time went: shares of kernel and scheduler (Bryant and Hartner 2000, Figures 4, 10, 13) and the ten kernel routines
//! with the most of it (Figures 2, 3, 9, 12).

use std::collections::BTreeMap;

use klatch_record::Found;
use klatch_record::observed::{Profile, ProfiledSide};

use super::by_cell::{About, chart, mean};
use super::found;
use crate::build::subject::Subject;
use crate::model::{Axis, Chart, ChartKind, Place, Point};

/// Routines in the chart.
const TOP: usize = 10;

fn profile(found: &Found) -> Option<&Profile> {
    match found {
        Found::Profile(profile) => Some(profile),
        _ => None,
    }
}

/// A part of the CPU time, by name.
type Part = (&'static str, fn(&ProfiledSide) -> f64);

/// Time in the kernel, and with the scheduler and others on the stack.
pub(super) fn shares(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-share",
        title: "CPU time in the kernel, and with its parts on the stack",
        caption: "Share of the samples of the whole machine, without the idle task. The parts overlap.",
        y: Axis::linear("of CPU time", "%"),
    };
    const PARTS: [Part; 6] = [
        ("kernel", |side| side.kernel),
        ("scheduler", |side| side.inclusive.scheduler),
        ("wake-up", |side| side.inclusive.wake_up),
        ("network", |side| side.inclusive.network),
        ("locks", |side| side.inclusive.locks),
        ("copying", |side| side.inclusive.copy),
    ];
    chart(subject, about, |cell| {
        let all = found(subject, cell, profile);
        let share = |(name, of): &Part| {
            Some(((*name).to_owned(), mean(all.iter().map(|one| of(&one.machine)))? * 100.0))
        };
        (PARTS.iter().filter_map(share).collect(), all.len() as u64)
    })
}

/// The ten kernel routines in which most time was spent by themselves.
pub(super) fn top_ten(subject: &Subject) -> Option<Chart> {
    let cells: Vec<_> = subject
        .cells()
        .map(|(place, _)| (place, found(subject, place, profile)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let routines = |all: &[&Profile]| {
        let whole: u64 = all.iter().map(|one| one.machine.samples).sum();
        let mut shares: BTreeMap<String, f64> = BTreeMap::new();
        for routine in all.iter().flat_map(|one| &one.machine.top_self) {
            *shares.entry(routine.name.clone()).or_default() +=
                routine.samples as f64 * 100.0 / whole.max(1) as f64;
        }
        shares
    };
    let by_cell: Vec<_> = cells.iter().map(|(place, all)| (*place, routines(all), all.len())).collect();
    for (name, share) in by_cell.iter().flat_map(|(_, shares, _)| shares) {
        *sums.entry(name).or_default() += share;
    }
    let mut top: Vec<(&str, f64)> = sums.into_iter().collect();
    top.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut points = Vec::new();
    for (place, shares, n) in &by_cell {
        for (name, _) in top.iter().take(TOP) {
            let place = Place::Named(subject.grid.labels[*place].clone());
            let share = shares.get(*name).copied().unwrap_or(0.0);
            points.push(Point { n: Some(*n as u64), ..Point::plain(name, place, share) });
        }
    }
    (!points.is_empty()).then(|| Chart {
        id: "kernel-routines".to_owned(),
        title: "Ten kernel routines with the most CPU time by themselves".to_owned(),
        caption: "Share of the samples of the whole machine. A routine that is not among the ten of a run counts as 0 there. \
                  Time with interrupts off is counted where they are switched on again."
            .to_owned(),
        kind: ChartKind::Stacked,
        x: Axis::words(""),
        y: Axis::linear("of CPU time", "%"),
        points,
        marks: Vec::new(),
    })
}
