//! Small workloads that each exercise one operation of a scheduler.

mod forks;
mod hackbench;
mod hotplug;
mod locks;
mod memory;
mod ping_pong;
mod schbench;
mod times;
mod yields;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;

use klatch_instruments::InstrumentError;
use klatch_record::lab::CountedOperations;
use klatch_record::{Latency, LatencyError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use hackbench::{Hackbench, Passage};
pub use locks::{Acquisitions, Block, LockTiers};
pub use memory::Pattern;
pub use ping_pong::Channel;
pub use schbench::Schbench;
use times::{Elapsed, Times};

/// A small workload; `tasks` is 1 to 10,000, `rounds` 1 to 100,000,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Probe {
    /// Threads that only yield: a run queue of known length.
    Yield {
        /// Threads that yield, all runnable at once.
        tasks: u32,
        /// Calls of `sched_yield` per thread.
        rounds: u32,
    },
    /// Pairs of threads that pass a byte back and forth, or wake each other: each step is a wake-up.
    PingPong {
        /// Pairs of threads that run at the same time.
        pairs: u32,
        /// Round trips per pair.
        rounds: u32,
        /// What they have between them.
        channel: Channel,
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
    /// Groups of senders and receivers.
    Hackbench(Hackbench),
    /// Message threads that wake workers.
    Schbench(Schbench),
    /// CPUs go offline and online while threads yield.
    Hotplug {
        /// Threads that yield meanwhile.
        tasks: u32,
        /// Off and on cycles of each CPU except the first.
        rounds: u32,
    },
}

/// Result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// Name of the probe, as on the command line.
    pub probe: String,
    /// Threads, pairs, simultaneous processes, or elements of memory.
    pub tasks: u32,
    /// Rounds of each task, see [`Probe`].
    pub rounds: u32,
    /// Its other settings, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Name of a step: `yield`, `message`, `request`.
    pub operation: String,
    /// Number of steps of all tasks.
    pub steps: u64,
    /// Wall-clock time of the whole probe, ns.
    pub elapsed_ns: u64,
    /// Distributions of times, by name: `round_trip`, `wakeup`, `request`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<String, Latency>,
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
    /// The size of a message is out of range.
    #[error("datasize must be 8 to 4,096 bytes, got {0}")]
    Datasize(u32),
    /// Messages were not received.
    #[error("{received} of {expected} messages were received")]
    Lost {
        /// Messages that were received.
        received: u64,
        /// Messages that were to be sent.
        expected: u64,
    },
    /// The times make no distribution.
    #[error(transparent)]
    Times(#[from] LatencyError),
    /// The counters of the lab failed.
    #[error("cannot count the operations: {0}")]
    Counts(#[from] InstrumentError),
    /// The machine has one CPU, or its CPUs cannot go offline.
    #[error("no CPU of this machine can be taken offline: {0}")]
    NoHotplug(String),
    /// The caller set the flag.
    #[error("interrupted")]
    Interrupted,
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The operation, as a verb.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// What a probe did.
struct Done {
    operation: &'static str,
    steps: u64,
    elapsed: Elapsed,
    times: BTreeMap<&'static str, Times>,
    settings: BTreeMap<&'static str, String>,
    acquisitions: Option<Acquisitions>,
}

impl Done {
    fn new(operation: &'static str, steps: u64, elapsed: Elapsed) -> Done {
        let (times, settings) = (BTreeMap::new(), BTreeMap::new());
        Done { operation, steps, elapsed, times, settings, acquisitions: None }
    }

    /// The same with a distribution of times.
    fn with(mut self, name: &'static str, times: Times) -> Done {
        self.times.insert(name, times);
        self
    }

    /// The same with a setting.
    fn set(mut self, name: &'static str, value: impl ToString) -> Done {
        self.settings.insert(name, value.to_string());
        self
    }
}

impl Probe {
    /// Runs the probe in this process. In the lab it counts its operations, if it is asked to. `interrupted` ends [`Probe::Hotplug`],
    /// which brings the CPUs online first; other probes leave nothing behind and do not look at it.
    ///
    /// # Errors
    /// See [`ProbeError`].
    pub fn run(self, interrupted: &AtomicBool) -> Result<ProbeResult, ProbeError> {
        let (name, tasks, rounds) = match self {
            Probe::Yield { tasks, rounds } => ("yield", tasks, rounds),
            Probe::PingPong { pairs, rounds, .. } => ("ping-pong", pairs, rounds),
            Probe::Forks { tasks, rounds } => ("forks", tasks, rounds),
            Probe::Locks { tasks, rounds, .. } => ("locks", tasks, rounds),
            Probe::Memory { elements, rounds, .. } => ("memory", elements, rounds),
            Probe::Hotplug { tasks, rounds } => ("hotplug", tasks, rounds),
            Probe::Hackbench(Hackbench { groups, fds, loops, .. }) => {
                ("hackbench", groups.saturating_mul(fds).saturating_mul(2), loops)
            }
            Probe::Schbench(Schbench { message_threads, workers, requests, .. }) => {
                ("schbench", message_threads.saturating_mul(workers), requests)
            }
        };
        if !matches!(self, Probe::Memory { .. } | Probe::Hackbench(_) | Probe::Schbench(_)) {
            within("tasks", tasks, 10_000)?;
        }
        within("rounds", rounds, 100_000_000)?;
        let done = match self {
            Probe::Yield { .. } => yields::run(tasks, rounds),
            Probe::PingPong { channel, .. } => ping_pong::run(tasks, rounds, channel),
            Probe::Forks { .. } => forks::run(tasks, rounds),
            Probe::Locks { tiers, .. } => {
                within("locks", tiers.locks, 10_000)?;
                locks::run(tasks, rounds, tiers)
            }
            Probe::Memory { pattern, elements, stride_bytes, rounds } => {
                memory::run(pattern, elements, stride_bytes, rounds)
            }
            Probe::Hotplug { .. } => hotplug::run(tasks, rounds, interrupted),
            Probe::Hackbench(settings) => hackbench::run(settings),
            Probe::Schbench(settings) => schbench::run(settings),
        }?;
        let mut times = BTreeMap::new();
        for (name, all) in &done.times {
            if let Some(latency) = all.latency()? {
                times.insert((*name).to_owned(), latency);
            }
        }
        if let Some(counts) = done.elapsed.counts {
            counts.save(CountedOperations { name: done.operation.to_owned(), count: done.steps })?;
        }
        Ok(ProbeResult {
            probe: name.to_owned(),
            tasks,
            rounds,
            settings: done.settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            operation: done.operation.to_owned(),
            steps: done.steps,
            elapsed_ns: done.elapsed.ns,
            times,
            acquisitions: done.acquisitions,
        })
    }
}

fn within(what: &'static str, got: u32, max: u32) -> Result<(), ProbeError> {
    if (1..=max).contains(&got) { Ok(()) } else { Err(ProbeError::Range { what, max, got }) }
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> ProbeError {
    move |source| ProbeError::System { what, source }
}

/// Size of the stack of a thread: small, so that thousands of threads fit into the lab's memory.
const STACK_BYTES: usize = 64 * 1024;

/// Starts a thread for each element of `work`. On an error `started` holds the threads that run already.
fn threads<'scope, W: FnOnce() + Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    work: Vec<W>,
    started: &mut Vec<std::thread::Thread>,
) -> Result<(), ProbeError> {
    for work in work {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
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
        let steps = |probe: Probe| probe.run(&AtomicBool::new(false)).unwrap().steps;
        assert_eq!(steps(Probe::Yield { tasks: 5, rounds: 40 }), 200);
        assert_eq!(steps(Probe::PingPong { pairs: 3, rounds: 20, channel: Channel::Pipe }), 120);
        assert_eq!(steps(Probe::Forks { tasks: 4, rounds: 3 }), 12);
        let error =
            Probe::Yield { tasks: 0, rounds: 1 }.run(&AtomicBool::new(false)).unwrap_err().to_string();
        assert_eq!(error, "tasks must be 1 to 10,000, got 0");
    }
}
