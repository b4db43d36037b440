//! Where a run ran.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Availability;

/// The machine at the start of a run. What the kernel does not tell is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Kernel build, as `uname -v`.
    pub kernel_build: String,
    /// Distribution, from os-release.
    pub distribution: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// Installed memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Load average over the last minute.
    pub load_1min: Option<f64>,
    /// Share of all CPU time since boot that the hypervisor gave to others, 0..=1.
    pub steal_share_since_boot: Option<f64>,
    /// Share of CPU time during the run that the hypervisor gave to others, 0..=1.
    pub steal_share_in_run: Option<f64>,
    /// What Klatch set about the machine for the run, and put back afterwards.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// The limits in force.
    pub limits: Limits,
    /// How each instrument can work here.
    #[serde(default)]
    pub instruments: Vec<Availability>,
}

/// Limits that a run can meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Open files of a process (`ulimit -n`, the hard limit, to which Klatch raises the soft one).
    pub open_files: Option<u64>,
    /// Processes and threads of a user (`ulimit -u`).
    pub user_processes: Option<u64>,
    /// `kernel.threads-max`.
    pub threads_max: Option<u64>,
    /// `kernel.pid_max`.
    pub pid_max: Option<u64>,
    /// `vm.max_map_count`.
    pub max_map_count: Option<u64>,
}
