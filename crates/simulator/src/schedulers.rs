//! The schedulers of history, one of today's questions, and the kernel's own of today. Those that are BPF schedulers too decide by the
//! rules in the headers that those include. All answer with counts, which the machine prices.

mod eevdf;
mod fifo;
mod goodness;
mod multiqueue;
mod o1;
#[cfg(test)]
mod replay_tests;
mod scheduler;
mod shards;
mod sleepers;

use std::str::FromStr;

use klatch_record::instead_of;
use klatch_schedulers::policies::goodness::Version;
use klatch_schedulers::policies::o1::YieldTo;

pub(crate) use eevdf::Eevdf;
pub use eevdf::EevdfKnobs;
pub(crate) use fifo::Fifo;
pub(crate) use goodness::Goodness;
pub use goodness::GoodnessKnobs;
pub(crate) use multiqueue::Multiqueue;
pub use multiqueue::MultiqueueKnobs;
pub(crate) use o1::O1;
pub use o1::O1Knobs;
pub(crate) use scheduler::{Cause, Decision, Scheduler, View, Wake, Yield};
pub(crate) use shards::Shards;
pub(crate) use sleepers::Sleepers;

use crate::placement::Placement;
use crate::topology::{CPUS_MAX, Topology};

/// A scheduler with its knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerSpec {
    /// Linux 6.6 and newer: a queue for each CPU, and the earliest eligible virtual deadline.
    Eevdf(EevdfKnobs),
    /// One queue, first in, first out.
    Fifo,
    /// Linux 2.3 or 2.4: one queue that is walked.
    Goodness(GoodnessKnobs),
    /// Linux 2.4 with MQ.
    Multiqueue(MultiqueueKnobs),
    /// Linux 2.5 with the O(1) scheduler.
    O1(O1Knobs),
    /// A first-in-first-out queue for each group of neighbouring CPUs of this size, with stealing.
    Shards(ShardSize),
    /// One queue whose head is for tasks that sleep, until they have run for this many µs.
    Sleepers(u64),
}

/// How many neighbouring CPUs share a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardSize {
    /// A fixed number of CPUs.
    Cpus(usize),
    /// Those of a last-level cache.
    Llc,
    /// Those of a node.
    Node,
    /// All CPUs of the machine.
    Machine,
}

impl ShardSize {
    /// Reads a number or the name of a level.
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "llc" => Self::Llc,
            "node" => Self::Node,
            "machine" => Self::Machine,
            number => Self::Cpus(number.parse().ok().filter(|cpus| (1..=CPUS_MAX).contains(cpus))?),
        })
    }

    /// The number of CPUs on a machine.
    pub(crate) fn cpus(self, topology: &Topology) -> usize {
        match self {
            Self::Cpus(cpus) => cpus,
            Self::Llc => topology.cpus_per_llc(),
            Self::Node => topology.cpus_per_node(),
            Self::Machine => topology.cpus(),
        }
    }
}

/// Why there is no such scheduler.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpecError {
    /// The name is unknown.
    #[error("there is no simulated scheduler `{0}`; {instead}", instead = instead_of(.0, &SchedulerSpec::NAMES, "there are"))]
    Name(String),
    /// The scheduler has no such knob, or the value is outside its range.
    #[error("`{knob}` is not a knob of `{scheduler}` with a value that it accepts; its knobs: {knobs}")]
    Knob {
        /// The name of the scheduler.
        scheduler: &'static str,
        /// Name and value as given.
        knob: String,
        /// All knobs with their values.
        knobs: &'static str,
    },
}

/// What is done with a scheduler, whatever its type.
pub(crate) trait UseOfScheduler {
    /// The outcome.
    type Output;

    /// Does it.
    fn with<S: Scheduler>(self, scheduler: S) -> Self::Output;
}

impl SchedulerSpec {
    /// The names of all schedulers.
    pub const NAMES: [&str; 7] = ["eevdf", "fifo", "goodness", "multiqueue", "o1", "shards", "sleepers"];

    /// The scheduler with this name: `eevdf` is Linux 6.18, `goodness` is Linux 2.4.14, and `shards` has one queue for eight CPUs.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        Ok(match name {
            "eevdf" => Self::Eevdf(EevdfKnobs::LINUX_6_18),
            "fifo" => Self::Fifo,
            "goodness" => Self::Goodness(GoodnessKnobs::LINUX_2_4_14),
            "multiqueue" => Self::Multiqueue(MultiqueueKnobs::PUBLISHED),
            "o1" => Self::O1(O1Knobs::LINUX_2_5),
            "shards" => Self::Shards(ShardSize::Cpus(8)),
            "sleepers" => Self::Sleepers(1000),
            _ => return Err(SpecError::Name(name.to_owned())),
        })
    }

    /// The name of the scheduler.
    pub fn name(&self) -> &'static str {
        let [eevdf, fifo, goodness, multiqueue, o1, shards, sleepers] = Self::NAMES;
        match self {
            Self::Eevdf(_) => eevdf,
            Self::Fifo => fifo,
            Self::Goodness(_) => goodness,
            Self::Multiqueue(_) => multiqueue,
            Self::O1(_) => o1,
            Self::Shards(_) => shards,
            Self::Sleepers(_) => sleepers,
        }
    }

    /// Makes it for a machine and the address spaces of the tasks, and has it used.
    pub(crate) fn made<U: UseOfScheduler>(
        self,
        topology: &Topology,
        placement: Placement,
        spaces: &[u64],
        used: U,
    ) -> U::Output {
        let (cpus, tasks) = (topology.cpus(), spaces.len());
        match self {
            Self::Eevdf(knobs) => used.with(Eevdf::new(knobs, topology, placement, tasks)),
            Self::Fifo => used.with(Fifo::new(placement, tasks)),
            Self::Goodness(knobs) => used.with(Goodness::new(knobs, placement, spaces, cpus)),
            Self::Multiqueue(knobs) => used.with(Multiqueue::new(knobs, placement, spaces, cpus)),
            Self::O1(knobs) => used.with(O1::new(knobs, placement, tasks, cpus)),
            Self::Shards(size) => used.with(Shards::new(size.cpus(topology), placement, tasks, cpus)),
            Self::Sleepers(budget_us) => used.with(Sleepers::new(budget_us, placement, tasks)),
        }
    }

    /// Its knobs with the values that they accept.
    pub fn knobs(&self) -> &'static str {
        match self {
            Self::Eevdf(_) => "slice_us=0..100000, run_to_parity=0|1, delay_dequeue=0|1, yield_forfeits=0|1",
            Self::Fifo => "none",
            Self::Goodness(_) => {
                "kernel=2.3.28|2.4.14|2.4.17, version=23|24, yield_locks=0|1, yield_to_tail=0|1, head=0|1, \
                 cache_flush_us=0..10000, preemption_threshold=0..100, previous_wins_ties=0|1, offers_yielded=0|1, yielded_competes=0|1"
            }
            Self::Multiqueue(_) => "previous_wins_ties=0|1",
            Self::O1(_) => "yield=1|2|3, idle_pulls_warm=0|1",
            Self::Shards(_) => "cpus=1..4096|llc|node|machine",
            Self::Sleepers(_) => "budget_us=0..1000000",
        }
    }

    /// The same scheduler with another value for a knob.
    ///
    /// # Errors
    /// It has no such knob, or the knob does not accept the value.
    pub fn with(mut self, knob: &str, value: &str) -> Result<Self, SpecError> {
        let (scheduler, knobs) = (self.name(), self.knobs());
        let wrong = || SpecError::Knob { scheduler, knob: format!("{knob}={value}"), knobs };
        if let (Self::Shards(size), "cpus") = (&mut self, knob) {
            *size = ShardSize::parse(value).ok_or_else(wrong)?;
            return Ok(self);
        }
        if let (Self::Goodness(knobs), "kernel") = (&mut self, knob) {
            *knobs = GoodnessKnobs::of_kernel(value).ok_or_else(wrong)?;
            return Ok(self);
        }
        let number: usize = value.parse().map_err(|_| wrong())?;
        let switch = match number {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let set = |field: &mut bool| switch.map(|value| *field = value);
        let done = match (&mut self, knob) {
            (Self::Eevdf(knobs), "slice_us") if number <= 100_000 => {
                knobs.slice_us = number as u64;
                Some(())
            }
            (Self::Eevdf(knobs), "run_to_parity") => set(&mut knobs.run_to_parity),
            (Self::Eevdf(knobs), "delay_dequeue") => set(&mut knobs.delay_dequeue),
            (Self::Eevdf(knobs), "yield_forfeits") => set(&mut knobs.yield_forfeits),
            (Self::Goodness(knobs), "version") => version(number).map(|version| knobs.version = version),
            (Self::Goodness(knobs), "yield_locks") => set(&mut knobs.yield_locks),
            (Self::Goodness(knobs), "yield_to_tail") => set(&mut knobs.yield_to_tail),
            (Self::Goodness(knobs), "head") => set(&mut knobs.head),
            (Self::Goodness(knobs), "cache_flush_us") if number <= 10_000 => {
                knobs.cache_flush_us = number as u64;
                Some(())
            }
            (Self::Goodness(knobs), "preemption_threshold") if number <= 100 => {
                knobs.preemption_threshold = number as i32;
                Some(())
            }
            (Self::Goodness(knobs), "previous_wins_ties") => set(&mut knobs.previous_wins_ties),
            (Self::Goodness(knobs), "offers_yielded") => set(&mut knobs.offers_yielded),
            (Self::Goodness(knobs), "yielded_competes") => set(&mut knobs.yielded_competes),
            (Self::Multiqueue(knobs), "previous_wins_ties") => set(&mut knobs.previous_wins_ties),
            (Self::O1(knobs), "yield") => yield_to(number).map(|yield_to| knobs.yield_to = yield_to),
            (Self::Sleepers(budget_us), "budget_us") if number <= 1_000_000 => {
                *budget_us = number as u64;
                Some(())
            }
            (Self::O1(knobs), "idle_pulls_warm") => set(&mut knobs.idle_pulls_warm),
            _ => None,
        };
        done.map(|()| self).ok_or_else(wrong)
    }
}

/// A scheduler as `NAME` or `NAME:KNOB=VALUE,…`.
impl FromStr for SchedulerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, knobs) = text.split_once(':').unwrap_or((text, ""));
        let mut spec = Self::named(name)?;
        for knob in knobs.split(',').filter(|knob| !knob.is_empty()) {
            let (knob, value) = knob.split_once('=').unwrap_or((knob, ""));
            spec = spec.with(knob, value)?;
        }
        Ok(spec)
    }
}

fn version(number: usize) -> Option<Version> {
    [Version::Linux2_3, Version::Linux2_4].into_iter().find(|version| *version as usize == number)
}

fn yield_to(number: usize) -> Option<YieldTo> {
    [YieldTo::BehindNext, YieldTo::Tail, YieldTo::Expired]
        .into_iter()
        .find(|yield_to| *yield_to as usize == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_its_name_and_its_knobs() {
        let goodness = SchedulerSpec::named("goodness").unwrap();
        let later = goodness.with("kernel", "2.4.17").unwrap();
        assert_eq!(later, SchedulerSpec::Goodness(GoodnessKnobs::LINUX_2_4_17));
        for name in SchedulerSpec::NAMES {
            assert_eq!(SchedulerSpec::named(name).unwrap().name(), name);
        }
    }

    #[test]
    fn unknown_names_and_values_are_refused_with_what_there_is() {
        let error = SchedulerSpec::named("cfs").unwrap_err().to_string();
        assert!(error.contains("`cfs`") && error.contains("goodness, multiqueue"), "{error}");
        let o1 = SchedulerSpec::named("o1").unwrap();
        for (knob, value) in [("yield", "4"), ("yield", "tail"), ("version", "24"), ("idle_pulls_warm", "2")]
        {
            let error = o1.with(knob, value).unwrap_err().to_string();
            assert!(error.contains(&format!("`{knob}={value}`")) && error.contains("yield=1|2|3"), "{error}");
        }
    }
}
