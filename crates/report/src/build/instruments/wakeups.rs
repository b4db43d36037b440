//! Latency from wake-up to running.

use klatch_record::ObservationData;
use klatch_record::observed::{SideWakeups, Wakeups};

use super::by_cell::{About, chart, mean};
use super::data;
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

fn wakeups(data: &ObservationData) -> Option<&Wakeups> {
    match data {
        ObservationData::Wakeups(wakeups) => Some(wakeups),
        _ => None,
    }
}

pub(super) fn latency(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "wakeup-latency",
        title: "Wake-up latency",
        caption: "Time from waking to running, of the threads of server and crowd; mean over the trials.",
        y: Axis::linear("from waking to running", "µs"),
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
