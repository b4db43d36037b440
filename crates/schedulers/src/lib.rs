//! Kernel schedulers that can be loaded: those of the papers, as sched_ext programs, one folder each.

#[cfg(test)]
mod cases;
mod catalog;
mod error;
mod load;
mod observed;
mod state;
mod wish;
mod words;

pub use catalog::{Knob, Scheduler, Stat, all, find};
pub use error::SchedulerError;
pub use load::Loaded;
pub use observed::running;
pub use state::{EXIT_STALL, State, exit_kind, state};
pub use wish::Wish;
