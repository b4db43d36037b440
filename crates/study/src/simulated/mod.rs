//! Simulated studies: reads a study file, and computes its cells.

mod computer;
mod expand;
mod file;
mod job;
mod sensitivity;
#[cfg(test)]
mod tests;

pub use computer::{SimulatedTrial, Simulator};
#[cfg(feature = "schema")]
pub(crate) use file::SimulatedFile;
pub use job::SimulatedJob;
pub use sensitivity::sensitivity;
