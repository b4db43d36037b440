//! CPU time of a side by routine: kernel and scheduler (Bryant and Hartner 2000, Figures 4, 10, 13) and the ten
//! busiest kernel routines (Figures 2, 3, 9, 12); the same by instructions and cache misses, on CPUs with counters and in the
//! lab, and by the cycles of a modelled CPU.

use klatch_record::observed::{Profile, ProfiledSide};
use klatch_record::{ObservationData, Record};

use super::by_cell::{chart, mean};
use super::side::{Amounts, about, stacked, trials, words};
use crate::build::subject::Subject;
use crate::by_side::{Others, Side, others};
use crate::model::Chart;
use crate::number::three_digits;

/// Number of routines in the chart.
const TOP: usize = 10;

/// What a profile counts, and the texts of its charts.
pub(super) struct Kind {
    /// The profile, if observations are of this kind.
    pub(super) select: fn(&ObservationData) -> Option<&Profile>,
    /// What is counted, within a sentence.
    pub(super) what: &'static str,
    /// The word for it in the identifiers of flame graphs.
    pub(super) flame_word: &'static str,
    /// The end of the identifiers of charts.
    end: &'static str,
    /// Label and unit of the y axes, and what the caption adds.
    axis: [&'static str; 2],
    /// How it was counted, as a sentence; empty if that needs no word.
    how: &'static str,
    /// Whether it is counted by data as well.
    by_data: bool,
}

/// Every kind of profile, in the order of its charts.
pub(super) const KINDS: [Kind; 4] = [
    Kind {
        select: |data| if let ObservationData::Profile(profile) = data { Some(profile) } else { None },
        what: "CPU time",
        flame_word: "",
        end: "",
        axis: ["CPU time", "µs"],
        how: " Time with interrupts off is counted where they are switched on again.",
        by_data: false,
    },
    Kind {
        select: |data| if let ObservationData::Instructions(profile) = data { Some(profile) } else { None },
        what: "instructions",
        flame_word: "instructions-",
        end: "-instructions",
        axis: ["Instructions", ""],
        how: "",
        by_data: false,
    },
    Kind {
        select: |data| if let ObservationData::CacheMisses(profile) = data { Some(profile) } else { None },
        what: "cache misses",
        flame_word: "misses-",
        end: "-misses",
        axis: ["Misses of the last cache", ""],
        how: " In the lab, misses are those of a model.",
        by_data: true,
    },
    Kind {
        select: |data| if let ObservationData::ModelledCycles(profile) = data { Some(profile) } else { None },
        what: "modelled cycles",
        flame_word: "modelled-",
        end: "-modelled",
        axis: ["Modelled cycles", ""],
        how: " Modelled, not measured: instructions, and cycles for each miss.",
        by_data: true,
    },
];

/// The name of a part and its share.
type Part = (&'static str, fn(&ProfiledSide) -> f64);

/// Parts of the time of a side. Those after the first two overlap.
const PARTS: [Part; 7] = [
    ("programs", |side| 1.0 - side.kernel),
    ("kernel", |side| side.kernel),
    ("scheduler", |side| side.inclusive.scheduler),
    ("wake-up", |side| side.inclusive.wake_up),
    ("network", |side| side.inclusive.network),
    ("locks", |side| side.inclusive.locks),
    ("copying", |side| side.inclusive.copy),
];

/// The charts of a side for every kind of profile for which there are observations.
pub(super) fn charts(subject: &Subject, side: Side) -> impl Iterator<Item = Chart> + '_ {
    KINDS
        .iter()
        .flat_map(move |kind| {
            [parts(subject, side, kind), routines(subject, side, kind), data_chart(subject, side, kind)]
        })
        .flatten()
}

/// What programs and the kernel have, and with the scheduler and other parts on the stack.
fn parts(subject: &Subject, side: Side, kind: &Kind) -> Option<Chart> {
    let id = format!("kernel-share{}", kind.end);
    let title = format!("{} of the {{side}}, in programs and in the kernel", sentence_start(kind.what));
    let caption = format!(
        "Kernel time counts again for each of its parts that is on the stack; the parts overlap.{}",
        kind.how
    );
    let about = about(subject, side, &id, &title, &caption, kind.axis);
    chart(subject, about, |cell| {
        let seen = trials(subject, cell, |record, data| {
            let profile = (kind.select)(data)?;
            Some((side.profiled(record, profile)?, side.of(&profile.sides)?.clone()))
        });
        let value = |(name, share): &Part| {
            Some(((*name).to_owned(), mean(seen.iter().map(|(all, side)| all * share(side)))?))
        };
        (PARTS.iter().filter_map(value).collect(), seen.len() as u64)
    })
}

/// The ten kernel routines with the most of their own.
fn routines(subject: &Subject, side: Side, kind: &Kind) -> Option<Chart> {
    let id = format!("kernel-routines{}", kind.end);
    let title = format!("Kernel routines with the most {} of the {{side}} by themselves", kind.what);
    let caption =
        format!("The top ten. A routine that is not among the ten of a run counts as 0 there.{}", kind.how);
    let about = about(subject, side, &id, &title, &caption, kind.axis);
    top(subject, side, kind, about, |side| {
        side.top_self.iter().map(|one| (one.name.as_str(), one.share)).collect()
    })
}

/// The ten kinds of data with the most misses.
fn data_chart(subject: &Subject, side: Side, kind: &Kind) -> Option<Chart> {
    if !kind.by_data {
        return None;
    }
    let id = format!("missed-data{}", kind.end.trim_start_matches("-misses"));
    let title = match kind.what {
        "cache misses" => "Kinds of data with the most cache misses of the {side}".to_owned(),
        _ => format!("Kinds of data whose misses cost the {{side}} the most {}", kind.what),
    };
    let caption = format!("The top ten, without what instructions miss.{}", kind.how);
    let about = about(subject, side, &id, &title, &caption, kind.axis);
    top(subject, side, kind, about, |side| {
        side.top_data.iter().map(|one| (one.name.as_str(), one.share)).collect()
    })
}

/// A bar for each cell of what has the largest shares.
fn top(
    subject: &Subject,
    side: Side,
    kind: &Kind,
    about: super::by_cell::About,
    named: fn(&ProfiledSide) -> Vec<(&str, f64)>,
) -> Option<Chart> {
    stacked(subject, about, TOP, |record, data| {
        let profile = (kind.select)(data)?;
        let all = side.profiled(record, profile)?;
        let mut amounts = Amounts::new();
        for (name, share) in named(side.of(&profile.sides)?) {
            *amounts.entry(name.to_owned()).or_default() += all * share;
        }
        Some(amounts)
    })
}

/// A sentence about what other programs of the machine used; empty without a profile.
pub(super) fn other_programs(subject: &Subject) -> String {
    let sentence = |kind: &Kind| {
        let of_trial = |record: &Record, data: &ObservationData| others(record, (kind.select)(data)?);
        let seen = subject.cells().flat_map(|(place, _)| trials(subject, place, of_trial));
        let seen: Vec<Others> = seen.collect();
        let amounts = range(seen.iter().map(|one| one.amount), three_digits)?;
        let shares = range(seen.iter().map(|one| one.share * 100.0), |share| format!("{share:.0}"))?;
        let unit = if kind.axis[1].is_empty() { String::new() } else { format!(" {}", kind.axis[1]) };
        let (each, _) = words(subject, Side::Server);
        Some(format!(
            " Other programs are not in the charts: {amounts}{unit} of {} per {each}, {shares} % of all.",
            kind.what
        ))
    };
    KINDS.iter().filter_map(sentence).collect()
}

/// The smallest and the largest of the values: `2.10`, or `2.10 to 4.00`; `None` without any.
fn range(values: impl Iterator<Item = f64>, show: impl Fn(f64) -> String) -> Option<String> {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    let (low, high) = ends?;
    let (low, high) = (show(low), show(high));
    Some(if low == high { low } else { format!("{low} to {high}") })
}

/// The text with a capital letter.
fn sentence_start(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
