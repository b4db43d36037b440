//! Compares records: two folders of them, a platform with itself (calibration), a run with and without instruments, and
//! servers with the cost of the machine's loopback.

mod by_turns;
mod calibrate;
mod differ;
mod floor;
mod metrics;
mod pair;
mod read;
mod records;
mod starts;
#[cfg(test)]
mod tests;
mod watch_cost;

pub use calibrate::{CalibrateError, Calibration, calibrate};
pub use floor::{FloorError, FloorProbe};
pub use read::CompareError;
pub use records::{Terms, compare};
pub use watch_cost::watch_cost;
