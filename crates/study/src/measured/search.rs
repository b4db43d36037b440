//! The table `[search]` of a study file.

use toml::Spanned;

use crate::file::{StudyFile, StudyFileError};
use crate::search::Search;

/// Checks the table `[search]`.
///
/// # Errors
/// The range or the limit is empty or infinite.
pub(super) fn search(
    table: Option<Spanned<Search>>,
    source: &StudyFile,
) -> Result<Option<Search>, StudyFileError> {
    let Some(table) = table else { return Ok(None) };
    let (search, span) = (*table.get_ref(), table.span());
    let error = |message: String| Err(source.error_at(span, message));
    match search {
        Search::Limit { rooms_from, rooms_max } if rooms_from == 0 || rooms_max < rooms_from => {
            error(format!("rooms_from must be 1 to rooms_max, got {rooms_from} and {rooms_max}"))
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
            error(format!("passes must be 1 to 20, got {passes}"))
        }
        Search::Limit { .. } | Search::Knee { .. } => Ok(Some(search)),
    }
}
