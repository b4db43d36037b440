//! Loadable kernel schedulers: those of the papers, as sched_ext programs, one folder each.

#[cfg(test)]
mod case_tests;
mod catalog;
mod counters;
mod error;
pub mod libbpf_log;
mod load;
mod per_cpu;
pub mod policies;
#[cfg(feature = "samples")]
pub mod samples;
mod spec;
mod state;

pub use catalog::{Knob, Scheduler, Stat, all, find};
pub use counters::running;
pub use error::SchedulerError;
pub use load::{Loaded, check_free};
pub use per_cpu::{per_cpu_numbers, possible_cpus};
pub use spec::{OwnScheduler, SchedulerProgram, SchedulerSpec};
pub use state::{EXIT_STALL, SchedExtState, exit_kind, sched_ext_state};
