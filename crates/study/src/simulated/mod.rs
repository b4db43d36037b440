//! Studies of the simulator: reads a study file, and computes its cells.

mod computer;
mod expand;
mod file;
mod sensitivity;
#[cfg(test)]
mod tests;

pub use computer::{SimulatedTrial, Simulator, simulated_metrics};
pub use expand::{SimulatedJob, load_simulated, shipped_simulated};
pub use file::simulated_study_schema;
pub use sensitivity::sensitivity;
