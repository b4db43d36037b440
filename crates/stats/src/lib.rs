//! Estimates, intervals and comparisons: numbers in, numbers out. What is used, why, and what is not claimed:
//! `docs/reference/method.md`.
//!
//! Samples are throughputs, times and costs: numbers above 0 of which a few are at hand. So intervals are Student's t,
//! and what is compared is a ratio, whose scatter is the same in both directions on a logarithmic scale.

mod best;
mod bootstrap;
mod chance;
mod error;
mod fit;
mod interval;
mod outlier;
mod rank;
mod ratio;
mod sequential;
mod summary;
mod t;
mod trend;

pub use best::{Best, best};
pub use bootstrap::ratio_of_means;
pub use chance::chance_difference;
pub use error::StatsError;
pub use fit::{LinearFit, linear_fit};
pub use interval::{Interval, mean_interval};
pub use outlier::outlier;
pub use rank::ratio_of_medians;
pub use ratio::{Design, POWER, Ratio, Sample, ratio_of_geometric_means};
pub use sequential::{Look, Sequential, stopped_interval};
pub use summary::{Summary, median, summary};
pub use trend::trend;
