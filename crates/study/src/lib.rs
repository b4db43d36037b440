//! From a plan to records on disk: starts the server, lets the crowd run under the run rules, watches, judges, writes.

mod assemble;
mod bench;
mod calibrate;
mod compare;
mod crowd;
mod error;
mod execute;
mod folder;
mod guards;
mod plan;
#[cfg(test)]
mod samples;
mod verdict;

pub use calibrate::{CalibrateError, Calibration, calibrate};
pub use compare::{CompareError, Terms, compare};
pub use error::RunError;
pub use execute::{Event, Outcome, execute};
pub use guards::guard_series;
pub use plan::{CrowdKind, Plan, Target, TargetError};
pub use verdict::judge;
