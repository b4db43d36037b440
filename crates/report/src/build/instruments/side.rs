//! Charts of one side: amounts per message or operation, by name.

use std::collections::BTreeMap;

use klatch_record::{ObservationData, Record};

use super::by_cell::About;
use super::top::{Bar, chart};
use crate::build::subject::Subject;
use crate::by_side::Side;
use crate::model::{Axis, Chart};

/// Amounts of one trial by name, per message or operation.
pub(super) type Amounts = BTreeMap<String, f64>;

/// A stacked bar for each cell with data of the side: the mean of its trials, at most `most` names.
pub(super) fn stacked(
    subject: &Subject,
    about: About,
    most: usize,
    amounts: impl Fn(&Record, &ObservationData) -> Option<Amounts>,
) -> Option<Chart> {
    let bar = |(place, _)| {
        let seen = trials(subject, place, &amounts);
        Bar { label: subject.grid.labels[place].clone(), amounts: mean(&seen), n: seen.len() as u64 }
    };
    chart(about, most, &subject.cells().map(bar).collect::<Vec<_>>())
}

/// The results of `select` for the trials of a cell that have the data.
pub(super) fn trials<T>(
    subject: &Subject,
    cell: usize,
    select: impl Fn(&Record, &ObservationData) -> Option<T>,
) -> Vec<T> {
    let of_trial = |record: &Record| {
        let data = |one: &klatch_record::Observation| select(record, one.data.as_ref()?);
        record.observations.iter().find_map(data)
    };
    subject.trials_of(cell).filter_map(of_trial).collect()
}

/// The means of the amounts. A name that a trial does not have counts as 0 there.
fn mean(trials: &[Amounts]) -> Amounts {
    let mut means = Amounts::new();
    for (name, amount) in trials.iter().flatten() {
        *means.entry(name.clone()).or_default() += amount / trials.len() as f64;
    }
    means
}

/// The texts and the axis of a chart of one side. `unit` is that of the amounts, such as `µs`.
pub(super) fn about(
    subject: &Subject,
    side: Side,
    id: &str,
    title: &str,
    caption: &str,
    [label, unit]: [&str; 2],
) -> About {
    let (each, name) = words(subject, side);
    let fill = |text: &str| text.replace("{side}", name).replace("{each}", each);
    let unit = if unit.is_empty() { format!("per {each}") } else { format!("{unit} per {each}") };
    About {
        id: format!("{id}-{}", side.word()),
        title: fill(title),
        caption: fill(caption),
        y: Axis::linear(&fill(label), &unit),
    }
}

/// The unit of the work and the name of a side, by the first run.
pub(super) fn words(subject: &Subject, side: Side) -> (&str, &'static str) {
    let first = subject.runs.first();
    (first.map_or("message", |run| run.record.unit()), first.map_or("server", |run| side.name(&run.record)))
}
