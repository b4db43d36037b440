//! Where CPU time went: shares of kernel and scheduler (Bryant and Hartner 2000, Figures 4, 10, 13) and the ten kernel routines
//! with the most of it (Figures 2, 3, 9, 12); the same by instructions and cache misses, where the CPU has counters.

use std::collections::BTreeMap;

use klatch_record::ObservationData;
use klatch_record::observed::{Profile, ProfiledSide};

use super::by_cell::{About, chart, mean};
use super::found;
use super::top::{self, Bar};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

/// Routines in the chart.
const TOP: usize = 10;

fn profile(found: &ObservationData) -> Option<&Profile> {
    match found {
        ObservationData::Profile(profile) => Some(profile),
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
pub(super) fn most_time(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines",
        title: "Ten kernel routines with the most CPU time by themselves",
        caption: "Share of the samples of the whole machine. A routine that is not among the ten of a run counts as 0 there. \
                  Time with interrupts off is counted where they are switched on again.",
        y: Axis::linear("of CPU time", "%"),
    };
    top_ten(subject, about, profile)
}

/// The ten with the most instructions.
pub(super) fn most_instructions(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines-instructions",
        title: "Ten kernel routines with the most instructions by themselves",
        caption: "Share of the samples of the whole machine, taken by the CPU's counter of instructions.",
        y: Axis::linear("of instructions", "%"),
    };
    top_ten(subject, about, |found| match found {
        ObservationData::Instructions(profile) => Some(profile),
        _ => None,
    })
}

/// The ten in which the last cache missed most.
pub(super) fn most_cache_misses(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines-misses",
        title: "Ten kernel routines with the most cache misses by themselves",
        caption: "Share of the samples of the whole machine, taken by the CPU's counter of misses of the last cache.",
        y: Axis::linear("of cache misses", "%"),
    };
    top_ten(subject, about, |found| match found {
        ObservationData::CacheMisses(profile) => Some(profile),
        _ => None,
    })
}

fn top_ten(subject: &Subject, about: About, of: fn(&ObservationData) -> Option<&Profile>) -> Option<Chart> {
    let bar = |(place, _): (usize, &klatch_record::CellResult)| {
        let all = found(subject, place, of);
        let whole: u64 = all.iter().map(|one| one.machine.samples).sum();
        let mut amounts: BTreeMap<String, f64> = BTreeMap::new();
        for routine in all.iter().flat_map(|one| &one.machine.top_self) {
            *amounts.entry(routine.name.clone()).or_default() +=
                routine.samples as f64 * 100.0 / whole.max(1) as f64;
        }
        Bar { label: subject.grid.labels[place].clone(), amounts, n: all.len() as u64 }
    };
    top::chart(about, TOP, &subject.cells().map(bar).collect::<Vec<_>>())
}
