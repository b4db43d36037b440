//! The values that a comparison is made of.

use klatch_record::{Metric, Record};

use crate::compare::read::Read;

/// The trials behind one value: all of one start of the server, or a single trial.
#[derive(Clone, Debug)]
pub(crate) struct Value<'a> {
    /// Number of its first trial. In a study, cells of the same block have the same number.
    pub(crate) number: u32,
    pub(crate) trials: Vec<&'a Record>,
}

impl Value<'_> {
    /// Start of the first trial, RFC 3339 in UTC, which sorts as text.
    pub(crate) fn started_at(&self) -> &str {
        &self.trials[0].started_at
    }

    /// The geometric mean of a metric over its trials; `None` if one trial lacks the metric.
    pub(crate) fn geometric_mean(&self, metric: &Metric) -> Option<f64> {
        let values: Option<Vec<f64>> = self.trials.iter().map(|record| metric.of_record(record)).collect();
        let logs: Vec<f64> = values?.iter().map(|value| value.ln()).collect();
        Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

/// One value for each start of the server. The trials of one start are not independent of each other, as they share its
/// effects.
pub(crate) fn values_by_start(read: &Read) -> Vec<Value<'_>> {
    let mut starts: Vec<(&std::path::Path, Value<'_>)> = Vec::new();
    for (record, folder) in read.records.iter().zip(&read.folders) {
        match starts.iter_mut().find(|(other, _)| other == folder) {
            Some((_, start)) => {
                start.number = start.number.min(record.number);
                start.trials.push(record);
            }
            None => starts.push((folder, Value { number: record.number, trials: vec![record] })),
        }
    }
    starts.into_iter().map(|(_, start)| start).collect()
}

impl Read {
    /// One value for each trial.
    pub(crate) fn values_by_trial(&self) -> Vec<Value<'_>> {
        self.records.iter().map(|record| Value { number: record.number, trials: vec![record] }).collect()
    }
}
