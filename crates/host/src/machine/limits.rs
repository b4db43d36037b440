//! Limits of this machine and of this process' control groups, and what is in use of them.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use crate::machine::cgroups::groups_in;

/// Value of a sysctl that is a single number; `name` has dots, as in `vm.max_map_count`.
///
/// `None` if this kernel or network namespace does not have it.
pub fn sysctl(name: &str) -> Option<u64> {
    number(format!("/proc/sys/{}", name.replace('.', "/")))
}

/// First and last local port that the kernel gives to outgoing connections.
pub fn local_ports() -> Option<(u64, u64)> {
    let text = read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let (first, last) = text.trim().split_once(char::is_whitespace)?;
    Some((first.parse().ok()?, last.trim().parse().ok()?))
}

/// Memory that the buffers of all TCP connections can have together, in pages; beyond it the kernel drops what arrives.
pub fn tcp_memory_pages() -> Option<u64> {
    read_to_string("/proc/sys/net/ipv4/tcp_mem").ok()?.split_whitespace().nth(2)?.parse().ok()
}

/// Memory that programs can still allocate without swapping (`MemAvailable`), in KiB.
pub fn memory_available_kib() -> Option<u64> {
    field("/proc/meminfo", "MemAvailable:")
}

/// Open files of all processes together, sockets among them.
pub fn open_files() -> Option<u64> {
    read_to_string("/proc/sys/fs/file-nr").ok()?.split_whitespace().next()?.parse().ok()
}

/// Threads on the whole system, all users together.
pub fn threads_on_system() -> Option<u64> {
    let text = read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Threads of all processes whose real user is `uid`.
pub fn threads_of_user(uid: u32) -> u64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let threads = processes.filter_map(|process| {
        let status = process.path().join("status");
        (field(&status, "Uid:")? == u64::from(uid)).then(|| field(&status, "Threads:")).flatten()
    });
    threads.sum()
}

/// The control groups with `controller` (`pids`, `memory`) that contain this process, the innermost first, of either version.
pub fn control_groups(controller: &str) -> Vec<PathBuf> {
    groups_in(Path::new("/"), controller).map(|groups| groups.folders).unwrap_or_default()
}

/// The number that follows `name` on its line of a file such as `/proc/meminfo`.
pub fn field(file: impl AsRef<Path>, name: &str) -> Option<u64> {
    let text = read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The number that is the whole content of a file; `None` for `max`, the control groups' word for no limit.
pub fn number(file: impl AsRef<Path>) -> Option<u64> {
    read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_limits() {
        assert!(sysctl("kernel.pid_max") > Some(300) && tcp_memory_pages() > Some(100));
        assert_eq!(sysctl("kernel.no_such_sysctl"), None);
        assert!(local_ports().is_some_and(|(first, last)| first < last));
        assert!(memory_available_kib() > Some(1024));
    }

    #[test]
    fn this_user_has_some_of_the_threads() {
        let own = threads_of_user(rustix::process::getuid().as_raw());
        assert!(own > 0 && own <= threads_on_system().unwrap() + 100);
    }

    #[test]
    fn max_is_no_number() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, expected) in [("max\n", None), ("100\n", Some(100))] {
            std::fs::write(file.path(), text).unwrap();
            assert_eq!(number(file.path()), expected);
        }
    }
}
