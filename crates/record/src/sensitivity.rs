//! Which claims of a simulated study hold with every cost at both ends of its range.

use serde::{Deserialize, Serialize};

use crate::ResultKind;

/// The claims of a simulated study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// How the ratios were obtained: always `simulated`.
    pub kind: ResultKind,
    /// The metric that the claims are about.
    pub metric: String,
    /// Number of costs that were moved to both ends of their ranges, one at a time.
    pub costs: u32,
    /// One claim for each pair of cells.
    pub claims: Vec<Claim>,
}

/// The ratio of two cells that differ in one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The values that both cells share, with the names of their axes.
    pub at: String,
    /// The value of the cell above the line.
    pub value: String,
    /// The value of the cell below the line.
    pub base: String,
    /// The ratio with the costs as they are, over all seeds.
    pub ratio: f64,
    /// The lowest ratio over all costs.
    pub low: f64,
    /// The cost that gives the lowest ratio, with its value; empty if that is the ratio itself.
    pub low_with: String,
    /// The highest ratio over all costs.
    pub high: f64,
    /// The cost that gives the highest ratio, with its value.
    pub high_with: String,
}

impl Claim {
    /// Whether the ratio is on the same side of 1 with every cost.
    pub fn is_shown(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The claim in words: `8 CPUs over 4 CPUs, o1`.
    pub fn name(&self) -> String {
        let at = if self.at.is_empty() { String::new() } else { format!(", {}", self.at) };
        format!("{} over {}{at}", self.value, self.base)
    }
}
