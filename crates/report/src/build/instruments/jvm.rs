//! Share of time in garbage collection.

use klatch_record::ObservationData;
use klatch_record::observed::Jvm;

use super::by_cell::{About, chart, mean};
use super::data;
use crate::build::subject::Subject;
use crate::model::{Axis, Chart};

fn jvm(data: &ObservationData) -> Option<&Jvm> {
    match data {
        ObservationData::Jvm(jvm) => Some(jvm),
        _ => None,
    }
}

pub(super) fn collection(subject: &Subject) -> Option<Chart> {
    let about = About {
        id: "gc-share".to_owned(),
        title: "Time in garbage collection".to_owned(),
        caption: "Share of the observed time, by the JVM's own counters; mean over the trials.".to_owned(),
        y: Axis::linear("of the time", "%"),
    };
    chart(subject, about, |cell| {
        let all = data(subject, cell, jvm);
        let server = mean(all.iter().filter_map(|one| Some(one.server.as_ref()?.gc_share * 100.0)));
        let crowd = mean(all.iter().filter_map(|one| Some(one.crowd.as_ref()?.gc_share * 100.0)));
        let named = |name: &str, value: Option<f64>| value.map(|value| (name.to_owned(), value));
        (named("server", server).into_iter().chain(named("crowd", crowd)).collect(), all.len() as u64)
    })
}
