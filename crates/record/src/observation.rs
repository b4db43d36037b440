//! What instruments saw of a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::instead_of;
use crate::observed::{
    Decision, JavaWaits, Jvm, Locks, Profile, Runqueue, Syscalls, Tcp, Trace, UsageDetails, Wakeups,
};

/// The data of one instrument for one run, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observation {
    /// Name of the instrument.
    pub instrument: InstrumentName,
    /// How it could work on this kernel.
    pub support: Support,
    /// Why it saw nothing although it should have been able to; `null` if it saw something.
    pub failure: Option<String>,
    /// The part of the run that was observed, in windows of 20 ms at random times, 0..=1. Counts and sums are scaled up to
    /// the whole run; distributions and the decisions of `runqueue` and `decision` are not. `null` for an instrument that observes the whole run.
    pub share_of_time: Option<f64>,
    /// Its cost; `null` where it does nothing while the run goes on.
    pub cost: Option<Cost>,
    /// What it saw; `null` where it could not work.
    pub data: Option<ObservationData>,
    /// Files with more of it, in the folder of the record.
    pub files: Vec<String>,
}

/// Names of all instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InstrumentName {
    /// Migrations, faults, thread groups, pressure.
    Usage,
    /// Where CPU time goes.
    Profile,
    /// Where instructions are executed, by the CPU's own counter; in the lab by its exact counters.
    Instructions,
    /// Where the caches miss, by the CPU's own counter; in the lab those of a model.
    CacheMisses,
    /// Where the cycles of a modelled CPU go; only in the lab.
    ModelledCycles,
    /// Length of the run queue at each scheduling decision.
    Runqueue,
    /// Time of a scheduling decision by the length of the queue.
    Decision,
    /// From waking to running.
    Wakeups,
    /// Waiting for locks of the kernel.
    Locks,
    /// System calls, and what yields led to.
    Syscalls,
    /// Segments, retransmissions, full listen queues.
    Tcp,
    /// Garbage collection, safepoints, JIT, threads, heap.
    Jvm,
    /// Waits inside Java: monitors, pinned virtual threads.
    Jfr,
    /// The raw record of what the scheduler did.
    Trace,
}

impl InstrumentName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [InstrumentName; 14] = [
        InstrumentName::Usage,
        InstrumentName::Profile,
        InstrumentName::Instructions,
        InstrumentName::CacheMisses,
        InstrumentName::ModelledCycles,
        InstrumentName::Runqueue,
        InstrumentName::Decision,
        InstrumentName::Wakeups,
        InstrumentName::Locks,
        InstrumentName::Syscalls,
        InstrumentName::Tcp,
        InstrumentName::Jvm,
        InstrumentName::Jfr,
        InstrumentName::Trace,
    ];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            InstrumentName::Usage => "usage",
            InstrumentName::Profile => "profile",
            InstrumentName::Instructions => "instructions",
            InstrumentName::CacheMisses => "cache_misses",
            InstrumentName::ModelledCycles => "modelled_cycles",
            InstrumentName::Runqueue => "runqueue",
            InstrumentName::Decision => "decision",
            InstrumentName::Wakeups => "wakeups",
            InstrumentName::Locks => "locks",
            InstrumentName::Syscalls => "syscalls",
            InstrumentName::Tcp => "tcp",
            InstrumentName::Jvm => "jvm",
            InstrumentName::Jfr => "jfr",
            InstrumentName::Trace => "trace",
        }
    }
}

impl fmt::Display for InstrumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Not the name of an instrument.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no instrument is named {got}; {instead}", instead = instead_of(got, &InstrumentName::ALL.map(InstrumentName::name), "there are"))]
pub struct InstrumentNameError {
    got: String,
}

impl FromStr for InstrumentName {
    type Err = InstrumentNameError;

    fn from_str(text: &str) -> Result<InstrumentName, InstrumentNameError> {
        let named = InstrumentName::ALL.into_iter().find(|name| name.name() == text);
        named.ok_or_else(|| InstrumentNameError { got: text.to_owned() })
    }
}

/// How an instrument can work on a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Support {
    /// It works without a loss.
    Usable {
        /// What it is based on.
        base: String,
    },
    /// Otherwise, with a loss.
    Fallback {
        /// What it is based on instead.
        base: String,
        /// What is missing, and what is lost by it.
        why: String,
        /// What would change it.
        remedy: String,
    },
    /// It cannot work on this kernel.
    NotAvailable {
        /// What the kernel or the machine lacks.
        why: String,
        /// What would change it.
        remedy: String,
    },
}

impl Support {
    /// Whether it can work.
    pub fn works(&self) -> bool {
        !matches!(self, Support::NotAvailable { .. })
    }
}

/// An instrument and how it can work here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Availability {
    /// Name of the instrument.
    pub instrument: InstrumentName,
    /// How it can work.
    #[serde(flatten)]
    pub support: Support,
}

/// Cost of observing: a lower bound, from the kernel's own run time statistics of the instrument's BPF programs. It counts in
/// windows of 20 ms, about one in 1.6 s, because counting costs too, and the result is scaled up. What
/// it leaves out (the tracepoints themselves, colder caches), only a comparison of runs with and without the instrument shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// CPU time of its programs while the run went on, seconds.
    pub cpu_s: f64,
    /// How often they ran.
    pub runs: u64,
    /// The CPU time as a share of what server and crowd used, 0..=1; `null` unless both were measured.
    pub share_of_cpu: Option<f64>,
    /// Kernel memory of its tables, bytes.
    pub memory_bytes: u64,
}

/// What an instrument saw, by instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObservationData {
    /// Of `usage`: see [`UsageDetails`].
    Usage(UsageDetails),
    /// Of `profile`: see [`Profile`].
    Profile(Profile),
    /// Of `instructions`: see [`Profile`].
    Instructions(Profile),
    /// Of `cache_misses`: see [`Profile`].
    CacheMisses(Profile),
    /// Of `modelled_cycles`: see [`Profile`]; each sample is a cycle.
    ModelledCycles(Profile),
    /// Of `runqueue`: see [`Runqueue`].
    Runqueue(Runqueue),
    /// Of `decision`: see [`Decision`].
    Decision(Decision),
    /// Of `wakeups`: see [`Wakeups`].
    Wakeups(Wakeups),
    /// Of `locks`: see [`Locks`].
    Locks(Locks),
    /// Of `syscalls`: see [`Syscalls`].
    Syscalls(Syscalls),
    /// Of `tcp`: see [`Tcp`].
    Tcp(Tcp),
    /// Of `jvm`: see [`Jvm`].
    Jvm(Jvm),
    /// Of `jfr`: see [`JavaWaits`].
    Jfr(JavaWaits),
    /// Of `trace`: see [`Trace`].
    Trace(Trace),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instrument_has_one_name_everywhere() {
        for name in InstrumentName::ALL {
            assert_eq!(name.name().parse(), Ok(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.name());
        }
        let error = |name: &str| name.parse::<InstrumentName>().unwrap_err().to_string();
        assert_eq!(error("strace"), "no instrument is named strace; did you mean trace?");
        assert!(error("x").starts_with("no instrument is named x; there are usage, profile, "));
    }
}
