//! Threads that contend for monitors, as the threads of a Java application server do: each computes, enters a random monitor, computes in
//! it, and leaves.

use klatch_schedulers::policies::TaskId;

use super::monitor::{Monitor, Tier};
use super::{Effect, Op, Work};
use crate::events::Cycles;
use crate::prices::Prices;
use crate::random::Random;

/// Threads and their critical sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocksSpec {
    /// Threads of the one process.
    pub threads: usize,
    /// Monitors, each as likely as the others.
    pub locks: usize,
    /// Mean CPU time between two critical sections.
    pub think_us: u64,
    /// Mean CPU time of a critical section.
    pub hold_us: u64,
    /// Sleep in a critical section, as if for a disk.
    pub sleep_us: u64,
    /// Critical sections of each thread, on average.
    pub sections: u64,
    /// Time for which a thread spins before it yields; `None` for that of the costs.
    pub spin_us: Option<u64>,
    /// Yields before a thread blocks; `None` for those of the costs.
    pub yields: Option<u64>,
    /// Blocked threads wait in a futex, not for a signal.
    pub futex: bool,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Computes before it enters a monitor.
    Think,
    /// Tries to enter its monitor.
    Contend(Tier),
    /// Computes in its monitor.
    Hold,
    /// Sleeps with the monitor.
    Asleep,
    /// Leaves the monitor, and wakes a blocked thread.
    Leave,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    state: State,
    lock: usize,
}

/// The workload. A message is a critical section.
pub(crate) struct Locks {
    threads: Vec<Thread>,
    monitors: Vec<Monitor>,
    spaces: Vec<u64>,
    think: Cycles,
    hold: Cycles,
    sleep: Cycles,
    /// The thread that has just fallen asleep.
    asleep: Option<TaskId>,
    random: Random,
    prices: Prices,
    sections: u64,
    goal: u64,
}

impl Locks {
    pub(crate) fn new(spec: LocksSpec, mhz: u64, mut prices: Prices, seed: u64) -> Self {
        prices.monitor_spin = spec.spin_us.map_or(prices.monitor_spin, |us| us * mhz);
        prices.monitor_yields = spec.yields.unwrap_or(prices.monitor_yields);
        Self {
            threads: vec![Thread { state: State::Think, lock: 0 }; spec.threads],
            monitors: vec![Monitor::default(); spec.locks],
            spaces: vec![1; spec.threads],
            think: spec.think_us * mhz,
            hold: spec.hold_us * mhz,
            sleep: spec.sleep_us * mhz,
            asleep: None,
            random: Random::new(seed),
            prices,
            sections: 0,
            goal: spec.sections * spec.threads as u64,
        }
    }

    /// Enters the monitor if it is free, or begins to contend for it.
    fn enter(&mut self, task: usize) {
        let thread = &mut self.threads[task];
        thread.lock = self.random.below(self.monitors.len() as u64) as usize;
        let entered = self.monitors[thread.lock].try_enter();
        thread.state = if entered { State::Hold } else { State::Contend(Tier::Spin) };
    }

    /// Leaves the monitor at once, or with an operation of its own if that wakes a blocked thread.
    fn end_section(&mut self, task: usize) -> Effect {
        if self.monitors[self.threads[task].lock].has_blocked() {
            self.threads[task].state = State::Leave;
            return Effect::Continue;
        }
        self.leave(task)
    }

    fn leave(&mut self, task: usize) -> Effect {
        self.threads[task].state = State::Think;
        self.sections += 1;
        self.monitors[self.threads[task].lock].leave()
    }
}

impl Work for Locks {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.threads.len()).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, task: TaskId) -> Op {
        match self.threads[task as usize].state {
            State::Think => Op::user(self.think),
            State::Hold => Op::user(self.hold),
            State::Contend(tier) => tier.op(&self.prices),
            State::Asleep => Op::kernel(self.prices.system_call),
            State::Leave => Op::kernel(self.prices.monitor_wake),
        }
    }

    fn complete(&mut self, task: TaskId, _cpu: usize) -> Effect {
        let (id, task) = (task, task as usize);
        let Thread { state, lock } = self.threads[task];
        match state {
            State::Think => {
                self.enter(task);
                Effect::Continue
            }
            State::Contend(tier) => {
                let (effect, next) = self.monitors[lock].attempt(id, tier, self.prices.monitor_yields);
                self.threads[task].state = next.map_or(State::Hold, State::Contend);
                effect
            }
            State::Hold if self.sleep > 0 => {
                self.threads[task].state = State::Asleep;
                self.asleep = Some(id);
                Effect::Sleep
            }
            State::Hold | State::Asleep => self.end_section(task),
            State::Leave => self.leave(task),
        }
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        self.monitors[self.threads[task as usize].lock].unblock(task)
    }

    fn outside(&mut self) -> Option<(Cycles, u32)> {
        self.asleep.take().map(|task| (self.sleep, task))
    }

    fn arrive(&mut self, task: u32) -> Option<TaskId> {
        Some(task)
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        self.monitors[self.threads[task as usize].lock].is_blocked(task)
    }

    fn progress(&self) -> (u64, u64) {
        (self.sections, self.goal)
    }
}
