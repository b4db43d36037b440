//! Published results of 2000 to 2005 beside Klatch's: their table, its page, and the simulations that predict them.
//!
//! The files in `papers/` are the table. Everything else is computed from them or compared with them.

mod calibrate;
mod command;
mod costs;
mod papers;
mod simulated;
mod speed;

pub use command::{command_line, main};
pub use costs::NotFrozen;
pub use papers::{
    BandVerdict, Paper, PapersError, SimulatedResult, commands, faults, load, page, simulated_results,
};
pub use simulated::{Computed, simulate_all};
