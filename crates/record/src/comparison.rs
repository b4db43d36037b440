//! How B compares with A.

use serde::{Deserialize, Serialize};

/// The schema name that every comparison carries in [`Comparison::schema`].
pub const COMPARISON_SCHEMA_NAME: &str = "klatch-comparison/2";

/// How the records of B compare with those of A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The schema of this JSON, always `klatch-comparison/2`.
    pub schema: String,
    /// The cell that is compared, where both are studies.
    pub cell: Option<String>,
    /// What the ratios are taken of.
    pub a: Side,
    /// What is compared with it.
    pub b: Side,
    /// What is compared of each side.
    pub estimate: Estimator,
    /// How often the intervals hold the true ratio, above 0 and below 1.
    pub confidence: f64,
    /// What one value is.
    pub unit: Unit,
    /// How many of A's values stand in a pair with one of B; `null` if they are not paired.
    pub pairs: Option<u32>,
    /// The metrics, each compared.
    pub metrics: Vec<MetricComparison>,
    /// Other differences between the sides, and what was left out.
    pub caveats: Vec<String>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Its name in texts. The other side has another one.
    pub name: String,
    /// Where its records are.
    pub path: String,
    /// The platform, and what is set about it.
    pub platform: String,
    /// Number of valid trials of this side.
    pub trials: u32,
    /// Starts of the server in which they were made.
    pub starts: u32,
}

/// How the two samples are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// The ratio of geometric means; Student's interval on the logarithms.
    #[default]
    GeometricMean,
    /// The ratio of arithmetic means; bootstrap interval.
    Mean,
    /// The median ratio; interval by ranks.
    Median,
}

/// What one value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The mean of all trials of one start of the server.
    Start,
    /// One trial; there was one start.
    Trial,
}

/// The comparison of one metric over both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricComparison {
    /// Its name in records, with the unit last.
    pub metric: String,
    /// A's values, in the order of time.
    pub a: Vec<f64>,
    /// The values of side B, in the same order and unit.
    pub b: Vec<f64>,
    /// The ratio B / A; `null` if the data do not allow one.
    pub ratio: Option<RatioEstimate>,
    /// The reason why there is no ratio.
    pub absent: Option<String>,
}

/// A ratio, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioEstimate {
    /// The ratio B / A of the means.
    pub estimate: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// The smallest true difference that these runs would show in four cases of five: 0.04 is a ratio of 1.04.
    pub smallest_difference: f64,
}

impl RatioEstimate {
    /// Whether a difference is shown: 1 is not in the interval.
    pub fn shows_difference(&self) -> bool {
        !(self.low..=self.high).contains(&1.0)
    }
}
