//! CPU time by routine: shares of kernel and scheduler (Bryant and Hartner 2000, Figures 4, 10, 13) and the ten
//! busiest kernel routines (Figures 2, 3, 9, 12); the same by instructions and cache misses, on CPUs with counters and in the
//! lab, and by the cycles of a modelled CPU.

use std::collections::BTreeMap;

use klatch_record::ObservationData;
use klatch_record::observed::{Profile, ProfiledSide};

use super::by_cell::{About, chart, mean};
use super::data;
use super::top::{self, Bar};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

/// Number of routines in the chart.
const TOP: usize = 10;

fn profile(data: &ObservationData) -> Option<&Profile> {
    match data {
        ObservationData::Profile(profile) => Some(profile),
        _ => None,
    }
}

fn instructions(data: &ObservationData) -> Option<&Profile> {
    match data {
        ObservationData::Instructions(profile) => Some(profile),
        _ => None,
    }
}

fn cache_misses(data: &ObservationData) -> Option<&Profile> {
    match data {
        ObservationData::CacheMisses(profile) => Some(profile),
        _ => None,
    }
}

fn modelled_cycles(data: &ObservationData) -> Option<&Profile> {
    match data {
        ObservationData::ModelledCycles(profile) => Some(profile),
        _ => None,
    }
}

/// Selects the profiles of one instrument.
type Select = fn(&ObservationData) -> Option<&Profile>;

/// The name of a share of CPU time and its value.
type Part = (&'static str, fn(&ProfiledSide) -> f64);

/// Shares of CPU time in the kernel, and with the scheduler and other parts on the stack.
pub(super) fn shares(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-share",
        title: "CPU time in the kernel, and with its parts on the stack",
        caption: "Share of the samples of the whole machine, without the idle task. The parts overlap.",
        y: Axis::linear("of CPU time", "%"),
    };
    shares_of(subject, about, profile)
}

/// The same by instructions.
pub(super) fn shares_of_instructions(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-share-instructions",
        title: "Instructions in the kernel, and with its parts on the stack",
        caption: "Share of the instructions of the whole machine, without the idle task. The parts overlap.",
        y: Axis::linear("of instructions", "%"),
    };
    shares_of(subject, about, instructions)
}

/// The same by cache misses.
pub(super) fn shares_of_misses(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-share-misses",
        title: "Cache misses in the kernel, and with its parts on the stack",
        caption: "Share of the misses of the last cache, without those of the idle task. The parts overlap.",
        y: Axis::linear("of cache misses", "%"),
    };
    shares_of(subject, about, cache_misses)
}

/// The same by modelled cycles.
pub(super) fn shares_of_cycles(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-share-modelled",
        title: "Modelled cycles in the kernel, and with its parts on the stack",
        caption: "Modelled, not measured: instructions, and cycles for each miss. Without the idle task. The parts overlap.",
        y: Axis::linear("of modelled cycles", "%"),
    };
    shares_of(subject, about, modelled_cycles)
}

fn shares_of(subject: &Subject, about: About, of: Select) -> Option<Chart> {
    const PARTS: [Part; 6] = [
        ("kernel", |side| side.kernel),
        ("scheduler", |side| side.inclusive.scheduler),
        ("wake-up", |side| side.inclusive.wake_up),
        ("network", |side| side.inclusive.network),
        ("locks", |side| side.inclusive.locks),
        ("copying", |side| side.inclusive.copy),
    ];
    chart(subject, about, |cell| {
        let all = data(subject, cell, of);
        let share = |(name, part): &Part| {
            Some(((*name).to_owned(), mean(all.iter().map(|one| part(&one.machine)))? * 100.0))
        };
        (PARTS.iter().filter_map(share).collect(), all.len() as u64)
    })
}

/// The ten kernel routines with the most CPU time of their own.
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

/// The ten kernel routines with the most instructions of their own.
pub(super) fn most_instructions(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines-instructions",
        title: "Ten kernel routines with the most instructions by themselves",
        caption: "Share of the instructions of the whole machine, by the CPU's counter.",
        y: Axis::linear("of instructions", "%"),
    };
    top_ten(subject, about, instructions)
}

/// The ten kernel routines with the most last-level cache misses of their own.
pub(super) fn most_cache_misses(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines-misses",
        title: "Ten kernel routines with the most cache misses by themselves",
        caption: "Share of the misses of the last cache of the whole machine, by the CPU's counter; in the lab those of a model.",
        y: Axis::linear("of cache misses", "%"),
    };
    top_ten(subject, about, cache_misses)
}

/// The ten kernel routines with the most modelled cycles of their own.
pub(super) fn most_cycles(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "kernel-routines-modelled",
        title: "Ten kernel routines with the most modelled cycles by themselves",
        caption: "Share of the cycles of the whole machine; modelled, not measured: instructions, and cycles for each miss.",
        y: Axis::linear("of modelled cycles", "%"),
    };
    top_ten(subject, about, modelled_cycles)
}

fn top_ten(subject: &Subject, about: About, of: Select) -> Option<Chart> {
    let bar = |(place, _): (usize, &klatch_record::CellResult)| {
        let all = data(subject, place, of);
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
