//! Counters of an emulated machine: instructions and cache misses by routine and process.
//!
//! [`PLUGIN`] is a plugin of QEMU, which the lab loads. It counts every instruction that the machine executes, passes every access
//! to memory through a model of caches, and follows the calls of every task. [`Counters`] is the other side: a process of the
//! machine opens, closes and reads the counters, as it would those of a CPU.
//!
//! Counts are exact and equal from run to run, because nothing is sampled and the machine's clock counts instructions. The caches
//! are a model: no result here is a measurement of a real CPU.

#[cfg(test)]
mod caches_tests;
mod channel;
mod counts;
mod data;
mod error;
mod hardware;
mod kernel;
mod meter;
mod task_struct;

pub use counts::{Counts, DataCounts, Event, Events, Node, Place, Process};
pub use error::{CountersError, HardwareError};
pub use hardware::{Cycles, Geometry, Hardware};
pub use meter::Counters;
pub use task_struct::TaskStruct;

/// The plugin: a shared object that QEMU 7.2 and newer load with `-plugin`.
pub const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/klatch-counters.so"));
