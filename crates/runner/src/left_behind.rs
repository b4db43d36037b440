//! Processes that a program leaves behind when it ends: one that goes to the background may still load a scheduler.

use std::collections::BTreeSet;

use klatch_host::machine::process_tree;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, getsid, kill_process, set_child_subreaper, waitpid,
};

/// Makes orphans of what this process starts its children, until this is dropped.
pub(crate) struct Orphans {
    /// Processes that were there before.
    before: BTreeSet<u32>,
}

impl Orphans {
    pub(crate) fn adopt() -> Orphans {
        let before = own_tree();
        // Without it they are not seen, and stay.
        let _ = set_child_subreaper(Some(getpid()));
        Orphans { before }
    }

    /// What runs of what the process `pid`, which has ended, has started: it is in the group of that process, or in another session than
    /// all that this process starts.
    pub(crate) fn left_behind(&self, pid: u32) -> BTreeSet<u32> {
        let (own, ended) = (getsid(None).ok(), process(pid));
        let is_of_it = |one: Option<Pid>| getpgid(one).ok() == ended || getsid(one).ok() != own;
        let mut new = own_tree();
        new.retain(|one| {
            *one != pid && !self.before.contains(one) && is_of_it(process(*one)) && !has_ended(*one)
        });
        new
    }

    /// Ends what the process `pid` has left behind.
    pub(crate) fn end(&self, pid: u32) {
        loop {
            let left = self.left_behind(pid);
            if left.is_empty() {
                return;
            }
            for pid in left.into_iter().filter_map(process) {
                let _ = kill_process(pid, Signal::KILL);
                // Fails for what is not a child: it becomes one when its parent has ended.
                let _ = waitpid(Some(pid), WaitOptions::empty());
            }
        }
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        let _ = set_child_subreaper(None);
    }
}

fn own_tree() -> BTreeSet<u32> {
    process_tree(std::process::id()).into_iter().collect()
}

fn process(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether a process has ended; an adopted one is then waited for.
fn has_ended(pid: u32) -> bool {
    process(pid).is_none_or(|pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_))))
}

#[cfg(test)]
mod tests {
    use klatch_platforms::{Launch, Line, Processes};

    use super::*;

    #[test]
    fn a_process_in_a_session_of_its_own_is_seen_and_ended() {
        let orphans = Orphans::adopt();
        // It closes its output when its child has left its group.
        let script = "setsid sh -c 'echo gone; exec sleep 600' & read never";
        let command = ["sh", "-c", script].map(str::to_owned);
        let mut process = Processes::default().start(&command, &Launch::default()).unwrap();
        let soon = std::time::Instant::now() + std::time::Duration::from_secs(60);
        assert_eq!(process.line(soon), Line::Text("gone".to_owned()));
        process.close_stdin();
        process.wait_for_exit();
        let left = orphans.left_behind(process.pid());
        assert_eq!(left.len(), 1, "the sleep");
        orphans.end(process.pid());
        assert!(orphans.left_behind(process.pid()).is_empty());
        assert!(left.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists()));
    }
}
