//! Facts about this computer and its processes, read from `/proc`, `/sys` and the kernel's clocks.

mod cgroups;
mod core_classes;
mod cpu_clock;
mod cpu_frequency;
mod cpu_model;
mod cpu_quota;
mod environment;
mod file_system;
mod gc;
mod jvm_counters;
pub mod limits;
mod machine_time;
mod proc_files;
mod process_identity;
mod process_tree;
mod program_build;
mod settings;
mod snapshot;
mod vm_in_force;

pub use core_classes::{core_classes, cores};
pub use cpu_clock::{children_cpu_s, cpu_time_ns};
pub use cpu_frequency::CpuFrequency;
pub use cpu_quota::{CpuQuota, allowed_cpus, is_allowed_cpu};
pub use environment::{IN_LAB, boot_id, environment, host_name, is_in_lab, sched_ext};
pub use file_system::{file_system, is_volatile};
pub use gc::GcTime;
pub use jvm_counters::{JvmCounters, counter_bytes, counter_file, counter_offset};
pub use machine_time::MachineTime;
pub use proc_files::{ProcessStat, ProcessStatus, thread_ids};
pub use process_identity::ProcessIdentity;
pub use process_tree::process_tree;
pub use program_build::program_build_id;
pub use settings::{GVISOR, WSL1, WSL2};
pub use snapshot::{Snapshot, SnapshotError};
pub use vm_in_force::{hotspot_process, vm_in_force};
