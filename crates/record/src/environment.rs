//! Where a run ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Availability;

/// Names of the classes of unlike cores, the fastest first: settings `cores_big` and so on list their CPUs, and a knob `cpus` takes them.
pub const CORE_CLASSES: [&str; 3] = ["big", "medium", "little"];

/// The machine at the start of a run. Values that the kernel does not provide are `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Kernel build, as `uname -v`.
    pub kernel_build: String,
    /// Architecture of the kernel, as `uname -m`.
    pub architecture: String,
    /// Name and version of the distribution, from os-release; `null` without that file.
    pub distribution: Option<String>,
    /// Model name of the CPU, from /proc/cpuinfo; `null` where that does not name one.
    pub cpu_model: Option<String>,
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// CPUs that the quota of the control groups allows on average, a fraction; absent without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// Installed memory in bytes, from /proc/meminfo; `null` where that cannot be read.
    pub memory_bytes: Option<u64>,
    /// Load average over the last minute, from /proc/loadavg; `null` where that cannot be read.
    pub load_1min: Option<f64>,
    /// Share of all CPU time since boot that the hypervisor gave to others, 0..=1; `null` where /proc/stat has no times.
    pub steal_share_since_boot: Option<f64>,
    /// Share of CPU time during the run that the hypervisor gave to others, 0..=1; `null` where /proc/stat stands still.
    pub steal_share_in_run: Option<f64>,
    /// Share of CPU time during the run that neither servers nor crowds used, nor the hypervisor took, nor nobody, 0..=1: of
    /// other programs, and of Klatch itself. `null` where the server is not one that Klatch started.
    pub others_share_in_run: Option<f64>,
    /// Time during the run for which that quota kept processes of the control groups from running, all CPUs together, seconds; absent
    /// without a quota, and where the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_in_run_s: Option<f64>,
    /// Clock frequency of the fastest CPU, mean over the run, MHz; `null` where the machine does not tell it.
    pub cpu_mhz_in_run: Option<f64>,
    /// The last result of `klatch calibrate` on this machine; `null` if it never ran here.
    pub noise: Option<Noise>,
    /// What the kernel and the machine are set to, by name: frequency governor, SMT, classes of unlike cores, mitigations, huge pages, preemption, the fair scheduler and its features, clock source, command
    /// line, virtualisation, board, sysctls that affect connections; what limits Klatch and what it starts: CPUs, nice value and policy, limits of the
    /// cgroups; and the file system of temporary files. A name is absent where the machine does not say it.
    pub settings: BTreeMap<String, String>,
    /// Variables of the environment that servers and crowds inherited and that change a runtime or the C library, such as `GOMAXPROCS`
    /// and `LD_PRELOAD`: those in `platforms/runtimes`. Those of a Java are with its runtime.
    pub variables: BTreeMap<String, String>,
    /// What Klatch set about the machine for the run, and put back afterwards.
    pub sysctls: BTreeMap<String, String>,
    /// The sched_ext scheduler that was loaded for the run; `null`: the kernel's own.
    pub scheduler: Option<SchedulerInForce>,
    /// The kernel's name for a sched_ext scheduler that Klatch did not load for the run, whoever did; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sched_ext: Option<String>,
    /// The limits in force.
    pub limits: Limits,
    /// How each instrument can work here; in the lab only those that were requested.
    pub instruments: Vec<Availability>,
}

impl Environment {
    /// CPUs that the programs of a run can have together: those they may run on, or the quota if that is less.
    pub fn usable_cpus(&self) -> f64 {
        self.cpu_quota.map_or(f64::INFINITY, |quota| quota).min(f64::from(self.cpus))
    }
}

/// A sched_ext scheduler that Klatch loaded for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerInForce {
    /// Its name and what was set about it: `goodness:version=24`; of another program the kernel's name for it, and its arguments.
    pub name: String,
    /// SHA-256 of the program that loaded it, in hexadecimal; absent for the schedulers of Klatch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_sha256: Option<String>,
    /// Why it was not in force any more at the end, if so: the run was under the kernel's own then.
    pub lost: Option<String>,
    /// Its counters since it was loaded, by name; `klatch sched list NAME` explains the names. Empty for those of other programs.
    pub counts: BTreeMap<String, u64>,
}

/// How far apart two starts of the same server are on a machine: what a platform showed beside itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// When it was measured, RFC 3339 in UTC.
    pub measured_at: String,
    /// The platform, and what was set about it.
    pub platform: String,
    /// Starts of its server, with one trial each.
    pub starts: u32,
    /// By metric, the part by which two starts differ at most in 19 of 20 cases: 0.03 is a ratio of 1.03.
    pub between_starts: BTreeMap<String, f64>,
}

/// Limits that a run can meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Open files of a process (`ulimit -n`, the hard limit, to which Klatch raises the soft one); `null` if unlimited.
    pub open_files: Option<u64>,
    /// Processes and threads of a user (`ulimit -u`); `null` if unlimited.
    pub user_processes: Option<u64>,
    /// Most threads of the whole system: `kernel.threads-max`; `null` where it cannot be read.
    pub threads_max: Option<u64>,
    /// Largest process id plus one: `kernel.pid_max`; `null` where it cannot be read.
    pub pid_max: Option<u64>,
    /// Most memory mappings of a process: `vm.max_map_count`; `null` where it cannot be read.
    pub max_map_count: Option<u64>,
}
