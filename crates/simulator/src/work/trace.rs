//! A recorded schedule again: each task in its own CPU time, with its wake-ups as dependencies. Times on other machines and of timers
//! stay as they were recorded.
//!
//! The recorded CPU times contain the cost of scheduling as it was, so nothing is priced but interrupts to idle CPUs.

use std::sync::Arc;

use klatch_record::{Replay, ReplayStep};
use klatch_schedulers::policies::TaskId;

use super::{Effect, Op, Work};
use crate::events::Cycles;

/// Longest step of a program between two opportunities to preempt it.
const STEP_NS: u64 = 20_000;

#[derive(Clone, Default)]
struct Task {
    /// Index of the next step.
    step: usize,
    /// CPU time of this step that is over.
    ran_ns: u64,
    /// Wake-ups that ended no sleep yet.
    wakes: u32,
    waits: bool,
}

/// The workload. A message is a wake-up that ended a sleep.
pub(crate) struct Trace {
    replay: Arc<Replay>,
    tasks: Vec<Task>,
    spaces: Vec<u64>,
    mhz: u64,
    /// Wake-ups from outside that are not announced yet, the last first.
    outside: Vec<(Cycles, u32)>,
    woken: u64,
    goal: u64,
}

impl Trace {
    pub(crate) fn new(replay: Arc<Replay>, mhz: u64) -> Self {
        let goal = replay.wake_ups();
        let outside = replay.outside.iter().map(|&(ns, task)| (ns * mhz / 1_000, task)).collect();
        Self {
            tasks: vec![Task::default(); replay.tasks.len()],
            spaces: replay.tasks.iter().map(|task| u64::from(task.process) + 1).collect(),
            replay,
            mhz,
            outside,
            woken: 0,
            goal,
        }
    }

    /// The next step of a task; a task without one waits.
    fn step(&self, task: usize) -> ReplayStep {
        self.replay.tasks[task].steps.get(self.tasks[task].step).copied().unwrap_or(ReplayStep::Sleep)
    }

    /// Ends a sleep of `task`: at once, or the next one. Returns whether it waits now.
    fn end_sleep(&mut self, task: u32) -> bool {
        self.woken += 1;
        let task = &mut self.tasks[task as usize];
        task.wakes += 1;
        std::mem::take(&mut task.waits)
    }
}

impl Work for Trace {
    fn address_spaces(&self) -> &[u64] {
        &self.spaces
    }

    fn starters(&self) -> Vec<TaskId> {
        (0..self.tasks.len()).map(|task| task as TaskId).collect()
    }

    fn next(&mut self, task: TaskId) -> Op {
        match self.step(task as usize) {
            ReplayStep::Run(ns) => {
                let left_ns = ns - self.tasks[task as usize].ran_ns;
                Op::kernel(left_ns.min(STEP_NS) * self.mhz / 1_000)
            }
            ReplayStep::Wake(_) | ReplayStep::Sleep => Op::default(),
        }
    }

    fn complete(&mut self, task: TaskId, _cpu: usize) -> Effect {
        let id = task as usize;
        let step = self.step(id);
        let state = &mut self.tasks[id];
        match step {
            ReplayStep::Run(ns) => {
                state.ran_ns += (ns - state.ran_ns).min(STEP_NS);
                if state.ran_ns == ns {
                    (state.step, state.ran_ns) = (state.step + 1, 0);
                }
                Effect::Continue
            }
            ReplayStep::Wake(woken) => {
                state.step += 1;
                if self.end_sleep(woken) { Effect::Wake(woken) } else { Effect::Continue }
            }
            ReplayStep::Sleep if state.wakes > 0 => {
                state.wakes -= 1;
                state.step += 1;
                Effect::Continue
            }
            ReplayStep::Sleep => {
                state.waits = true;
                Effect::Sleep
            }
        }
    }

    fn interrupt(&mut self, task: TaskId) -> bool {
        std::mem::take(&mut self.tasks[task as usize].waits)
    }

    fn name(&self, task: TaskId) -> String {
        self.replay.tasks[task as usize].name.clone()
    }

    fn is_waiting(&self, task: TaskId) -> bool {
        self.tasks[task as usize].waits
    }

    fn outside(&mut self) -> Option<(Cycles, u32)> {
        self.outside.pop()
    }

    fn arrive(&mut self, task: u32) -> Option<TaskId> {
        self.end_sleep(task).then_some(task)
    }

    fn progress(&self) -> (u64, u64) {
        (self.woken, self.goal)
    }
}
