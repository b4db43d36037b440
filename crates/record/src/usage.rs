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
    /// Context switches because it waited, of all its threads; `null` where the kernel does not count them.
    pub switches_voluntary: Option<u64>,
    /// Context switches because something else was to run; `null` where the kernel does not count them.
    pub switches_involuntary: Option<u64>,
    /// Voluntary and involuntary context switches per message; `null` where the kernel does not count them.
    pub switches_per_message: Option<f64>,
    /// Threads at the end.
    pub threads: u64,
    /// The largest resident set since its start, bytes; `null` where the kernel does not keep it.
    pub memory_peak_bytes: Option<u64>,
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
        // Of all processes or of none.
        let known = |what, of: fn(&Usage) -> Option<u64>| {
            let counts: Option<Vec<u64>> = all.iter().map(|usage| of(usage)).collect();
            counts.map(|counts| sum(what, counts)).transpose()
        };
        let each = |sum: f64| if messages == 0 { 0.0 } else { sum / messages as f64 };
        let (cpu_s, user_s, system_s) =
            (sum_s(|usage| usage.cpu_s)?, sum_s(|usage| usage.user_s)?, sum_s(|usage| usage.system_s)?);
        let switches_voluntary = known(SWITCHES, |usage| usage.switches_voluntary)?;
        let switches_involuntary = known(SWITCHES, |usage| usage.switches_involuntary)?;
        let both = switches_voluntary.zip(switches_involuntary);
        let switches =
            both.map(|(voluntary, involuntary)| sum(SWITCHES, [voluntary, involuntary])).transpose()?;
        Ok(Usage {
            cpu_s,
            user_s,
            system_s,
            cpu_us_per_message: each(cpu_s * 1e6),
            user_us_per_message: each(user_s * 1e6),
            system_us_per_message: each(system_s * 1e6),
            switches_voluntary,
            switches_involuntary,
            switches_per_message: switches.map(|switches| each(switches as f64)),
            threads: sum("threads", all.iter().map(|usage| usage.threads))?,
            memory_peak_bytes: known("resident sets", |usage| usage.memory_peak_bytes)?,
            gc_s: (!pauses.is_empty()).then_some(gc_ns as f64 / 1e9),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::usage;

    #[test]
    fn what_is_unknown_of_one_process_is_unknown_of_all() {
        let known = Usage { switches_voluntary: Some(3), switches_involuntary: Some(4), ..usage(1.0) };
        let unknown = Usage { switches_voluntary: None, memory_peak_bytes: None, ..usage(1.0) };
        let both = Usage::together(&[&known, &known], 7).unwrap();
        assert_eq!((both.switches_voluntary, both.switches_per_message), (Some(6), Some(2.0)));
        assert_eq!(both.memory_peak_bytes, Some(2));
        let one = Usage::together(&[&known, &unknown], 7).unwrap();
        assert_eq!((one.switches_voluntary, one.switches_per_message), (None, None));
        assert_eq!((one.switches_involuntary, one.memory_peak_bytes), (Some(4), None));
    }
}
