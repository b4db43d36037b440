//! Metrics over time: reads records and duets of many builds or days, and finds the changes of level.

mod duets;
mod judge;
mod read;
mod series;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use klatch_record::{HISTORY_SCHEMA_NAME, History, Metric};

pub use read::HistoryError;

/// What a history shows.
#[derive(Clone, Debug)]
pub struct HistoryTerms {
    /// The metrics; empty for those of comparisons, in the unit of work of each workload.
    pub metrics: Vec<&'static Metric>,
    /// The order of the points.
    pub order: HistoryOrder,
    /// Most points of a series; older ones are left out.
    pub points_max: usize,
    /// Probability that a series without a change seems to have one, above 0 and below 1.
    pub significance: f64,
}

impl Default for HistoryTerms {
    /// Up to 300 points of a series, as time grows with the square, and a significance of 1 %.
    fn default() -> HistoryTerms {
        HistoryTerms {
            metrics: Vec::new(),
            order: HistoryOrder::default(),
            points_max: 300,
            significance: 0.01,
        }
    }
}

/// The order of builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryOrder {
    /// When they were first measured.
    #[default]
    Time,
    /// The paths of their results: for machines whose clock begins anew at each start, as that of the lab.
    Path,
}

/// The history of all results in these folders and files. Files that are no result of Klatch are passed over; those that cannot be read
/// are left out and named.
///
/// # Errors
/// A path is missing, or there is no result at all.
pub fn history(paths: &[PathBuf], terms: &HistoryTerms) -> Result<History, HistoryError> {
    let found = read::read(paths, terms)?;
    let (runs, duets) = (found.runs.len() as u32, found.duets.len() as u32);
    let mut skipped = found.skipped;
    let mut series = series::of_runs(found.runs, terms);
    series.extend(series::of_floors(found.floors, terms));
    series.extend(duets::of_duets(found.duets, terms, &mut skipped));
    Ok(History {
        schema: HISTORY_SCHEMA_NAME.to_owned(),
        sources: paths.iter().map(|path| path.display().to_string()).collect(),
        runs,
        duets,
        significance: terms.significance,
        series: judge::judged(series, terms),
        skipped,
    })
}
