//! The scheduler policies as safe functions over the C headers in `include/`, which the BPF schedulers include too. The headers have
//! the rules for one or two tasks: goodness, slices, charges, ends of queues, preemption. Queues and the walks over them are
//! written for each side. The simulator's `replay_tests` give both sides the same events, and compare their decisions.
//!
//! A policy examines tasks and counts what it examined. It has no clock, lock or cost.

pub mod goodness;
mod list;
pub mod multiqueue;
pub mod o1;
pub mod sleepers;

pub use list::{Links, List, Skip, TaskId};
