//! What a process used while it was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one process used between the opening of the gate and the last delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time, seconds (from the process's CPU clock, ns resolution).
    pub cpu_s: f64,
    /// Its part in user mode, seconds (the kernel's own split, by ticks of 10 ms where it has no finer).
    pub user_s: f64,
    /// Its part in the kernel, seconds.
    pub system_s: f64,
    /// CPU time per message, µs.
    pub cpu_us_per_message: f64,
    /// User time per message, µs.
    pub user_us_per_message: f64,
    /// System time per message, µs.
    pub system_us_per_message: f64,
    /// Context switches because it waited, of all its threads.
    pub switches_voluntary: u64,
    /// Context switches because something else was to run.
    pub switches_involuntary: u64,
    /// Both per message.
    pub switches_per_message: f64,
    /// Threads at the end.
    pub threads: u64,
    /// The largest resident set since its start, bytes.
    pub memory_peak_bytes: u64,
}
