//! One simulated run: a workload on a machine under a scheduler.

use std::ops::Range;

use serde::Serialize;

use crate::account::Account;
use crate::costs::Costs;
use crate::counts::Counts;
use crate::hardware::Hardware;
use crate::machine::Machine;
use crate::machine::recorder::ScheduleEvent;
use crate::placement::Placement;
use crate::prices::{Conditions, HEAP_MB, Prices};
use crate::schedulers::{Scheduler, SchedulerSpec, UseOfScheduler};
use crate::work::Work;
use crate::work::chat::Chat;
use crate::work::collector::Collector;
use crate::work::hackbench::Hackbench;
use crate::work::locks::Locks;
use crate::work::requests::Requests;
use crate::work::spec::Workload;
use crate::work::trace::Trace;

/// A workload on a machine under a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The scheduler with its knobs.
    pub scheduler: SchedulerSpec,
    /// The machine that is simulated.
    pub hardware: Hardware,
    /// What runs on it.
    pub work: Workload,
    /// CPUs of each process: of a chat's client and of its server, or of each server. Empty if all use all.
    pub placement: Vec<Range<usize>>,
    /// Seed of the variation of user time, and of the choice among CPUs that wait for a lock.
    pub seed: u64,
}

/// The result of a simulated run. Nothing in it is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Counts after the first tenth of the messages.
    pub counts: Counts,
    /// CPUs of the machine.
    pub cpus: usize,
    /// Clock of a CPU.
    pub mhz: u64,
}

impl Outcome {
    /// Runs of the same machine together.
    ///
    /// # Panics
    /// There is none.
    pub fn sum(runs: &[Self]) -> Self {
        let counts = runs.iter().fold(Counts::default(), |sum, run| sum.plus(&run.counts));
        Self { counts, cpus: runs[0].cpus, mhz: runs[0].mhz }
    }

    /// CPU time of all CPUs in an account, per message.
    pub fn us_per_message(&self, account: Account) -> f64 {
        self.counts.accounts.get(account) as f64 / self.counts.messages as f64 / self.mhz as f64
    }

    /// Messages sent and received per second.
    pub fn messages_per_s(&self) -> f64 {
        self.counts.messages as f64 * self.mhz as f64 * 1e6 / self.counts.cycles as f64
    }

    /// The kernel's share of busy CPU time.
    pub fn kernel_share(&self) -> f64 {
        self.counts.accounts.kernel() as f64 / self.counts.accounts.busy() as f64
    }

    /// The share of all CPU time in an account.
    pub fn share(&self, account: Account) -> f64 {
        self.counts.accounts.get(account) as f64 / self.counts.accounts.total() as f64
    }

    /// The run-queue latency that this share of wake-ups does not exceed: from the wake-up until a CPU has chosen the task.
    pub fn latency_us(&self, share: f64) -> f64 {
        self.counts.waits.quantile(share) as f64 / self.mhz as f64
    }

    /// Mean number of runnable tasks in the queue at a decision.
    pub fn queue_length_mean(&self) -> f64 {
        self.counts.length_sum as f64 / self.counts.decisions as f64
    }

    /// The standard deviation of that length.
    pub fn queue_length_sd(&self) -> f64 {
        let squares = self.counts.length_squares as f64 / self.counts.decisions as f64;
        (squares - self.queue_length_mean().powi(2)).max(0.0).sqrt()
    }
}

/// Simulates a workload on a machine. Equal arguments give equal results.
///
/// # Panics
/// An invariant of the simulation does not hold.
pub fn simulate(cell: &Cell, costs: &Costs) -> Outcome {
    run_work(cell, costs, 0).outcome
}

/// A simulated run with the scheduling events of its first part.
pub struct Recorded {
    /// The result of the whole run.
    pub outcome: Outcome,
    /// The events, in order of time.
    pub events: Vec<ScheduleEvent>,
    /// The name of each task.
    pub names: Vec<String>,
}

/// Simulates as [`simulate`] does, and records what is scheduled in the first `ms` of simulated time.
///
/// # Panics
/// An invariant of the simulation does not hold.
pub fn simulate_recorded(cell: &Cell, costs: &Costs, ms: u64) -> Recorded {
    run_work(cell, costs, ms)
}

fn run_work(cell: &Cell, costs: &Costs, record_ms: u64) -> Recorded {
    let o1 = matches!(cell.scheduler, SchedulerSpec::O1(_));
    let several_cpus = cell.hardware.topology.cpus() > 1;
    let conditions = |heap_mb| Conditions { several_cpus, o1, heap_mb };
    let prices = Prices::new(costs, conditions(HEAP_MB));
    match cell.work.clone() {
        Workload::Chat(spec) => {
            let prices = Prices::new(costs, conditions(spec.heap_mb));
            let chat = Collector::new(Chat::new(spec, prices.clone()), &prices, !spec.signals_waiting);
            schedule(cell, record_ms, prices, chat)
        }
        Workload::Locks(spec) => {
            let prices = if spec.futex { prices.with_futexes() } else { prices };
            let locks = Locks::new(spec, cell.hardware.mhz, prices.clone(), cell.seed);
            schedule(cell, record_ms, prices, locks)
        }
        Workload::Requests(spec) => {
            let requests = Requests::new(spec, cell.hardware.mhz, prices.clone(), cell.seed);
            schedule(cell, record_ms, prices, requests)
        }
        Workload::Trace(replay) => {
            let trace = Trace::new(replay, cell.hardware.mhz);
            schedule(cell, record_ms, prices.without_scheduling(), trace)
        }
        Workload::Hackbench(spec) => schedule(cell, record_ms, prices.clone(), Hackbench::new(spec, prices)),
    }
}

fn schedule<W: Work>(cell: &Cell, record_ms: u64, prices: Prices, work: W) -> Recorded {
    let topology = &cell.hardware.topology;
    let spaces = work.address_spaces().to_vec();
    let placement = Placement::new(topology.cpus(), &spaces, &cell.placement);
    cell.scheduler.made(topology, placement, &spaces, Run { cell, record_ms, prices, work })
}

/// A run without its scheduler.
struct Run<'a, W> {
    cell: &'a Cell,
    record_ms: u64,
    prices: Prices,
    work: W,
}

impl<W: Work> UseOfScheduler for Run<'_, W> {
    type Output = Recorded;

    fn with<S: Scheduler>(self, scheduler: S) -> Recorded {
        let Run { cell, record_ms, prices, work } = self;
        let machine = Machine::new(cell.hardware, prices, scheduler, work, cell.seed);
        let (counts, events, names) = machine.run_recorded(record_ms * 1_000 * cell.hardware.mhz);
        let outcome = Outcome { counts, cpus: cell.hardware.topology.cpus(), mhz: cell.hardware.mhz };
        Recorded { outcome, events, names }
    }
}
