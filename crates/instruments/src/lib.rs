//! What is observed beside the score: what processes used, and where a run ran.

mod environment;
mod machine_time;
mod usage;

pub use environment::{clock_name, environment, host_name};
pub use machine_time::MachineTime;
pub use usage::{Snapshot, WatchError};
