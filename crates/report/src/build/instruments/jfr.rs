//! Waiting time inside Java, by method.

use std::collections::BTreeMap;

use klatch_record::ObservationData;
use klatch_record::observed::{JavaWaits, JavaWaitsSide, WaitPlace};

use super::by_cell::About;
use super::data;
use super::top::{Bar, chart};
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

/// Largest number of methods in the chart.
const TOP: usize = 8;

fn jfr(data: &ObservationData) -> Option<&JavaWaits> {
    match data {
        ObservationData::Jfr(waits) => Some(waits),
        _ => None,
    }
}

/// The name of a side and its part of the data.
type Side = (&'static str, fn(&JavaWaits) -> Option<&JavaWaitsSide>);

pub(super) fn waits(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "java-waits",
        title: "Waits inside Java, by method",
        caption: "Waits of all threads together in a trial that were long enough to be recorded: for monitors that another \
                  thread held, and of virtual threads that kept their carrier (pinned).",
        y: Axis::linear("Waiting time in a trial", "ms"),
    };
    let sides: [Side; 2] =
        [("server", |waits| waits.server.as_ref()), ("crowd", |waits| waits.crowd.as_ref())];
    let mut bars = Vec::new();
    for (place, _) in subject.cells() {
        let all = data(subject, place, jfr);
        for (name, side) in sides {
            let seen: Vec<&JavaWaitsSide> = all.iter().filter_map(|waits| side(waits)).collect();
            let label = format!("{}: {name}", subject.grid.labels[place]);
            bars.push(Bar { label, amounts: by_method(&seen), n: seen.len() as u64 });
        }
    }
    chart(about, TOP, &bars)
}

/// Waiting time per trial, ms, by method.
fn by_method(seen: &[&JavaWaitsSide]) -> BTreeMap<String, f64> {
    let mut waits: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |name: String, place: &WaitPlace| {
        *waits.entry(name).or_default() += place.wait_s * 1e3 / seen.len() as f64;
    };
    for side in seen {
        for place in &side.monitors.places {
            let monitor = place.monitor.as_deref().unwrap_or("unknown");
            add(format!("{} (monitor of {monitor})", place.method), place);
        }
        for place in &side.pinned.places {
            add(format!("{} (pinned)", place.method), place);
        }
    }
    waits
}
