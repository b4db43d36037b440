//! The percentiles of latency that the reader asked for, by cell.

use klatch_record::{Percentiles, latencies_at, samples_needed};

use super::subject::Subject;
use crate::model::PercentileRow;
use crate::read::Source;

/// A row for each cell with latencies and each percentile, from the trials of the cell together.
pub fn percentile_rows(source: &Source, percentiles: &Percentiles) -> Vec<PercentileRow> {
    let subject = &Subject::new(source);
    let rows = |(place, id): (usize, String)| {
        let latencies = subject.trials_of(place).filter_map(|record| record.latency.as_ref());
        let (values, count) = latencies_at(percentiles, latencies).unwrap_or_default();
        let label = &subject.grid.labels[place];
        let values = values.into_iter().filter(|_| count > 0);
        let row = |(latency_us, percentile): (Option<f64>, &f64)| PercentileRow {
            cell: label.clone(),
            id: id.clone(),
            percentile: *percentile,
            latency_us,
            samples: count,
            samples_needed: samples_needed(*percentile),
        };
        values.zip(percentiles.all()).map(row).collect::<Vec<_>>()
    };
    subject.cells().map(|(place, cell)| (place, cell.id.clone())).flat_map(rows).collect()
}
