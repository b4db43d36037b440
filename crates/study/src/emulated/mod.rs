//! Studies of the lab: reads a study file, and boots the emulated machine for each trial.

mod computer;
mod expand;
mod here;
#[cfg(test)]
mod tests;

pub use computer::Emulated;
pub use expand::EmulatedStudy;
pub use here::{NothingToBoot, leave_out, prepare};
