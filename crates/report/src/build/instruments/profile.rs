//! CPU time by routine: shares of kernel and scheduler (Bryant and Hartner 2000, Figures 4, 10, 13) and the ten
//! busiest kernel routines (Figures 2, 3, 9, 12); the same by instructions and cache misses, on CPUs with counters and in the
//! lab, and by the cycles of a modelled CPU.

use std::collections::BTreeMap;

use klatch_record::observed::{Profile, ProfiledSide};
use klatch_record::{ObservationData, saturating_sum};

use super::by_cell::{About, chart, mean};
use super::data;
use super::top::{self, Bar};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

/// Number of routines in the chart.
const TOP: usize = 10;

/// Identifier, title and caption of a chart.
type Texts = [&'static str; 3];

/// What a profile counts, and the texts of its charts.
pub(super) struct Kind {
    /// The profile, if observations are of this kind.
    pub(super) select: fn(&ObservationData) -> Option<&Profile>,
    /// What is counted, within a sentence.
    pub(super) what: &'static str,
    /// The word for it in the identifiers of flame graphs.
    pub(super) flame_word: &'static str,
    /// Label of the y axes.
    share: &'static str,
    /// The chart of the shares of the kernel and its parts.
    shares: Texts,
    /// The chart of the ten kernel routines with most of it.
    routines: Texts,
    /// The chart of the ten kinds of data with most of it, if it is counted by data.
    data: Option<Texts>,
}

/// Every kind of profile, in the order of its charts.
pub(super) const KINDS: [Kind; 4] = [
    Kind {
        select: |data| if let ObservationData::Profile(profile) = data { Some(profile) } else { None },
        what: "CPU time",
        flame_word: "",
        share: "of CPU time",
        shares: [
            "kernel-share",
            "CPU time in the kernel, and with its parts on the stack",
            "Share of the samples of the whole machine, without the idle task. The parts overlap.",
        ],
        routines: [
            "kernel-routines",
            "Ten kernel routines with the most CPU time by themselves",
            "Share of the samples of the whole machine. A routine that is not among the ten of a run counts as 0 there. \
             Time with interrupts off is counted where they are switched on again.",
        ],
        data: None,
    },
    Kind {
        select: |data| if let ObservationData::Instructions(profile) = data { Some(profile) } else { None },
        what: "instructions",
        flame_word: "instructions-",
        share: "of instructions",
        shares: [
            "kernel-share-instructions",
            "Instructions in the kernel, and with its parts on the stack",
            "Share of the instructions of the whole machine, without the idle task. The parts overlap.",
        ],
        routines: [
            "kernel-routines-instructions",
            "Ten kernel routines with the most instructions by themselves",
            "Share of the instructions of the whole machine, by the CPU's counter.",
        ],
        data: None,
    },
    Kind {
        select: |data| if let ObservationData::CacheMisses(profile) = data { Some(profile) } else { None },
        what: "cache misses",
        flame_word: "misses-",
        share: "of cache misses",
        shares: [
            "kernel-share-misses",
            "Cache misses in the kernel, and with its parts on the stack",
            "Share of the misses of the last cache, without those of the idle task. The parts overlap.",
        ],
        routines: [
            "kernel-routines-misses",
            "Ten kernel routines with the most cache misses by themselves",
            "Share of the misses of the last cache of the whole machine, by the CPU's counter; in the lab those of a model.",
        ],
        data: Some([
            "missed-data",
            "Ten kinds of data with the most cache misses",
            "Share of the misses of the last cache of the whole machine, which include those of instructions; of a model.",
        ]),
    },
    Kind {
        select: |data| if let ObservationData::ModelledCycles(profile) = data { Some(profile) } else { None },
        what: "modelled cycles",
        flame_word: "modelled-",
        share: "of modelled cycles",
        shares: [
            "kernel-share-modelled",
            "Modelled cycles in the kernel, and with its parts on the stack",
            "Modelled, not measured: instructions, and cycles for each miss. Without the idle task. The parts overlap.",
        ],
        routines: [
            "kernel-routines-modelled",
            "Ten kernel routines with the most modelled cycles by themselves",
            "Share of the cycles of the whole machine; modelled, not measured: instructions, and cycles for each miss.",
        ],
        data: Some([
            "missed-data-modelled",
            "Ten kinds of data whose misses cost the most modelled cycles",
            "Share of the cycles of the whole machine; modelled, not measured.",
        ]),
    },
];

/// The name of a share and its value.
type Part = (&'static str, fn(&ProfiledSide) -> f64);

/// The charts of every kind of profile for which there are observations.
pub(super) fn charts(subject: &Subject) -> impl Iterator<Item = Chart> + '_ {
    KINDS
        .iter()
        .flat_map(|kind| [shares(subject, kind), routines(subject, kind), data_chart(subject, kind)])
        .flatten()
}

fn about(kind: &Kind, [id, title, caption]: Texts) -> About {
    About { id, title, caption, y: Axis::linear(kind.share, "%") }
}

/// Shares in the kernel, and with the scheduler and other parts on the stack.
fn shares(subject: &Subject, kind: &Kind) -> Option<Chart> {
    const PARTS: [Part; 6] = [
        ("kernel", |side| side.kernel),
        ("scheduler", |side| side.inclusive.scheduler),
        ("wake-up", |side| side.inclusive.wake_up),
        ("network", |side| side.inclusive.network),
        ("locks", |side| side.inclusive.locks),
        ("copying", |side| side.inclusive.copy),
    ];
    chart(subject, about(kind, kind.shares), |cell| {
        let all = data(subject, cell, kind.select);
        let share = |(name, part): &Part| {
            Some(((*name).to_owned(), mean(all.iter().map(|one| part(&one.machine)))? * 100.0))
        };
        (PARTS.iter().filter_map(share).collect(), all.len() as u64)
    })
}

/// The ten kernel routines with the most of their own.
fn routines(subject: &Subject, kind: &Kind) -> Option<Chart> {
    top_chart(subject, kind, kind.routines, |side| {
        side.top_self.iter().map(|one| (one.name.as_str(), one.samples)).collect()
    })
}

/// The ten kinds of data with the most misses.
fn data_chart(subject: &Subject, kind: &Kind) -> Option<Chart> {
    top_chart(subject, kind, kind.data?, |side| {
        side.top_data.iter().map(|one| (one.name.as_str(), one.samples)).collect()
    })
}

/// A bar for each cell of what has the most samples.
fn top_chart(
    subject: &Subject,
    kind: &Kind,
    texts: Texts,
    named: fn(&ProfiledSide) -> Vec<(&str, u64)>,
) -> Option<Chart> {
    let bar = |(place, _): (usize, &klatch_record::CellResult)| {
        let all = data(subject, place, kind.select);
        let whole = saturating_sum(all.iter().map(|one| one.machine.samples));
        let mut amounts: BTreeMap<String, f64> = BTreeMap::new();
        for (name, samples) in all.iter().flat_map(|one| named(&one.machine)) {
            *amounts.entry(name.to_owned()).or_default() += samples as f64 * 100.0 / whole.max(1) as f64;
        }
        Bar { label: subject.grid.labels[place].clone(), amounts, n: all.len() as u64 }
    };
    top::chart(about(kind, texts), TOP, &subject.cells().map(bar).collect::<Vec<_>>())
}
