//! The counters of a scheduler that `klatch-schedulers` loads.

use serde::{Deserialize, Serialize};

/// A scheduler's settings and counters after a workload has run under it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchedulerReport {
    /// Name in Klatch's catalogue: `o1`.
    pub scheduler: String,
    /// Every knob with its value, defaults included.
    pub knobs: Vec<(String, u64)>,
    /// Why the scheduler was unloaded before the end. The workload then ran on under the kernel's own scheduler.
    pub lost: Option<String>,
    /// Counters since it was loaded.
    pub observed: SchedulerCounts,
}

/// Counters of a scheduler since it was loaded, summed over CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchedulerCounts {
    /// The statistics that its BPF program declares.
    pub stats: Vec<StatValue>,
    /// Cost of its decisions by queue length, shortest first; only lengths that occurred.
    pub costs: Vec<CostAtLength>,
}

/// One statistic with its description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatValue {
    /// Identifier, unique within the scheduler.
    pub name: String,
    /// Meaning of the number, in English.
    pub what: String,
    /// Sum over all CPUs.
    pub value: u64,
}

/// Cost of the decisions that were made at one queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostAtLength {
    /// Waiting tasks; the running task is not counted. The last row also holds all longer queues.
    pub length: u32,
    /// Number of decisions that the scheduler made.
    pub decisions: u64,
    /// Total time of these decisions, ns; under the lab's clock one ns is one instruction.
    pub ns: u64,
    /// Time of the cheapest decision, ns.
    pub ns_min: u64,
    /// Time of the most expensive decision, ns.
    pub ns_max: u64,
}

impl SchedulerCounts {
    /// The value of the statistic with this name, if the scheduler has one.
    pub fn stat(&self, name: &str) -> Option<u64> {
        self.stats.iter().find(|stat| stat.name == name).map(|stat| stat.value)
    }
}
