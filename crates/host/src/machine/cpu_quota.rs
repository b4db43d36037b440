//! The CPU quota of this process's control groups, and for how long it has stopped them.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use crate::machine::limits::control_groups;

/// The CPUs that the control groups allow, and the time for which they have held processes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuQuota {
    cpus: f64,
    /// `None` if a control group does not count it.
    throttled_ns: Option<u64>,
}

impl CpuQuota {
    /// Reads the quota in force for this process, and so for what it starts; `None` if there is none, or if it cannot be read.
    pub fn read() -> Option<CpuQuota> {
        CpuQuota::of(&control_groups("cpu"))
    }

    /// The smallest quota of these control groups, each of which contains the one before. A version 2 group has `cpu.max`, one of
    /// version 1 two files.
    fn of(groups: &[PathBuf]) -> Option<CpuQuota> {
        let quotas = groups.iter().filter_map(|group| Some((quota(group)?, throttled_ns(group))));
        quotas.map(|(cpus, throttled_ns)| CpuQuota { cpus, throttled_ns }).reduce(|one, other| {
            let both = one.throttled_ns.zip(other.throttled_ns);
            let throttled_ns = both.map(|(one, other)| one.saturating_add(other));
            CpuQuota { cpus: one.cpus.min(other.cpus), throttled_ns }
        })
    }

    /// CPUs that the quota allows on average, a fraction.
    pub fn cpus(&self) -> f64 {
        self.cpus
    }

    /// Time since `earlier` for which the quota kept processes of the control groups from running, all CPUs together, seconds; `None` if
    /// that is not counted.
    pub fn throttled_s_since(&self, earlier: &CpuQuota) -> Option<f64> {
        Some(self.throttled_ns?.saturating_sub(earlier.throttled_ns?) as f64 / 1e9)
    }
}

fn quota(group: &Path) -> Option<f64> {
    let positive = |text: &str| text.trim().parse::<f64>().ok().filter(|value| *value > 0.0);
    let (quota, period) = match read_to_string(group.join("cpu.max")) {
        Ok(text) => {
            let (quota, period) = text.trim().split_once(' ')?;
            (positive(quota)?, positive(period)?)
        }
        // Without a limit the quota is -1.
        Err(_) => (
            positive(&read_to_string(group.join("cpu.cfs_quota_us")).ok()?)?,
            positive(&read_to_string(group.join("cpu.cfs_period_us")).ok()?)?,
        ),
    };
    Some(quota / period)
}

fn throttled_ns(group: &Path) -> Option<u64> {
    let text = read_to_string(group.join("cpu.stat")).ok()?;
    let number = |line: &str| line.trim().parse::<u64>().ok();
    let of_line = |line: &str| match line.strip_prefix("throttled_usec ") {
        Some(us) => number(us)?.checked_mul(1_000),
        None => number(line.strip_prefix("throttled_time ")?),
    };
    text.lines().find_map(of_line)
}

/// CPUs that this process may run on. A quota is another limit.
pub fn allowed_cpus() -> u32 {
    let allowed = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    // A machine with more CPUs than the set can hold.
    allowed.unwrap_or_else(|_| std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32))
}

/// Whether this process may run on the CPU with this number; `true` if the kernel does not say.
pub fn is_allowed_cpu(number: usize) -> bool {
    let is_set = |set: rustix::thread::CpuSet| number < rustix::thread::CpuSet::MAX_CPU && set.is_set(number);
    rustix::thread::sched_getaffinity(None).map_or(true, is_set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::cgroups::groups_in;

    /// A control group below `root` with these files.
    fn group(root: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(file, text)| std::fs::write(folder.join(file), text).unwrap());
        folder
    }

    #[test]
    fn a_quota_is_a_fraction_and_says_how_long_it_has_stopped_processes() {
        let root = tempfile::tempdir().unwrap();
        let version_2 = |quota: &str, throttled: u64| {
            let stat = format!("usage_usec 9\nnr_throttled 3\nthrottled_usec {throttled}\n");
            group(root.path(), "two", &[("cpu.max", quota), ("cpu.stat", &stat)])
        };
        let before = CpuQuota::of(&[version_2("150000 100000\n", 1_000)]).unwrap();
        let after = CpuQuota::of(&[version_2("150000 100000\n", 36_001_000)]).unwrap();
        assert_eq!((before.cpus(), after.throttled_s_since(&before)), (1.5, Some(36.0)));
        assert_eq!(CpuQuota::of(&[version_2("max 100000\n", 0)]), None);
        let version_1 = |quota| {
            let files = [
                ("cpu.cfs_quota_us", quota),
                ("cpu.cfs_period_us", "100000\n"),
                ("cpu.stat", "nr_periods 2\nnr_throttled 1\nthrottled_time 2500000000\n"),
            ];
            group(root.path(), "one", &files)
        };
        assert_eq!(
            CpuQuota::of(&[version_1("50000\n")]),
            Some(CpuQuota { cpus: 0.5, throttled_ns: Some(2_500_000_000) })
        );
        assert_eq!(CpuQuota::of(&[version_1("-1\n"), root.path().join("absent")]), None);
    }

    #[test]
    fn the_groups_of_each_version_are_found_by_their_mounts() {
        let quota = |files: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            for (file, text) in files {
                let path = root.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            CpuQuota::of(&groups_in(root.path(), "cpu").unwrap().folders).map(|quota| quota.cpus())
        };
        let version_2 = [
            ("proc/self/cgroup", "0::/a.slice/b\n"),
            ("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a.slice/b/cpu.max", "max 100000\n"),
        ];
        assert_eq!(quota(&version_2), Some(1.5));
        let mounts = "31 30 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      32 31 0:29 /docker/c1 /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";
        let version_1 = [
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "4:memory:/jobs/7\n1:cpu,cpuacct:/docker/c1/x\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "25000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(quota(&version_1), Some(0.25));
    }

    #[test]
    fn the_smallest_of_nested_quotas_is_in_force() {
        let root = tempfile::tempdir().unwrap();
        let quota = |name, text| group(root.path(), name, &[("cpu.max", text)]);
        let groups = [quota("a/b", "max 100000"), quota("a", "75000 50000"), quota(".", "400000 100000")];
        // Nobody counts for how long these have stopped processes.
        assert_eq!(CpuQuota::of(&groups), Some(CpuQuota { cpus: 1.5, throttled_ns: None }));
    }
}
