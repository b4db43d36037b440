//! The hardware of a simulated machine.

use crate::costs::{Cost, Costs};
use crate::topology::Topology;

/// Hardware of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Its CPUs, and what they share.
    pub topology: Topology,
    /// Clock of a CPU.
    pub mhz: u64,
    /// Second-level cache of a CPU.
    pub cache_bytes: u64,
    /// A line of that cache.
    pub line_bytes: u64,
}

impl Hardware {
    /// The machine that costs describe, with this topology.
    pub fn new(costs: &Costs, topology: Topology) -> Self {
        let whole = |cost: &Cost| cost.value.round() as u64;
        let (cache_bytes, line_bytes) = (whole(&costs.cache) * 1024, whole(&costs.line));
        Self { topology, mhz: whole(&costs.clock), cache_bytes, line_bytes }
    }
}
