//! Begins both slices of a pair with server and crowd on the same CPUs.
//!
//! CPUs of a shared machine are not equally fast, since each has other neighbours, and a thread stays for seconds on the CPU that it
//! happens to be on. Without this, A's server may sit on the slow CPU for a whole start and B's on the fast one. The
//! kernel is free to move every thread after the first moment of a slice.

use fastrand::Rng;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A process with more threads than this has some on every CPU anyway, and to move all of them would take longer.
const THREADS_MAX: usize = 16;

/// The CPUs on which server and crowd begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) server: usize,
    pub(crate) crowd: usize,
}

impl Placement {
    /// Two different CPUs of this process at random; `None` if it has only one.
    pub(crate) fn random(rng: &mut Rng) -> Option<Placement> {
        let all = sched_getaffinity(None).ok()?;
        let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).collect();
        let (server, crowd) = (rng.usize(..cpus.len()), rng.usize(..cpus.len().max(2) - 1));
        // The crowd takes one of the remaining CPUs.
        let crowd = crowd + usize::from(crowd >= server);
        Some(Placement { server: *cpus.get(server)?, crowd: *cpus.get(crowd)? })
    }
}

/// Threads that are confined to one CPU. Dropping it frees them again.
pub(crate) struct Confined(Vec<(Pid, CpuSet)>);

impl Confined {
    /// Confines all threads of these processes to a CPU, except where their own settings exclude it.
    pub(crate) fn to(cpu: usize, pids: &[u32]) -> Confined {
        let mut only = CpuSet::new();
        only.set(cpu);
        let mut confined = Confined(Vec::new());
        for threads in pids.iter().map(|&pid| threads(pid)).filter(|threads| threads.len() <= THREADS_MAX) {
            for thread in threads {
                // A thread that has ended is no reason to stop.
                let Ok(before) = sched_getaffinity(Some(thread)) else { continue };
                if before.is_set(cpu) && sched_setaffinity(Some(thread), &only).is_ok() {
                    confined.0.push((thread, before));
                }
            }
        }
        confined
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        for (thread, before) in &self.0 {
            // Fails only for a thread that has ended.
            let _ = sched_setaffinity(Some(*thread), before);
        }
    }
}

fn threads(pid: u32) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let number = |task: std::fs::DirEntry| Pid::from_raw(task.file_name().to_str()?.parse().ok()?);
    tasks.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confined_threads_are_freed_again() {
        let Some(place) = Placement::random(&mut Rng::with_seed(1)) else { return };
        assert_ne!(place.server, place.crowd);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let before = sched_getaffinity(Some(pid)).unwrap();
        let confined = Confined::to(place.server, &[child.id()]);
        let during = sched_getaffinity(Some(pid)).unwrap();
        assert_eq!((during.count(), during.is_set(place.server)), (1, true));
        drop(confined);
        assert_eq!(sched_getaffinity(Some(pid)).unwrap().count(), before.count());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
