//! The scheduler policies as safe functions over the C headers in `include/`. The BPF schedulers include the same headers, so the
//! same lines decide here and in the kernel.
//!
//! A policy examines tasks and counts what it examined. It has no clock, lock or cost.

pub mod goodness;
mod list;
pub mod multiqueue;
pub mod o1;
pub mod sleepers;

pub use list::{Links, List, Skip, TaskId};
