//! Estimates, intervals and comparisons: numbers in, numbers out. Methods, reasons and limits:
//! `docs/reference/method.md`.
//!
//! Samples are throughputs, times and costs: positive numbers, and few of them. So intervals are Student's t,
//! and comparisons are ratios, whose scatter is the same in both directions on a logarithmic scale.

mod batch;
mod best;
mod bootstrap;
mod chance;
mod change;
mod differences;
mod error;
mod fit;
mod forecast;
mod interval;
mod outlier;
mod rank;
mod ratio;
mod sequential;
mod summary;
mod t;
mod trend;

pub use batch::{BatchMean, batch_mean};
pub use best::{Best, best};
pub use bootstrap::ratio_of_means;
pub use chance::chance_difference;
pub use change::{Change, changes};
pub use differences::{Difference, Row, differences};
pub use error::StatsError;
pub use fit::{LinearFit, linear_fit};
pub use forecast::{least_scatter, pairs_needed, resolution};
pub use interval::{Interval, mean_interval};
pub use outlier::outlier;
pub use rank::ratio_of_medians;
pub use ratio::{Design, POWER, Ratio, Sample, ratio_of_geometric_means, ratio_of_log};
pub use sequential::{Sequential, StopDecision, stopped_interval};
pub use summary::{Summary, median, summary};
pub use trend::trend;
