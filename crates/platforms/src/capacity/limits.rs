//! The limits of this machine and of this process, and their current use.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;

use klatch_host::machine::limits::{self, control_groups, field, number};
use klatch_host::privileges::{invoker, programs_run_as_root};
use rustix::process::{Resource, geteuid, getrlimit};

use super::Shortage;

const MIB: u64 = 1 << 20;

/// A limit, and how to raise it.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) name: String,
    pub(super) value: u64,
    pub(super) used: u64,
    /// The command that raises it; `{}` stands for the total that is needed.
    pub(super) raise: String,
}

impl Limit {
    pub(super) fn shortage(&self, side: &str, amount: u64, what: &str) -> Shortage {
        let Limit { name, value, used, raise } = self;
        let in_use = if *used > 0 { format!(" with {used} in use") } else { String::new() };
        Shortage {
            state: format!("{side} needs {amount} {what}, and {name} is {value}{in_use}"),
            raise: raise.replace("{}", &(amount + used).to_string()),
        }
    }
}

/// All limits that a run may reach. A limit that the kernel does not report is absent.
#[derive(Debug)]
pub(super) struct Machine {
    /// Open files of one process.
    pub(super) files: Vec<Limit>,
    /// Open files of all processes together.
    pub(super) files_of_all: Vec<Limit>,
    /// Connections that the kernel's packet filter remembers.
    pub(super) tracked: Vec<Limit>,
    /// Memory maps of one process.
    pub(super) maps: Vec<Limit>,
    /// Threads of all processes together.
    pub(super) threads: Vec<Limit>,
    /// Memory of all processes together, MiB.
    pub(super) memory_mib: Vec<Limit>,
    /// Local ports for connections to one address.
    pub(super) ports: Vec<Limit>,
}

impl Machine {
    pub(super) fn detect() -> Machine {
        let files = getrlimit(Resource::Nofile).maximum.map(|value| Limit {
            name: "the hard limit of open files".into(),
            value,
            used: 0,
            raise: "ulimit -Hn {}".into(),
        });
        Machine {
            files: files.into_iter().collect(),
            files_of_all: sysctl("fs.file-max", limits::open_files().unwrap_or(0)).into_iter().collect(),
            tracked: tracked().into_iter().collect(),
            maps: sysctl("vm.max_map_count", 0).into_iter().collect(),
            threads: threads(),
            memory_mib: memory(),
            ports: ports().into_iter().collect(),
        }
    }
}

fn threads() -> Vec<Limit> {
    let tasks = limits::threads_on_system().unwrap_or(0);
    let mut limits: Vec<Limit> =
        ["kernel.threads-max", "kernel.pid_max"].iter().filter_map(|name| sysctl(name, tasks)).collect();
    // The kernel does not apply this limit to root.
    if !programs_run_as_root()
        && let Some(value) = getrlimit(Resource::Nproc).current
    {
        let name = "the limit of processes and threads of a user".into();
        limits.push(Limit { name, value, used: tasks_of_user(), raise: "ulimit -u {}".into() });
    }
    limits.extend(control_groups("pids").iter().filter_map(|group| {
        let file = group.join("pids.max");
        Some(Limit {
            value: number(&file)?,
            used: number(group.join("pids.current"))?,
            raise: format!("echo {{}} > {}", file.display()),
            name: format!("pids.max of the control group {}", group.display()),
        })
    }));
    limits
}

fn memory() -> Vec<Limit> {
    let available = limits::memory_available_kib().map(|kib| Limit {
        name: "the memory available here".into(),
        value: kib / 1024,
        used: 0,
        raise: "free -m   # stop what uses most".into(),
    });
    let group_limit = |group: &PathBuf| {
        let (most, now) = match group.join("memory.max").exists() {
            true => ("memory.max", "memory.current"),
            false => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        };
        let file = group.join(most);
        // The kernel reclaims cached files on demand.
        let files = field(group.join("memory.stat"), "inactive_file").unwrap_or(0);
        Some(Limit {
            name: format!("{most} of the control group {} in MiB", group.display()),
            value: number(&file)? / MIB,
            used: number(group.join(now))?.saturating_sub(files) / MIB,
            raise: format!("echo {{}}M > {}", file.display()),
        })
    };
    available.into_iter().chain(control_groups("memory").iter().filter_map(group_limit)).collect()
}

/// The kernel tracks connections only where a rule of its packet filter needs that.
fn tracked() -> Option<Limit> {
    const COUNT: &str = "net.netfilter.nf_conntrack_count";
    limits::sysctl(COUNT)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let _probe = TcpStream::connect(listener.local_addr().ok()?).ok()?;
    let used = limits::sysctl(COUNT).filter(|count| *count > 0)?;
    sysctl("net.netfilter.nf_conntrack_max", used)
}

fn ports() -> Option<Limit> {
    let (first, last) = limits::local_ports()?;
    let name = format!("the number of ports in net.ipv4.ip_local_port_range ({first} to {last})");
    let raise = "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"".into();
    Some(Limit { name, value: (last + 1).saturating_sub(first), used: 0, raise })
}

fn sysctl(name: &str, used: u64) -> Option<Limit> {
    let value = limits::sysctl(name)?;
    Some(Limit { name: name.into(), value, used, raise: format!("sysctl -w {name}={{}}") })
}

/// Threads of the user who executes programs.
fn tasks_of_user() -> u64 {
    let user = invoker().map_or_else(|| geteuid().as_raw(), |invoker| invoker.uid);
    limits::threads_of_user(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_this_machine_are_detected() {
        let Machine { files, files_of_all, maps, threads, memory_mib, ports, .. } = Machine::detect();
        assert!(files_of_all[0].used > 0 && files_of_all[0].used < files_of_all[0].value);
        assert!(files[0].value > 10 && maps[0].value > 1000 && ports[0].value > 0);
        assert!(memory_mib[0].value > 10 && threads.iter().any(|limit| limit.name == "kernel.pid_max"));
        assert!(threads.iter().all(|limit| limit.used > 0 && limit.used < limit.value), "{threads:?}");
        assert!(tasks_of_user() > 0);
    }
}
