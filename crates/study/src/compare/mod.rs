//! Compares records: two folders of them, a platform with itself (calibration), a run with and without instruments, and
//! servers with the cost of the machine's loopback.

mod calibrate;
mod differences;
mod floor;
mod metrics;
mod pairing;
mod read;
mod records;
mod terms;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use differences::{describe_endless_workload, describe_workload};

pub use calibrate::{CalibrateError, Calibration, calibrate};
pub use floor::{FloorError, FloorHistory, FloorHistoryError, FloorProbe};
pub use read::CompareError;
pub(crate) use read::Starts;
pub use records::compare;
pub use terms::Terms;
