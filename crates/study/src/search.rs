//! A search, as a study file describes it and as its cells run it.

use serde::Deserialize;

/// A search in every cell. It doubles the value until one fails, then halves the gap; a failure counts only when it is
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Search {
    /// Searches the most rooms, connections, lines or readers, or the largest injection rate, with a valid run; lines with a speed must
    /// all conform, and `orders` must have a TOPS.
    #[cfg_attr(feature = "schema", schemars(transform = crate::search_schema::add_aliases))]
    Limit {
        /// First number of parties; of `orders`, first injection rate.
        #[serde(
            alias = "connections_from",
            alias = "lines_from",
            alias = "readers_from",
            alias = "rate_from"
        )]
        rooms_from: u32,
        /// Most parties to try; of `orders`, largest injection rate.
        #[serde(alias = "connections_max", alias = "lines_max", alias = "readers_max", alias = "rate_max")]
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
