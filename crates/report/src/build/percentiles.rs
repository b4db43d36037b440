//! The percentiles of latency that the reader asked for, by cell.

use klatch_record::{LatencyError, Percentiles, latencies_at, samples_needed};

use super::subject::Subject;
use crate::model::PercentileRow;
use crate::read::Source;

/// A row for each cell with latencies and each percentile, from the trials of the cell together.
///
/// # Errors
/// A histogram cannot be read.
pub fn percentile_rows(
    source: &Source,
    percentiles: &Percentiles,
) -> Result<Vec<PercentileRow>, LatencyError> {
    let subject = &Subject::new(source);
    let mut all = Vec::new();
    for (place, cell) in subject.cells() {
        let latencies = subject.trials_of(place).filter_map(|record| record.latency.as_ref());
        let (values, count) = latencies_at(percentiles, latencies)?;
        let label = &subject.grid.labels[place];
        let values = values.into_iter().filter(|_| count > 0);
        let row = |(latency_us, percentile): (Option<f64>, &f64)| PercentileRow {
            cell: label.clone(),
            id: cell.id.clone(),
            percentile: *percentile,
            latency_us,
            samples: count,
            samples_needed: samples_needed(*percentile),
        };
        all.extend(values.zip(percentiles.all()).map(row));
    }
    Ok(all)
}
