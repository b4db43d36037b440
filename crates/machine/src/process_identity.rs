//! Owner and ids of a process, for the files that it leaves under its own id.

use std::path::PathBuf;

use procfs::process::Process;

/// Who a process is, in its own eyes too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Id in this process's namespace.
    pub pid: u32,
    /// Id in the namespace of the process itself.
    pub own_pid: u32,
    /// Effective user, who owns the files that it makes.
    pub owner: u32,
}

impl ProcessIdentity {
    /// The process with this id; `None` if there is none.
    pub fn of(pid: u32) -> Option<ProcessIdentity> {
        let status = Process::new(i32::try_from(pid).ok()?).ok()?.status().ok()?;
        let own_pid = status.nstgid.as_ref().and_then(|ids| ids.last().copied()).unwrap_or(status.tgid);
        Some(ProcessIdentity { pid, own_pid: u32::try_from(own_pid).ok()?, owner: status.euid })
    }

    /// `/tmp` as the process sees it.
    pub fn temporary_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/tmp", self.pid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_sees_itself() {
        let me = std::process::id();
        let owner = rustix::process::geteuid().as_raw();
        assert_eq!(ProcessIdentity::of(me), Some(ProcessIdentity { pid: me, own_pid: me, owner }));
        assert_eq!(ProcessIdentity::of(u32::MAX), None);
    }
}
