//! What a process used while it was measured.

use serde::{Deserialize, Serialize};

use crate::sums::{SumError, sum, whole_ns};

/// Context switches, in errors.
const SWITCHES: &str = "context switches";

/// What one process (or all of one side) used between the opening of the gate and the last delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Voluntary and involuntary context switches per message.
    pub switches_per_message: f64,
    /// Threads at the end.
    pub threads: u64,
    /// The largest resident set since its start, bytes.
    pub memory_peak_bytes: u64,
    /// Time in which it stood still for garbage collection, seconds, of several processes the sum; with Shenandoah, the time of all
    /// its safepoints. `null` unless it is a Java virtual machine that reports it.
    pub gc_s: Option<f64>,
}

impl Usage {
    /// What several processes used together, for a run of `messages` messages.
    ///
    /// # Errors
    /// A sum does not fit into 64 bits: it is not of processes.
    pub fn together(all: &[&Usage], messages: u64) -> Result<Usage, SumError> {
        let sum_s = |of: fn(&Usage) -> f64| {
            let ns = sum("CPU times", all.iter().map(|usage| whole_ns(of(usage))))?;
            Ok(ns as f64 / 1e9)
        };
        // Sides that do not report it are left out.
        let pauses: Vec<u64> = all.iter().filter_map(|usage| usage.gc_s).map(whole_ns).collect();
        let gc_ns = sum("times of garbage collection", pauses.iter().copied())?;
        let count = |what, of: fn(&Usage) -> u64| sum(what, all.iter().map(|usage| of(usage)));
        let each = |sum: f64| if messages == 0 { 0.0 } else { sum / messages as f64 };
        let (cpu_s, user_s, system_s) =
            (sum_s(|usage| usage.cpu_s)?, sum_s(|usage| usage.user_s)?, sum_s(|usage| usage.system_s)?);
        let switches_voluntary = count(SWITCHES, |usage| usage.switches_voluntary)?;
        let switches_involuntary = count(SWITCHES, |usage| usage.switches_involuntary)?;
        let switches = sum(SWITCHES, [switches_voluntary, switches_involuntary])?;
        Ok(Usage {
            cpu_s,
            user_s,
            system_s,
            cpu_us_per_message: each(cpu_s * 1e6),
            user_us_per_message: each(user_s * 1e6),
            system_us_per_message: each(system_s * 1e6),
            switches_voluntary,
            switches_involuntary,
            switches_per_message: each(switches as f64),
            threads: count("threads", |usage| usage.threads)?,
            memory_peak_bytes: count("resident sets", |usage| usage.memory_peak_bytes)?,
            gc_s: (!pauses.is_empty()).then_some(gc_ns as f64 / 1e9),
        })
    }
}
