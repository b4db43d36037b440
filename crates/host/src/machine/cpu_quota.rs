//! The CPU quota of this process's control groups, and for how long it has stopped them.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use crate::machine::limits::control_groups;

/// The CPUs that the control groups allow, and the time for which they have held processes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuQuota {
    cpus: f64,
    throttled_ns: u64,
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
        quotas.fold(None, |sum: Option<CpuQuota>, (cpus, throttled_ns)| {
            let CpuQuota { cpus: least, throttled_ns: others } =
                sum.unwrap_or(CpuQuota { cpus, throttled_ns: 0 });
            Some(CpuQuota { cpus: least.min(cpus), throttled_ns: others.saturating_add(throttled_ns) })
        })
    }

    /// CPUs that the quota allows on average, a fraction.
    pub fn cpus(&self) -> f64 {
        self.cpus
    }

    /// Time since `earlier` for which the quota kept processes of the control groups from running, all CPUs together, seconds.
    pub fn throttled_s_since(&self, earlier: &CpuQuota) -> f64 {
        self.throttled_ns.saturating_sub(earlier.throttled_ns) as f64 / 1e9
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

fn throttled_ns(group: &Path) -> u64 {
    let text = read_to_string(group.join("cpu.stat")).unwrap_or_default();
    let number = |line: &str| line.trim().parse::<u64>().ok();
    let of_line = |line: &str| match line.strip_prefix("throttled_usec ") {
        Some(us) => number(us)?.checked_mul(1_000),
        None => number(line.strip_prefix("throttled_time ")?),
    };
    text.lines().find_map(of_line).unwrap_or(0)
}

/// CPUs that this process may run on. A quota is another limit.
pub fn allowed_cpus() -> u32 {
    let allowed = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    // A machine with more CPUs than the set can hold.
    allowed.unwrap_or_else(|_| std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((before.cpus(), after.throttled_s_since(&before)), (1.5, 36.0));
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
            Some(CpuQuota { cpus: 0.5, throttled_ns: 2_500_000_000 })
        );
        assert_eq!(CpuQuota::of(&[version_1("-1\n"), root.path().join("absent")]), None);
    }

    #[test]
    fn the_smallest_of_nested_quotas_is_in_force() {
        let root = tempfile::tempdir().unwrap();
        let quota = |name, text| group(root.path(), name, &[("cpu.max", text)]);
        let groups = [quota("a/b", "max 100000"), quota("a", "75000 50000"), quota(".", "400000 100000")];
        assert_eq!(CpuQuota::of(&groups).map(|quota| quota.cpus()), Some(1.5));
    }
}
