//! Studies of the simulator: reads a study file, and computes its cells.

mod computer;
mod expand;
mod file;
mod job;
mod sensitivity;
#[cfg(test)]
mod tests;

pub use computer::{SimulatedTrial, Simulator, simulated_metrics};
pub use expand::{load_simulated, shipped_simulated};
#[cfg(feature = "schema")]
pub use file::simulated_study_schema;
pub use job::SimulatedJob;
pub use sensitivity::sensitivity;
