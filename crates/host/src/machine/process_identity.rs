//! Owner and ids of a process, for the files that it leaves under its own id.

use std::path::PathBuf;

use crate::machine::ProcessStatus;

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
        let status = ProcessStatus::read(pid).ok()?;
        // The last id of NStgid is that in the innermost namespace; of Uid the second is effective.
        let ids = status.text("NStgid").or_else(|| status.text("Tgid"))?;
        let own_pid = ids.split_ascii_whitespace().next_back()?.parse().ok()?;
        let owner = status.text("Uid")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(ProcessIdentity { pid, own_pid, owner })
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
