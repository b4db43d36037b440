//! Where CPU time went: profile and locks.

use serde::{Deserialize, Serialize};

use super::{Distribution, Sides};

/// Where CPU time went, by samples of a timer; or where instructions or cache misses were, by samples of the CPU's counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// Samples a second on each CPU; `null` if a counter gave them.
    pub frequency_hz: Option<u64>,
    /// Events of the counter between two samples; `null` if a timer gave them. 1 in the lab, which counts every event.
    pub events_per_sample: Option<u64>,
    /// Samples of all programs, without the idle task.
    pub samples: u64,
    /// Samples whose stack did not fit into the table; they count as samples, but in no routine. In the lab, calls whose events count
    /// for their caller.
    pub stacks_lost: u64,
    /// The whole machine, without the idle task.
    pub machine: ProfiledSide,
    /// Samples of server and crowd separately.
    pub sides: Sides<ProfiledSide>,
}

/// The profile of one side. Shares are of its samples, 0..=1, where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfiledSide {
    /// Samples taken while this side ran.
    pub samples: u64,
    /// Share of the samples in the kernel, 0..=1.
    pub kernel: f64,
    /// Time with a routine on the stack. They overlap: waking is done by the network stack.
    pub inclusive: Shares,
    /// Share of the JVMs' samples, not of all of the side's, with a routine of monitors or parked threads on the stack, or with a futex, 0..=1; absent
    /// without a JVM. It is a lower bound, because compiled Java methods take and release a free monitor by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronization: Option<f64>,
    /// The ten kernel routines in which most time was spent by itself. Time with interrupts off is counted where they are
    /// switched on again.
    pub top_self: Vec<Routine>,
    /// In the lab, the ten kinds of data with the most misses, or the dearest ones; without those of instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_data: Vec<MissedData>,
}

/// Data whose misses are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedData {
    /// What it is: a field of a task, a slab cache, a variable of the kernel, memory of programs.
    pub name: String,
    /// Misses, or the cycles that they cost.
    pub samples: u64,
    /// As a share of the side's samples, which include what instructions need, 0..=1.
    pub share: f64,
}

/// Inclusive shares of the samples, 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    /// Share of samples below `__schedule`, 0..=1.
    pub scheduler: f64,
    /// Share of samples below a wake-up of another task, 0..=1.
    pub wake_up: f64,
    /// In the network stack.
    pub network: f64,
    /// Taking, waiting for or releasing locks of the kernel.
    pub locks: f64,
    /// Copying from and to user memory.
    pub copy: f64,
}

/// A kernel routine and its own samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Routine {
    /// Symbol name of the routine.
    pub name: String,
    /// Samples in the routine, without those in what it calls.
    pub samples: u64,
    /// As a share of the side's samples, 0..=1.
    pub share: f64,
}

/// Waiting for locks of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Locks {
    /// By kind of lock, of all programs.
    pub kinds: Vec<LockKind>,
    /// The callers that waited longest, at most ten of each side and of other programs; estimated from a sample of the waits.
    pub callers: Vec<LockCaller>,
    /// One of this many waits had its caller recorded.
    pub caller_sampled_one_in: u64,
    /// Waiting time on locks for which a CPU waits (spinning, or halted by a paravirtual lock) on the CPUs that the run may use, as a share of
    /// the CPU time that it may use meanwhile.
    pub cpu_waiting_share: f64,
    /// Waits whose end was not observed.
    pub untimed: u64,
}

/// Waits on one kind of lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockKind {
    /// `spinlock`, `rwlock`, `mutex`, `rwsem`, `rtmutex`, `percpu-rwsem` or `other`.
    pub kind: String,
    /// Waits of the server's threads.
    pub server: u64,
    /// Waits of the crowd's threads.
    pub crowd: u64,
    /// Waits of all programs.
    pub all: u64,
    /// Waiting time of the server's threads, seconds.
    pub server_wait_s: f64,
    /// Waiting time of the crowd's threads, seconds.
    pub crowd_wait_s: f64,
    /// Waiting time of all programs, seconds.
    pub wait_s: f64,
    /// Durations of the waits, µs.
    pub wait_us: Distribution,
}

/// Programs whose threads waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Waiter {
    /// The server.
    Server,
    /// The crowd.
    Crowd,
    /// Other programs of the machine.
    Others,
}

/// Waits of one caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockCaller {
    /// The first routine on the stack that is not of a lock's own.
    pub caller: String,
    /// The kind of lock.
    pub kind: String,
    /// The programs whose threads waited.
    pub waiter: Waiter,
    /// Number of waits, estimated from the sample.
    pub waits: u64,
    /// Waiting time, about, seconds.
    pub wait_s: f64,
}
