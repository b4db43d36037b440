//! The machine that a run used: kernel, CPUs, memory, limits.

use std::collections::BTreeMap;
use std::path::Path;

use klatch_record::{Environment, Limits};
use rustix::process::{Resource, getrlimit};
use rustix::system::uname;

use crate::machine::MachineTime;
use crate::machine::cpu_model::cpu_model_in;
use crate::machine::cpu_quota::{CpuQuota, allowed_cpus};
use crate::machine::limits::{field, sysctl};
use crate::machine::settings::settings;

/// The variable that every command in an emulated machine of the lab has. What it writes is elsewhere afterwards.
pub const IN_LAB: &str = "KLATCH_IN_LAB";

/// Whether this process runs in an emulated machine of the lab.
pub fn is_in_lab() -> bool {
    std::env::var_os(IN_LAB).is_some()
}

/// Describes this machine as it is now. Facts that cannot be read are `None`, never guessed. `variables` are those of this process's environment
/// that change a runtime.
pub fn environment(variables: BTreeMap<String, String>) -> Environment {
    let uname = uname();
    Environment {
        kernel: uname.release().to_string_lossy().into_owned(),
        kernel_build: uname.version().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        distribution: distribution(),
        cpu_model: cpu_model_in(Path::new("/")),
        cpus: allowed_cpus(),
        cpu_quota: CpuQuota::read().map(|quota| quota.cpus()),
        memory_bytes: field("/proc/meminfo", "MemTotal:").map(|kib| kib * 1024),
        load_1min: load_1min(),
        steal_share_since_boot: MachineTime::read().and_then(|time| time.steal_share()),
        steal_share_in_run: None,
        others_share_in_run: None,
        throttled_in_run_s: None,
        cpu_mhz_in_run: None,
        noise: None,
        settings: settings(),
        variables,
        sysctls: Default::default(),
        scheduler: None,
        sched_ext: sched_ext(),
        limits: limits(),
        instruments: Vec::new(),
    }
}

/// This machine's name, as `uname -n` prints it.
pub fn host_name() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// Identifies the boot that CLOCK_MONOTONIC counts from; times of two machines or two boots cannot be compared.
pub fn boot_id() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// The kernel's name for the sched_ext scheduler in force, whoever loaded it.
pub fn sched_ext() -> Option<String> {
    let name = std::fs::read_to_string("/sys/kernel/sched_ext/root/ops").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn limits() -> Limits {
    Limits {
        open_files: getrlimit(Resource::Nofile).maximum,
        user_processes: getrlimit(Resource::Nproc).current,
        threads_max: sysctl("kernel.threads-max"),
        pid_max: sysctl("kernel.pid_max"),
        max_map_count: sysctl("vm.max_map_count"),
    }
}

fn load_1min() -> Option<f64> {
    load_of(&std::fs::read_to_string("/proc/loadavg").ok()?)
}

/// The first load average in the text of `/proc/loadavg`. A machine without tasks, such as gVisor's, has none: this process is one.
fn load_of(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let load = words.next()?.parse().ok()?;
    let (_, tasks) = words.nth(2)?.split_once('/')?;
    (tasks.parse::<u64>().ok()? > 0).then_some(load)
}

fn distribution() -> Option<String> {
    pretty_name(&std::fs::read_to_string("/etc/os-release").ok()?)
}

/// The value of PRETTY_NAME in the text of an os-release file, whose values are words of a shell.
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim_start().strip_prefix("PRETTY_NAME="))?;
    shlex::split(value)?.into_iter().next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_its_name_however_it_is_quoted() {
        let named = |value: &str| pretty_name(&format!("ID=x\nPRETTY_NAME={value}\nVERSION=1\n"));
        for value in ["\"Debian GNU/Linux 12\"", "'Debian GNU/Linux 12'", "Debian\\ GNU/Linux\\ 12"] {
            assert_eq!(named(value).as_deref(), Some("Debian GNU/Linux 12"), "{value}");
        }
        assert_eq!(named("\"Caf\\\"e\"").as_deref(), Some("Caf\"e"));
        assert_eq!(named(""), None);
    }

    #[test]
    fn a_machine_without_tasks_has_no_load() {
        assert_eq!(load_of("0.42 0.33 0.24 2/311 4242\n"), Some(0.42));
        assert_eq!(load_of("0.00 0.00 0.00 0/0 0\n"), None);
    }

    #[test]
    fn this_machine_is_described() {
        let environment = environment([].into());
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(environment.kernel, release.trim());
        assert!(environment.cpus >= 1 && environment.memory_bytes > Some(1 << 20));
        assert!(environment.limits.pid_max > Some(300) && environment.limits.threads_max > Some(300));
    }
}
