//! Metrics over time: what records and duets of many builds or days say, and since when it is otherwise.

use serde::{Deserialize, Serialize};

use crate::RatioEstimate;

/// The schema name that every history carries in [`History::schema`].
pub const HISTORY_SCHEMA_NAME: &str = "klatch-history/1";

/// Metrics over time. Method: `docs/reference/method.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// The schema of this JSON, always `klatch-history/1`.
    pub schema: String,
    /// Folders and files that were read.
    pub sources: Vec<String>,
    /// Number of runs that count.
    pub runs: u32,
    /// Number of duets that count.
    pub duets: u32,
    /// Probability that a series without a change seems to have one, above 0 and below 1.
    pub significance: f64,
    /// The series: a metric of one subject under one workload, for records on one machine.
    pub series: Vec<HistorySeries>,
    /// Files that were left out, each with the reason.
    pub skipped: Vec<String>,
}

/// A metric over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistorySeries {
    /// What was measured: the platform with its knobs; of duets of two servers, `B against A`.
    pub subject: String,
    /// Crowd and workload.
    pub workload: String,
    /// The machine; `null` for duets, as both sides ran on the same one.
    pub machine: Option<String>,
    /// Name of the metric.
    pub metric: String,
    /// What its values are.
    pub kind: SeriesKind,
    /// The values, in the order of time.
    pub points: Vec<HistoryPoint>,
    /// Number of older points that were left out.
    pub older: u32,
    /// The changes, in the order of time.
    pub changes: Vec<HistoryChange>,
    /// Why no change was looked for; `null` if changes were looked for.
    pub unjudged: Option<String>,
}

/// What the values of a series are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SeriesKind {
    /// Values of records, in the unit of the metric.
    Values,
    /// Ratios of builds to one base, by duets.
    AgainstBase {
        /// Label of the base.
        base: String,
    },
    /// Ratios to the first base: the product of the duets from it on. The base of each duet is a build of another one.
    Chained {
        /// Label of the first base.
        base: String,
    },
    /// Ratios of two servers, by duets.
    Ratios,
}

impl SeriesKind {
    /// Whether the values are ratios.
    pub fn is_ratio(&self) -> bool {
        *self != SeriesKind::Values
    }
}

/// The value of one build or day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPoint {
    /// The build that was measured, by its label or commit; the day, where the records have neither.
    pub label: String,
    /// When its first run or duet began, RFC 3339 in UTC.
    pub at: String,
    /// The geometric mean of its starts or duets.
    pub value: f64,
    /// Number of starts of the server behind it.
    pub starts: u32,
    /// Label of the base of its duet; `null` for records.
    pub base: Option<String>,
    /// The ratio of its duet to that base; `null` for records and for several duets.
    pub step: Option<RatioEstimate>,
    /// The records and duets, by path.
    pub files: Vec<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryChange {
    /// Label of the last point before it; where duets are chained, of the base of its duet.
    pub after: String,
    /// Label of the first point with it.
    pub since: String,
    /// Position of that point in the series, from 0.
    pub at: u32,
    /// The geometric mean until the next change, as a ratio to that from the previous change on; where duets are chained, that of its duet.
    pub ratio: f64,
    /// Lower end of the 95 % interval of the ratio; `null` if the values do not allow one.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
}

impl HistoryChange {
    /// Whether the level itself changed, and not only the scatter: 1 is not in the interval.
    pub fn is_of_level(&self) -> bool {
        !self.low.zip(self.high).is_some_and(|(low, high)| (low..=high).contains(&1.0))
    }
}

/// The JSON Schema of a [`History`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn history_schema() -> String {
    let schema = schemars::schema_for!(History);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}
