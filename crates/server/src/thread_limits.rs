//! How many threads the system lets a process have, and which of the limits on them is the nearest.

use std::fs::read_to_string;

use rustix::process::{Resource, getrlimit};

/// Memory maps of a thread: its stack, the stack for its signals, and a guard before each.
const MAPS_PER_THREAD: usize = 4;
/// Maps of all that is no thread: the program, its heap, its libraries.
const MAPS_RESERVED: usize = 1000;

/// Threads that this process can have before it runs out of memory maps. Beyond that the standard library does not
/// return an error: it aborts the process.
pub(crate) fn threads_max() -> usize {
    let maps = number("/proc/sys/vm/max_map_count").unwrap_or(usize::MAX);
    maps.saturating_sub(MAPS_RESERVED) / MAPS_PER_THREAD
}

struct Limit {
    name: String,
    value: usize,
    used: usize,
    /// The command that raises it.
    raise: String,
}

/// The limit that a process with this number of threads reaches first, as text.
pub(crate) fn nearest(threads: usize) -> String {
    describe_nearest(limits(threads))
}

fn describe_nearest(limits: Vec<Limit>) -> String {
    match limits.into_iter().min_by_key(|limit| limit.value.saturating_sub(limit.used)) {
        Some(Limit { name, value, used, raise }) => {
            format!("{name} is {value} and about {used} are in use; raise it with `{raise}`")
        }
        None => "the system has no thread left".into(),
    }
}

fn limits(threads: usize) -> Vec<Limit> {
    let tasks = tasks().unwrap_or(threads);
    let mut limits = Vec::new();
    let sysctls = [
        ("vm.max_map_count", threads * MAPS_PER_THREAD + MAPS_RESERVED),
        ("kernel.threads-max", tasks),
        ("kernel.pid_max", tasks),
    ];
    for (name, used) in sysctls {
        if let Some(value) = number(&format!("/proc/sys/{}", name.replace('.', "/"))) {
            let raise = format!("sysctl -w {name}={}", value * 4);
            limits.push(Limit { name: name.into(), value, used, raise });
        }
    }
    if let Some(value) = getrlimit(Resource::Nproc).current {
        let name = "the limit of processes and threads of a user (ulimit -u)".into();
        limits.push(Limit {
            name,
            value: value as usize,
            used: threads,
            raise: "ulimit -u unlimited".into(),
        });
    }
    limits.extend(cgroup());
    limits
}

/// The limit of this process' control group, where it has one.
fn cgroup() -> Option<Limit> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().find_map(|line| {
        let (mount, path) = match line.split_once(':')?.1.split_once(':')? {
            ("", path) => ("/sys/fs/cgroup", path),
            ("pids", path) => ("/sys/fs/cgroup/pids", path),
            _ => return None,
        };
        let folder = format!("{mount}{}", path.trim_end_matches('/'));
        let file = format!("{folder}/pids.max");
        Some(Limit {
            value: number(&file)?,
            used: number(&format!("{folder}/pids.current"))?,
            raise: format!("echo max > {file}"),
            name: "pids.max of the control group".into(),
        })
    })
}

/// Threads on the whole system.
fn tasks() -> Option<usize> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

fn number(file: &str) -> Option<usize> {
    read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_is_reported() {
        let limit = |name: &str, value, used| Limit {
            name: name.into(),
            value,
            used,
            raise: format!("sysctl -w {name}={}", value * 4),
        };
        let far = || limit("kernel.threads-max", 190_000, 20_000);
        let near = limit("vm.max_map_count", 65_530, 65_500);
        let expected = "vm.max_map_count is 65530 and about 65500 are in use; raise it with `sysctl -w vm.max_map_count=262120`";
        assert_eq!(describe_nearest(vec![far(), near, far()]), expected);
        assert_eq!(describe_nearest(vec![]), "the system has no thread left");
    }

    #[test]
    fn this_system_has_limits() {
        assert!(threads_max() > 100);
        assert!(!limits(0).is_empty());
    }
}
