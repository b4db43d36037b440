//! The table `[search]` of a study file.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::source::{Source, StudyFileError};

/// A search in every cell. It doubles the value until one fails, then halves the gap; a failure counts only when it is
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Search {
    /// Searches the most rooms with a valid run.
    Limit {
        /// First number of rooms.
        rooms_from: u32,
        /// Most rooms to try.
        rooms_max: u32,
    },
    /// Searches the highest rate at which the 99th percentile of latency stays within a limit.
    Knee {
        /// First rate, messages/s of each user.
        rate_from: f64,
        /// Highest rate to try, messages/s of each user.
        rate_max: f64,
        /// Limit of the 99th percentile, milliseconds.
        latency_p99_max_ms: f64,
        /// Number of passes, 1 to 20; the interval is over their results.
        #[serde(default = "default_passes")]
        passes: u32,
    },
}

/// Four passes have a Student's t of 3.2; three would have 4.3 and a wider interval.
fn default_passes() -> u32 {
    4
}

/// Checks the table `[search]`.
///
/// # Errors
/// The range or the limit is empty or infinite.
pub(super) fn search(
    table: Option<Spanned<Search>>,
    source: &Source<'_>,
) -> Result<Option<Search>, StudyFileError> {
    let Some(table) = table else { return Ok(None) };
    let (search, span) = (*table.get_ref(), table.span());
    let error = |message: String| Err(source.error_at(span, message));
    match search {
        Search::Limit { rooms_from, rooms_max } if rooms_from == 0 || rooms_max < rooms_from => {
            error(format!("rooms_from must be 1..=rooms_max, got {rooms_from} and {rooms_max}"))
        }
        Search::Knee { rate_from, rate_max, .. }
            if !(rate_from > 0.0 && rate_from <= rate_max && rate_max.is_finite()) =>
        {
            error(format!("rate_from must be above 0 and at most rate_max, got {rate_from} and {rate_max}"))
        }
        Search::Knee { latency_p99_max_ms, .. }
            if latency_p99_max_ms.is_nan() || latency_p99_max_ms <= 0.0 =>
        {
            error(format!("latency_p99_max_ms must be above 0, got {latency_p99_max_ms}"))
        }
        Search::Knee { passes, .. } if !(1..=20).contains(&passes) => {
            error(format!("passes must be 1..=20, got {passes}"))
        }
        Search::Limit { .. } | Search::Knee { .. } => Ok(Some(search)),
    }
}
