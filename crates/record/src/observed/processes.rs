//! What the processes did: usage, system calls, the JVM, the raw trace.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sides;

/// Details beyond the record's `usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageDetails {
    /// Server and crowd separately.
    pub sides: Sides<UsageSide>,
    /// How long some task of the machine waited; `null` where the kernel does not count it.
    pub pressure: Option<Pressure>,
}

/// What the processes of one side used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageSide {
    /// Migrations of its threads to other CPUs; `null` where the kernel does not count them.
    pub migrations: Option<u64>,
    /// Page faults without input.
    pub faults_minor: u64,
    /// Page faults with input.
    pub faults_major: u64,
    /// Resident memory at the end, bytes.
    pub memory_bytes: u64,
    /// Its threads by name, without the number at a name's end; those that used most CPU time first, at most ten.
    /// Empty where the kernel does not count CPU time and switches of threads.
    pub thread_groups: Vec<ThreadGroup>,
}

/// Threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadGroup {
    /// The name, with `*` for the number at its end.
    pub name: String,
    /// Threads at the end.
    pub threads: u64,
    /// CPU time, seconds (ns resolution where the kernel counts so, else ticks of 10 ms).
    pub cpu_s: f64,
    /// Context switches because they waited.
    pub switches_voluntary: u64,
    /// Context switches because something else was to run.
    pub switches_involuntary: u64,
}

/// Time in which at least one task of the machine waited, as a share of the run, 0..=1 (the kernel's pressure stall
/// information).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pressure {
    /// Share of the run in which some task waited for a CPU, 0..=1.
    pub cpu: f64,
    /// Share of the run in which some task waited for memory, 0..=1.
    pub memory: f64,
    /// Share of the run in which some task waited for storage, 0..=1.
    pub io: f64,
}

/// System calls of each side.
pub type Syscalls = Sides<SideCalls>;

/// System calls of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideCalls {
    /// How often each was called; those never called are left out.
    pub calls: BTreeMap<String, u64>,
    /// What its yields led to.
    pub yields: Yields,
}

/// What calls of `sched_yield` led to (Table 1 of *Linux kernel scheduler and Java*, IBM, 2005, with one row more).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Yields {
    /// All calls of `sched_yield`, in the run.
    pub all: u64,
    /// Nothing else could run on that CPU.
    pub only: u64,
    /// Another task of the same priority ran.
    pub same: u64,
    /// One of higher priority ran.
    pub higher: u64,
    /// One of lower priority ran.
    pub lower: u64,
    /// The yielding task went on although another could have run.
    pub continued: u64,
}

/// A raw trace was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// Events in the file.
    pub events: u64,
    /// Events that are not in it, because its size or the buffer's was at its end.
    pub lost: u64,
    /// Size of the file, bytes.
    pub file_bytes: u64,
    /// Events in the file by kind.
    pub kinds: BTreeMap<String, u64>,
}
