//! Simulated studies: reads a study file, and computes its cells.

mod computer;
mod expand;
mod file;
mod job;
mod sensitivity;
#[cfg(test)]
mod tests;

pub use computer::{SimulatedTrial, Simulator};
pub(crate) use expand::expand;
#[cfg(feature = "schema")]
pub(crate) use file::SimulatedFile;
pub use job::SimulatedJob;
pub use sensitivity::sensitivity;
