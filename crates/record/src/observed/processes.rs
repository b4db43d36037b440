//! What the processes did: usage, system calls, the JVM, the raw trace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distribution, Sides};

/// What the record's `usage` does not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageDetails {
    /// Each side.
    pub sides: Sides<UsageSide>,
    /// How long some task of the machine waited; `null` where the kernel does not count it.
    pub pressure: Option<Pressure>,
}

/// One side's processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageSide {
    /// Moves of its threads to other CPUs; `null` where the kernel does not tell.
    pub migrations: Option<u64>,
    /// Page faults without input.
    pub faults_minor: u64,
    /// Page faults with input.
    pub faults_major: u64,
    /// Resident memory at the end, bytes.
    pub memory_bytes: u64,
    /// Its threads by name, without the number at a name's end; those that used most CPU time first, at most ten.
    pub thread_groups: Vec<ThreadGroup>,
}

/// Threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: f64,
    /// For memory.
    pub memory: f64,
    /// For storage.
    pub io: f64,
}

/// System calls of each side.
pub type Syscalls = Sides<SideCalls>;

/// System calls of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideCalls {
    /// How often each was called; those never called are left out.
    pub calls: BTreeMap<String, u64>,
    /// What its yields led to.
    pub yields: Yields,
}

/// What calls of `sched_yield` led to (Table 1 of *Linux kernel scheduler and Java*, IBM, 2005, with one row more).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Yields {
    /// All.
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
    pub itself: u64,
}

/// The Java virtual machines of each side. `null` where a side is not Java, or its JVM keeps no counters.
pub type Jvm = Sides<JvmSide>;

/// What a Java virtual machine did, by its own counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmSide {
    /// Its garbage collectors.
    pub collectors: Vec<Collector>,
    /// Time in garbage collection as a share of the time watched, 0..=1 (for a concurrent collector the time of its pauses
    /// and of its cycles, as it counts them itself).
    pub gc_share: f64,
    /// How often all threads were stopped.
    pub safepoints: u64,
    /// How long they were stopped in all, seconds, without the time that it took to stop them.
    pub safepoint_s: f64,
    /// Pauses for garbage collection one by one, ms; `null` where there was none. Of two pauses of one collector within 10 ms
    /// only the later is in it.
    pub gc_pause_ms: Option<Distribution>,
    /// Time of the JIT compilers, seconds, all compiler threads together.
    pub jit_s: f64,
    /// Methods compiled.
    pub jit_methods: u64,
    /// Live threads at the end; virtual threads are not counted.
    pub threads: u64,
    /// Most live threads since its start.
    pub threads_peak: u64,
    /// Heap in use at the end, bytes, with garbage.
    pub heap_used_bytes: u64,
    /// Heap committed at the end, bytes.
    pub heap_committed_bytes: u64,
}

/// A garbage collector of a JVM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Collector {
    /// What the JVM calls it.
    pub name: String,
    /// How often it collected.
    pub collections: u64,
    /// How long it took in all, seconds.
    pub time_s: f64,
}

/// A raw trace was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
