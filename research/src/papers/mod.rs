//! The table of the published results, and its page. The files in `papers/` hold all rows; this module adds no number to them.

mod check;
mod data;
mod numbers;
mod page;
mod ratio;

pub use check::faults;
pub use data::{BandVerdict, Paper, PapersError, SimulatedResult, commands, load, simulated_results};
pub use page::page;
