//! Studies of the lab: reads a study file, and boots the emulated machine for each trial.

mod computer;
mod expand;
#[cfg(test)]
mod tests;

pub use computer::Emulated;
pub use expand::EmulatedStudy;
