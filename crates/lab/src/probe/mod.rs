//! Small workloads that ask one thing of a scheduler.

mod forks;
mod hotplug;
mod locks;
mod ping_pong;
mod yields;

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A small workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Threads that do nothing but yield, each so often: a run queue of known length.
    Yield {
        /// Threads.
        tasks: u32,
        /// Yields of each.
        rounds: u32,
    },
    /// Two threads that send a byte to and fro through pipes: each step is a wake-up.
    PingPong {
        /// Pairs of threads.
        pairs: u32,
        /// Bytes to and fro of each.
        rounds: u32,
    },
    /// Processes that start and end.
    Forks {
        /// Processes at a time.
        tasks: u32,
        /// So often.
        rounds: u32,
    },
    /// Threads that work, and take one lock: they yield when it is taken, and block when that does not help.
    Locks {
        /// Threads.
        tasks: u32,
        /// How often each takes the lock.
        rounds: u32,
    },
    /// CPUs that go and come while threads yield.
    Hotplug {
        /// Threads.
        tasks: u32,
        /// How often each CPU but the first goes and comes.
        rounds: u32,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Which.
    pub probe: String,
    /// Tasks.
    pub tasks: u32,
    /// Steps of each.
    pub rounds: u32,
    /// Steps of all: yields, bytes, processes, times that the lock was taken.
    pub steps: u64,
    /// How long it took, ns.
    pub elapsed_ns: u64,
}

/// Why a probe could not be carried out.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A number is out of range.
    #[error("{what} must be 1..={max}, got {got}")]
    Range {
        /// Which.
        what: &'static str,
        /// Greatest value.
        max: u32,
        /// As it was asked for.
        got: u32,
    },
    /// The machine has one CPU, or does not let CPUs go.
    #[error("no CPU of this machine can be taken away: {0}")]
    NoHotplug(String),
    /// The kernel refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// What.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl Probe {
    /// Carries it out.
    ///
    /// # Errors
    /// See [`ProbeError`].
    pub fn run(self) -> Result<ProbeResult, ProbeError> {
        let (name, tasks, rounds) = match self {
            Probe::Yield { tasks, rounds } => ("yield", tasks, rounds),
            Probe::PingPong { pairs, rounds } => ("ping-pong", pairs, rounds),
            Probe::Forks { tasks, rounds } => ("forks", tasks, rounds),
            Probe::Locks { tasks, rounds } => ("locks", tasks, rounds),
            Probe::Hotplug { tasks, rounds } => ("hotplug", tasks, rounds),
        };
        within("tasks", tasks, 10_000)?;
        within("rounds", rounds, 100_000_000)?;
        let (steps, elapsed_ns) = match self {
            Probe::Yield { .. } => yields::run(tasks, rounds),
            Probe::PingPong { .. } => ping_pong::run(tasks, rounds),
            Probe::Forks { .. } => forks::run(tasks, rounds),
            Probe::Locks { .. } => locks::run(tasks, rounds),
            Probe::Hotplug { .. } => hotplug::run(tasks, rounds),
        }?;
        Ok(ProbeResult { probe: name.to_owned(), tasks, rounds, steps, elapsed_ns })
    }
}

fn within(what: &'static str, got: u32, max: u32) -> Result<(), ProbeError> {
    if (1..=max).contains(&got) { Ok(()) } else { Err(ProbeError::Range { what, max, got }) }
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> ProbeError {
    move |source| ProbeError::System { what, source }
}

/// Starts a thread for each piece of `work`; `started` has those that could be, also when one could not.
fn threads<'scope, W: FnOnce() + Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    work: Vec<W>,
    started: &mut Vec<std::thread::Thread>,
) -> Result<(), ProbeError> {
    for work in work {
        // Enough for what probes do, and little enough for thousands.
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
    fn probes_take_all_their_steps() {
        let steps = |probe: Probe| probe.run().unwrap().steps;
        assert_eq!(steps(Probe::Yield { tasks: 5, rounds: 40 }), 200);
        assert_eq!(steps(Probe::PingPong { pairs: 3, rounds: 20 }), 120);
        assert_eq!(steps(Probe::Forks { tasks: 4, rounds: 3 }), 12);
        assert_eq!(steps(Probe::Locks { tasks: 4, rounds: 3 }), 12);
        let told = Probe::Yield { tasks: 0, rounds: 1 }.run().unwrap_err().to_string();
        assert_eq!(told, "tasks must be 1..=10000, got 0");
    }
}
