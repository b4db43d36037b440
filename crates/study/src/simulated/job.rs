//! What a simulated trial computes.

use klatch_simulator::{Costs, Hardware, SchedulerSpec, Workload};

/// What a trial simulates, but for its seed.
#[derive(Clone, Debug)]
pub struct SimulatedJob {
    /// The scheduler with its knobs.
    pub scheduler: SchedulerSpec,
    /// The machine that is simulated.
    pub hardware: Hardware,
    /// What runs on it.
    pub work: Workload,
    /// Each process has an equal share of the CPUs for itself.
    pub pinned: bool,
    /// The costs of operations.
    pub costs: Costs,
}
