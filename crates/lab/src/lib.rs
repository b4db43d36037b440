//! The lab: a Linux kernel in an emulated machine whose clock counts instructions, and the workloads that run in it.

mod architecture;
mod boot;
mod boot_kernel;
mod boot_settings;
mod count;
mod cpio;
mod cpus;
mod debian_kernels;
mod debian_mirror;
mod download;
mod elf;
mod error;
mod exec;
mod guest;
mod image;
mod inherit;
mod java;
mod job;
mod kernels;
mod machine;
mod modules;
mod monitor;
mod options;
mod outcome;
mod package;
mod preparing;
mod probe;
mod programs;
mod snapshot;
mod snapshots;

pub use architecture::Architecture;
pub use boot::{boot, shell};
pub use boot_kernel::{BootKernel, Fetched, fetched, machine_image};
pub use boot_settings::{Boot, Snapshots};
pub use count::{CountError, count_operations, count_whole};
pub use cpus::{CPUS_MAX, Cpus};
pub use debian_kernels::{DebianKernels, newest_of_each_series};
pub use error::LabError;
pub use exec::{Exec, ExecMachine, shell_image};
pub use guest::guest;
pub use image::{Image, JAVA_FOLDER};
pub use job::{Answer, COUNTERS_FILE, Counting, Job, START_US, Step, counted};
pub use kernels::Kernel;
pub use options::Abilities;
pub use outcome::{outcome, outcome_without_answer};
pub use preparing::Preparing;
pub use probe::{
    Acquisitions, Block, Channel, Hackbench, LockTiers, Passage, Pattern, Probe, ProbeError, ProbeResult,
    Schbench,
};
pub use programs::{find_program, require_programs};
