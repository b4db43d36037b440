//! What the scheduler did: queues, decisions, wake-ups.

use serde::{Deserialize, Serialize};

use super::{Distribution, Sides};

/// Length of the run queue at each scheduling decision: tasks that can run on that CPU, with the one that runs, of all
/// programs of the machine. (Figures 4 and 5 of Bryant and Hartner, *Java technology, threads, and scheduling in Linux*, 2000.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runqueue {
    /// Lengths over the decisions of all CPUs together.
    pub all: Lengths,
    /// Lengths over the decisions of each CPU.
    pub cpus: Vec<Lengths>,
    /// How many decisions met which length; lengths that never were are left out.
    pub lengths: Vec<LengthCount>,
    /// The same over time, in at most 60 parts; parts that the instrument did not observe are left out.
    pub over_time: Vec<LengthMoment>,
}

/// Run-queue lengths in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lengths {
    /// Number of scheduling decisions.
    pub decisions: u64,
    /// Mean length of the queue, tasks.
    pub mean: f64,
    /// Standard deviation of the length, tasks.
    pub sd: f64,
    /// The longest, tasks (lengths above 1,023 count as 1,023).
    pub max: u64,
}

/// How often a length was met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LengthCount {
    /// Tasks in the queue.
    pub length: u64,
    /// Decisions that met it.
    pub decisions: u64,
}

/// Lengths in one part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LengthMoment {
    /// The part's beginning, seconds from when the instrument began.
    pub at_s: f64,
    /// Number of decisions in the interval.
    pub decisions: u64,
    /// Mean length in the interval, tasks.
    pub mean: f64,
    /// Greatest length in the interval, tasks.
    pub max: u64,
}

/// Time of a scheduling decision by the length of the run queue (Figure 6 of the same paper).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// From the entry of `__schedule` to the moment when the next task is chosen; only decisions that led to a switch.
    pub decision: CostByLength,
    /// The whole of `__schedule` with the switch, timed by the next task.
    pub whole: CostByLength,
    /// Time in all of `__schedule` on the CPUs that the run may use, as a share of the CPU time that it may use meanwhile: of these CPUs, or of
    /// the quota of its control groups if that is less.
    pub share_of_cpus: f64,
}

/// A cost and how it grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostByLength {
    /// Of all decisions, ns.
    pub all_ns: Distribution,
    /// By length, in groups.
    pub by_length: Vec<CostRow>,
    /// A straight line through the medians; `null` with fewer than three lengths that were met 30 times.
    pub fit: Option<CostFit>,
}

/// The cost at some lengths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRow {
    /// The shortest queue of the group.
    pub length_min: u64,
    /// Greatest length of the row, tasks.
    pub length_max: u64,
    /// Number of decisions with these lengths.
    pub decisions: u64,
    /// Half of them took less, ns.
    pub median_ns: f64,
    /// Mean time of these decisions, ns.
    pub mean_ns: f64,
}

/// A straight line by least squares through the medians of all lengths that were met at least 30 times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostFit {
    /// What one more queued task costs, ns.
    pub ns_per_task: f64,
    /// The lower end of its 95 % interval.
    pub ns_per_task_low: f64,
    /// Upper end of the 95 % interval of the slope, ns per task.
    pub ns_per_task_high: f64,
    /// The cost with nothing queued, ns.
    pub ns_at_zero: f64,
    /// Share of the variation of the medians that the line explains, 0..=1; `None` where all are equal.
    pub r2: Option<f64>,
    /// Lengths in the fit.
    pub points: u64,
}

/// Wake-ups of each side.
pub type Wakeups = Sides<SideWakeups>;

/// Wake-ups of one side's threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideWakeups {
    /// Threads that were woken.
    pub wakeups: u64,
    /// The same per second.
    pub wakeups_per_s: f64,
    /// From waking to running, µs.
    pub latency_us: Distribution,
    /// How often a thread that had just been woken took the CPU from one that could have gone on.
    pub preemptions: u64,
    /// How often a thread was moved to another CPU.
    pub migrations: u64,
    /// Wake-ups whose latency is unknown, because one of their two events was not observed.
    pub untimed: u64,
}
