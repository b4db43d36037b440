//! Latency from wake-up to running.

use klatch_record::ObservationData;
use klatch_record::observed::{SideWakeups, Wakeups};

use super::by_cell::{About, chart, mean};
use super::data;
use super::side::{trials, words};
use crate::build::subject::Subject;
use crate::by_side::{Side, per_unit};
use crate::model::{Axis, Chart, Scale};

fn wakeups(data: &ObservationData) -> Option<&Wakeups> {
    match data {
        ObservationData::Wakeups(wakeups) => Some(wakeups),
        _ => None,
    }
}

pub(super) fn latency(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "wakeup-latency".to_owned(),
        title: "Wake-up latency".to_owned(),
        caption: "Time from waking to running, of the threads of server and crowd; mean over the trials."
            .to_owned(),
        y: Axis::linear("from waking to running", "µs").on(Scale::Log),
    };
    type Percentile = (&'static str, fn(&SideWakeups) -> f64);
    const PERCENTILES: [Percentile; 2] =
        [("p50", |side| side.latency_us.p50), ("p99", |side| side.latency_us.p99)];
    chart(subject, about, |cell| {
        let all = data(subject, cell, wakeups);
        let server: Vec<&SideWakeups> = all.iter().filter_map(|one| one.server.as_ref()).collect();
        let crowd: Vec<&SideWakeups> = all.iter().filter_map(|one| one.crowd.as_ref()).collect();
        let mut numbers = Vec::new();
        for (side, trials) in [("server", server), ("crowd", crowd)] {
            for (name, percentile) in PERCENTILES {
                let value = mean(trials.iter().map(|one| percentile(one)));
                numbers.extend(value.map(|value| (format!("{side} {name}"), value)));
            }
        }
        (numbers, all.len() as u64)
    })
}

/// Wake-ups of both sides, and what they led to.
pub(super) fn events(subject: &Subject) -> Option<Chart> {
    let (each, _) = words(subject, Side::Server);
    let about = About {
        id: "wakeups".to_owned(),
        title: "Wake-ups, preemptions by the woken, and migrations".to_owned(),
        caption: "Of the threads of server and crowd; mean over the trials.".to_owned(),
        y: Axis::linear("Events", &format!("per {each}")),
    };
    type Event = (&'static str, fn(&SideWakeups) -> u64);
    const EVENTS: [Event; 3] = [
        ("wake-ups", |side| side.wakeups),
        ("preemptions", |side| side.preemptions),
        ("migrations", |side| side.migrations),
    ];
    chart(subject, about, |cell| {
        let mut numbers = Vec::new();
        let mut n = 0;
        for side in Side::ALL {
            for (name, count) in EVENTS {
                let seen = trials(subject, cell, |record, data| {
                    per_unit(record, count(side.of(wakeups(data)?)?) as f64)
                });
                n = n.max(seen.len());
                let value = mean(seen.iter().copied());
                numbers.extend(value.map(|value| (format!("{} {name}", words(subject, side).1), value)));
            }
        }
        (numbers, n as u64)
    })
}
