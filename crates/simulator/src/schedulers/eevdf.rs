//! EEVDF, the policy of Linux 6.6 and newer: of the tasks that are owed time, the one with the earliest virtual deadline runs.
//!
//! After the paper of Stoica and Abdel-Wahab (1995), the kernel's documentation, and the descriptions of its changes up to 6.18. A queue
//! and a lock for each CPU. Left out, because no workload has them: weights, slices of a task's own, control groups. Left out for
//! simplicity: a woken task does not move to the CPU of its waker, and balancing counts tasks, not load.

mod queue;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use klatch_schedulers::policies::TaskId;
use queue::{Queue, Rules, Task};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;
use crate::topology::Topology;

/// The slice on one CPU. It grows with the logarithm of the number of CPUs, up to eight.
const BASE_SLICE_NS: i64 = 700_000;
/// A task that ran within this time is not pulled.
const CACHE_HOT_NS: u64 = 500_000;
/// Time between two balances of a busy CPU, for each CPU of the machine.
const BALANCE_NS_PER_CPU: u64 = 16_000_000;

/// Features of the kernel, and its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EevdfKnobs {
    /// CPU time between two deadlines of a task, in µs. 0: 700, times one more than the logarithm of the number of CPUs, of eight at most.
    pub slice_us: u64,
    /// `RUN_TO_PARITY`: a task that becomes runnable does not preempt one that is eligible and has time left in its slice.
    pub run_to_parity: bool,
    /// `DELAY_DEQUEUE`: a task that sleeps with negative lag competes on until it has none. Linux 6.12 on.
    pub delay_dequeue: bool,
    /// A yield uses up the slice, as in Linux 6.18; before, it only puts off the deadline.
    pub yield_forfeits: bool,
}

impl EevdfKnobs {
    /// Linux 6.18.
    pub const LINUX_6_18: Self =
        Self { slice_us: 0, run_to_parity: true, delay_dequeue: true, yield_forfeits: true };

    fn slice_ns(self, cpus: usize) -> i64 {
        match self.slice_us {
            0 => BASE_SLICE_NS * (1 + i64::from(cpus.min(8).ilog2())),
            us => us as i64 * 1000,
        }
    }

    fn rules(self) -> Rules {
        Rules {
            runs_to_parity: self.run_to_parity,
            delays_dequeue: self.delay_dequeue,
            yield_forfeits: self.yield_forfeits,
        }
    }
}

pub(crate) struct Eevdf {
    tasks: Vec<Task>,
    /// The CPU in whose queue each task is, or was last.
    cpu: Vec<usize>,
    /// When each task left a CPU last.
    ran_at_ns: Vec<u64>,
    queues: Vec<Queue>,
    balanced_at_ns: Vec<u64>,
    balance_is_due: Vec<bool>,
    cpus_per_llc: usize,
    placement: Placement,
}

impl Eevdf {
    pub(crate) fn new(knobs: EevdfKnobs, topology: &Topology, placement: Placement, tasks: usize) -> Self {
        let cpus = topology.cpus();
        Self {
            tasks: vec![Task::new(knobs.slice_ns(cpus)); tasks],
            cpu: (0..tasks).map(|task| placement.home(task as TaskId)).collect(),
            ran_at_ns: vec![0; tasks],
            queues: vec![Queue::new(knobs.rules()); cpus],
            balanced_at_ns: vec![0; cpus],
            balance_is_due: vec![false; cpus],
            cpus_per_llc: topology.cpus_per_llc(),
            placement,
        }
    }

    /// The CPU for a woken task, and how many were examined: its last one if that is idle, else the next idle one with the same last-level
    /// cache, else its last one.
    fn place(&self, task: TaskId, view: &View<'_>) -> (usize, u32) {
        let last = self.cpu[task as usize];
        if view.idle[last] || view.idle_cpus == 0 {
            return (last, 1);
        }
        let (first, size) = (last / self.cpus_per_llc * self.cpus_per_llc, self.cpus_per_llc);
        let mut examined = 1;
        let mut others = (1..size).map(|distance| first + (last - first + distance) % size);
        let found = others.find(|&cpu| {
            examined += 1;
            view.idle[cpu] && self.placement.allows(task, cpu)
        });
        (found.unwrap_or(last), examined)
    }

    /// Pulls tasks from the queue where most of them wait: one to an idle CPU, half of the difference to a busy one.
    fn pull(&mut self, cpu: usize, view: &View<'_>, decision: &mut Decision) {
        decision.lines_read += self.queues.len() as u32 - 1;
        let others = (0..self.queues.len()).filter(|&other| other != cpu);
        let Some(busiest) =
            others.max_by_key(|&other| (self.queues[other].runnable_waiting(), Reverse(other)))
        else {
            return;
        };
        let most = self.queues[busiest].runnable_waiting();
        let is_idle = self.queues[cpu].members() == 0;
        let count =
            if is_idle { most.min(1) } else { most.saturating_sub(self.queues[cpu].runnable_waiting()) / 2 };
        for _ in 0..count {
            let Some(task) = self.pullable(busiest, cpu, view.now_ns, decision) else { return };
            self.queues[busiest].leave(&mut self.tasks, task);
            let left = &self.tasks[task as usize];
            let until_deadline_ns = left.deadline_ns - left.ran_ns;
            self.queues[cpu].join(&mut self.tasks, task, Some(until_deadline_ns));
            self.cpu[task as usize] = cpu;
        }
    }

    /// The waiting task of `from` with the earliest deadline that may move to `to` and is not cache-hot.
    fn pullable(&self, from: usize, to: usize, now_ns: u64, decision: &mut Decision) -> Option<TaskId> {
        let mut waiting = self.queues[from].waiting().inspect(|_| decision.elements += 1);
        waiting.find(|&task| {
            let is_cold = now_ns >= self.ran_at_ns[task as usize] + CACHE_HOT_NS;
            is_cold && !self.tasks[task as usize].delayed && self.placement.allows(task, to)
        })
    }

    /// The next task of a CPU. Delayed tasks that have become eligible leave on the way.
    fn pick(&mut self, cpu: usize) -> Option<TaskId> {
        let queue = &mut self.queues[cpu];
        loop {
            let next = queue.pick(&self.tasks)?;
            if !self.tasks[next as usize].delayed {
                return Some(next);
            }
            queue.expire(&mut self.tasks, next);
        }
    }
}

impl Scheduler for Eevdf {
    fn locks(&self) -> usize {
        self.queues.len()
    }

    fn lock_of_task(&self, task: TaskId) -> usize {
        self.cpu[task as usize]
    }

    fn lock_of_cpu(&self, cpu: usize) -> usize {
        cpu
    }

    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        let is_delayed = self.tasks[task as usize].delayed;
        let (cpu, cpus_read) = if is_delayed { (self.cpu[task as usize], 1) } else { self.place(task, view) };
        let queue = &mut self.queues[cpu];
        let is_over = queue.charge(&mut self.tasks, view.now_ns);
        match is_delayed {
            true => queue.rejoin(&mut self.tasks, task),
            false => queue.join(&mut self.tasks, task, None),
        }
        self.cpu[task as usize] = cpu;
        let decides = is_over || queue.current.is_none() || queue.pick(&self.tasks) == Some(task);
        Wake { cpus_read, kick: decides.then_some(cpu) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        let mut decision = Decision::default();
        let queue = &mut self.queues[cpu];
        queue.charge(&mut self.tasks, view.now_ns);
        if let Some(previous) = previous {
            self.ran_at_ns[previous as usize] = view.now_ns;
            if cause == Cause::Sleep {
                queue.sleep(&mut self.tasks);
            }
        }
        if std::mem::take(&mut self.balance_is_due[cpu]) {
            self.pull(cpu, view, &mut decision);
        }
        decision.elements += self.queues[cpu].levels();
        decision.next = self.pick(cpu);
        if decision.next.is_none() && self.queues.len() > 1 {
            self.pull(cpu, view, &mut decision);
            decision.next = self.pick(cpu);
        }
        self.queues[cpu].run(&mut self.tasks, decision.next);
        decision
    }

    fn yields(&mut self, cpu: usize, _task: TaskId, view: &View<'_>) -> Yield {
        let queue = &mut self.queues[cpu];
        queue.charge(&mut self.tasks, view.now_ns);
        queue.yields(&mut self.tasks);
        Yield { locks: true, decides: true }
    }

    fn tick(&mut self, cpu: usize, _task: Option<TaskId>, _tick_ns: u64, view: &View<'_>) -> bool {
        let is_over = self.queues[cpu].charge(&mut self.tasks, view.now_ns);
        let pause_ns = if view.idle[cpu] { 0 } else { BALANCE_NS_PER_CPU * self.queues.len() as u64 };
        if view.now_ns < self.balanced_at_ns[cpu] + pause_ns {
            return is_over;
        }
        self.balanced_at_ns[cpu] = view.now_ns;
        let more = self.queues[cpu].runnable_waiting() + 2 * u32::from(!view.idle[cpu]);
        let mut others = self.queues.iter().enumerate().filter(|&(other, _)| other != cpu);
        let is_due = others.any(|(_, queue)| queue.runnable_waiting() >= more.max(1));
        self.balance_is_due[cpu] = is_due;
        is_over || is_due
    }

    fn queue_length(&self, cpu: usize) -> u32 {
        self.queues[cpu].members()
    }
}
