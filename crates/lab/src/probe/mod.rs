//! Small workloads that each exercise one operation of a scheduler.

mod forks;
mod hotplug;
mod locks;
mod memory;
mod ping_pong;
mod yields;

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use locks::{Acquisitions, Block, LockTiers};
pub use memory::Pattern;

/// A small workload; `tasks` is 1 to 10,000, `rounds` 1 to 100,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Threads that only yield: a run queue of known length.
    Yield {
        /// Threads that yield, all runnable at once.
        tasks: u32,
        /// Calls of `sched_yield` per thread.
        rounds: u32,
    },
    /// Pairs of threads that pass a byte back and forth through pipes: each step is a wake-up.
    PingPong {
        /// Pairs of threads that run at the same time.
        pairs: u32,
        /// Round trips per pair.
        rounds: u32,
    },
    /// Processes that start and exit.
    Forks {
        /// Processes that run at the same time.
        tasks: u32,
        /// Number of such batches.
        rounds: u32,
    },
    /// Threads that compute and share locks: they spin, yield, then block.
    Locks {
        /// Threads that compete for the locks.
        tasks: u32,
        /// Number of acquisitions of each thread.
        rounds: u32,
        /// The locks, and how they are acquired.
        tiers: LockTiers,
    },
    /// Accesses to memory with known cache misses.
    Memory {
        /// The order of the accesses.
        pattern: Pattern,
        /// Number of elements, 1 to 16 million.
        elements: u32,
        /// Distance between two elements, bytes, rounded up to 8.
        stride_bytes: u32,
        /// How often all elements are accessed.
        rounds: u32,
    },
    /// CPUs go offline and online while threads yield.
    Hotplug {
        /// Threads that yield meanwhile.
        tasks: u32,
        /// Off and on cycles of each CPU except the first.
        rounds: u32,
    },
}

/// Result of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Name of the probe, as on the command line.
    pub probe: String,
    /// Threads, pairs, simultaneous processes, or elements of memory.
    pub tasks: u32,
    /// Rounds of each task, see [`Probe`].
    pub rounds: u32,
    /// Total of yields, bytes, processes, lock acquisitions or accesses.
    pub steps: u64,
    /// Wall-clock time of the whole probe, ns.
    pub elapsed_ns: u64,
    /// How locks were acquired; only of the probe of locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquisitions: Option<Acquisitions>,
}

/// A probe that could not run.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A number is out of range.
    #[error("{what} must be {range}, got {got}", range = klatch_record::range_in_words(1u32, *max))]
    Range {
        /// The option out of range, such as `tasks`.
        what: &'static str,
        /// Highest valid value; the lowest is 1.
        max: u32,
        /// The value on the command line.
        got: u32,
    },
    /// The machine has one CPU, or its CPUs cannot go offline.
    #[error("no CPU of this machine can be taken offline: {0}")]
    NoHotplug(String),
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The operation, as a verb.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Probe {
    /// Runs the probe in this process.
    ///
    /// # Errors
    /// See [`ProbeError`].
    pub fn run(self) -> Result<ProbeResult, ProbeError> {
        let (name, tasks, rounds) = match self {
            Probe::Yield { tasks, rounds } => ("yield", tasks, rounds),
            Probe::PingPong { pairs, rounds } => ("ping-pong", pairs, rounds),
            Probe::Forks { tasks, rounds } => ("forks", tasks, rounds),
            Probe::Locks { tasks, rounds, .. } => ("locks", tasks, rounds),
            Probe::Memory { elements, rounds, .. } => ("memory", elements, rounds),
            Probe::Hotplug { tasks, rounds } => ("hotplug", tasks, rounds),
        };
        if !matches!(self, Probe::Memory { .. }) {
            within("tasks", tasks, 10_000)?;
        }
        within("rounds", rounds, 100_000_000)?;
        let mut acquisitions = None;
        let (steps, elapsed_ns) = match self {
            Probe::Yield { .. } => yields::run(tasks, rounds),
            Probe::PingPong { .. } => ping_pong::run(tasks, rounds),
            Probe::Forks { .. } => forks::run(tasks, rounds),
            Probe::Locks { tiers, .. } => {
                within("locks", tiers.locks, 10_000)?;
                locks::run(tasks, rounds, tiers).map(|(done, counts)| {
                    acquisitions = Some(counts);
                    done
                })
            }
            Probe::Memory { pattern, elements, stride_bytes, rounds } => {
                memory::run(pattern, elements, stride_bytes, rounds)
            }
            Probe::Hotplug { .. } => hotplug::run(tasks, rounds),
        }?;
        Ok(ProbeResult { probe: name.to_owned(), tasks, rounds, steps, elapsed_ns, acquisitions })
    }
}

fn within(what: &'static str, got: u32, max: u32) -> Result<(), ProbeError> {
    if (1..=max).contains(&got) { Ok(()) } else { Err(ProbeError::Range { what, max, got }) }
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> ProbeError {
    move |source| ProbeError::System { what, source }
}

/// Starts a thread for each element of `work`. On an error `started` holds the threads that run already.
fn threads<'scope, W: FnOnce() + Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    work: Vec<W>,
    started: &mut Vec<std::thread::Thread>,
) -> Result<(), ProbeError> {
    for work in work {
        // Small, so that thousands of threads fit into the lab's memory.
        let builder = std::thread::Builder::new().stack_size(64 * 1024);
        let thread = builder.spawn_scoped(scope, work).map_err(system("start a thread"))?;
        started.push(thread.thread().clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_run_all_their_steps() {
        let steps = |probe: Probe| probe.run().unwrap().steps;
        assert_eq!(steps(Probe::Yield { tasks: 5, rounds: 40 }), 200);
        assert_eq!(steps(Probe::PingPong { pairs: 3, rounds: 20 }), 120);
        assert_eq!(steps(Probe::Forks { tasks: 4, rounds: 3 }), 12);
        let error = Probe::Yield { tasks: 0, rounds: 1 }.run().unwrap_err().to_string();
        assert_eq!(error, "tasks must be 1 to 10,000, got 0");
    }
}
