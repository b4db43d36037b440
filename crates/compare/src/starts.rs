//! What one value of a comparison is.

use klatch_record::Record;

use crate::read::Read;

/// Trials that make one value: those of one start of the server, or a single one.
#[derive(Clone, Debug)]
pub(crate) struct OneValue<'a> {
    /// The number of its first trial: in a study, the same for the cells of a block.
    pub(crate) number: u32,
    pub(crate) trials: Vec<&'a Record>,
}

impl OneValue<'_> {
    /// When it began, RFC 3339 in UTC, which sorts as text.
    pub(crate) fn started_at(&self) -> &str {
        &self.trials[0].started_at
    }

    /// The geometric mean of its trials; `None` where one has no such number.
    pub(crate) fn of(&self, metric: fn(&Record) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.trials.iter().map(|record| metric(record)).collect();
        let logs: Vec<f64> = values?.iter().map(|value| value.ln()).collect();
        Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}

/// The trials of each start of the server together: trials within one start share what came about at its start, so they
/// are not independent of each other.
pub(crate) fn starts(read: &Read) -> Vec<OneValue<'_>> {
    let mut starts: Vec<(&std::path::Path, OneValue<'_>)> = Vec::new();
    for (record, folder) in read.records.iter().zip(&read.folders) {
        match starts.iter_mut().find(|(other, _)| other == folder) {
            Some((_, start)) => {
                start.number = start.number.min(record.number);
                start.trials.push(record);
            }
            None => starts.push((folder, OneValue { number: record.number, trials: vec![record] })),
        }
    }
    starts.into_iter().map(|(_, start)| start).collect()
}

impl Read {
    /// Each trial on its own.
    pub(crate) fn one_by_one(&self) -> Vec<OneValue<'_>> {
        self.records.iter().map(|record| OneValue { number: record.number, trials: vec![record] }).collect()
    }
}
