//! The table `[search]` of a study file.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::place::{Source, StudyFileError};

/// What a search looks for. It grows by doubling, then halves the gap; a failure is repeated before it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Search {
    /// The most rooms with a valid run.
    Limit {
        /// Where to begin.
        rooms_from: u32,
        /// Where to stop when nothing fails.
        rooms_max: u32,
    },
    /// The highest rate at which the 99th percentile of latency stays under a limit.
    Knee {
        /// Where to begin, messages/s of each user.
        rate_from: f64,
        /// Where to stop when nothing fails.
        rate_max: f64,
        /// The limit, milliseconds.
        latency_p99_max_ms: f64,
        /// How often it is looked for, 1 to 20; the interval is over these passes.
        #[serde(default = "four")]
        passes: u32,
    },
}

/// With four passes Student's t is 3.2; with three it is 4.3.
fn four() -> u32 {
    4
}

/// The search that the table means.
///
/// # Errors
/// A search that could not end, or has nothing to look for.
pub(super) fn search(
    table: Option<Spanned<Search>>,
    source: &Source<'_>,
) -> Result<Option<Search>, StudyFileError> {
    let Some(table) = table else { return Ok(None) };
    let (search, span) = (*table.get_ref(), table.span());
    let wrong = |message: String| Err(source.wrong(span, message));
    match search {
        Search::Limit { rooms_from, rooms_max } if rooms_from == 0 || rooms_max < rooms_from => {
            wrong(format!("rooms_from must be 1..=rooms_max, got {rooms_from} and {rooms_max}"))
        }
        Search::Knee { rate_from, rate_max, .. }
            if !(rate_from > 0.0 && rate_from <= rate_max && rate_max.is_finite()) =>
        {
            wrong(format!("rate_from must be above 0 and at most rate_max, got {rate_from} and {rate_max}"))
        }
        Search::Knee { latency_p99_max_ms, .. }
            if latency_p99_max_ms.is_nan() || latency_p99_max_ms <= 0.0 =>
        {
            wrong(format!("latency_p99_max_ms must be above 0, got {latency_p99_max_ms}"))
        }
        Search::Knee { passes, .. } if !(1..=20).contains(&passes) => {
            wrong(format!("passes must be 1..=20, got {passes}"))
        }
        Search::Limit { .. } | Search::Knee { .. } => Ok(Some(search)),
    }
}
