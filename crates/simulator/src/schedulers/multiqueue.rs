//! MQ of Kravetz and Franke for Linux 2.4: a queue with its own lock for each CPU, and the goodness of its best waiting task published
//! to the others.
//!
//! Simpler than the original: a stolen task's queue is not locked for the moment of the theft, and that queue then publishes its first
//! waiting task, not its best.

use std::cmp::Reverse;

use klatch_schedulers::policies::goodness::{self, SAME_CPU_BONUS, Task, Terms, Version};
use klatch_schedulers::policies::multiqueue::{self, Candidate, preempt_cost, walk, with_affinity};
use klatch_schedulers::policies::{Links, List, Skip, TaskId};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

const VERSION: Version = Version::Linux2_4;
const RUNNING: u8 = 1;

/// Differences between versions of MQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiqueueKnobs {
    /// The previous task wins ties with waiting tasks, as in Linux 2.4.
    pub previous_wins_ties: bool,
}

impl MultiqueueKnobs {
    /// MQ as it was published.
    pub const PUBLISHED: Self = Self { previous_wins_ties: true };
}

pub(crate) struct Multiqueue {
    knobs: MultiqueueKnobs,
    pub(super) tasks: Vec<Task>,
    links: Links,
    /// Per CPU, its runnable tasks, the current one included.
    queues: Vec<List>,
    /// Tasks in all queues.
    queued: usize,
    /// Per CPU, its best waiting task.
    published: Vec<Candidate>,
    running: Vec<u8>,
    placement: Placement,
    epoch: u64,
    bonus: i32,
    /// The queues of the BPF program have another order, and from now on that may matter.
    #[cfg(test)]
    pub(super) order_mattered: bool,
}

impl Multiqueue {
    pub(crate) fn new(knobs: MultiqueueKnobs, placement: Placement, spaces: &[u64], cpus: usize) -> Self {
        let task = |(number, &mm): (usize, &u64)| {
            let mut task = Task::new(0, mm, VERSION);
            task.cpu = placement.home(number as TaskId) as i16;
            task
        };
        Self {
            knobs,
            tasks: spaces.iter().enumerate().map(task).collect(),
            links: Links::new(spaces.len()),
            queues: vec![List::EMPTY; cpus],
            queued: 0,
            published: vec![Candidate::NONE; cpus],
            running: vec![0; spaces.len()],
            epoch: 0,
            bonus: if cpus == 1 { 0 } else { SAME_CPU_BONUS },
            placement,
            #[cfg(test)]
            order_mattered: false,
        }
    }

    fn catch_up(&mut self, task: TaskId) {
        self.tasks[task as usize].catch_up(self.epoch, VERSION);
    }

    /// Publishes a task if it is better than the one that its queue publishes.
    fn publish(&mut self, cpu: usize, task: TaskId) {
        let candidate = Candidate::new(task, multiqueue::goodness(&self.tasks[task as usize]));
        if candidate.goodness > self.published[cpu].goodness {
            self.published[cpu] = candidate;
        }
    }

    /// The waiting tasks of a queue.
    fn waiting(&self, cpu: usize) -> impl Iterator<Item = TaskId> {
        self.queues[cpu].iter(&self.links).filter(|&task| self.running[task as usize] == 0)
    }

    /// The queue for a woken task, and whether its CPU is to decide: its own CPU if that is idle, else the one that has been idle
    /// longest, else the one with the lowest cost of preemption if that is worth it, else its own without a decision.
    fn place(&mut self, task: TaskId, view: &View<'_>) -> (usize, bool) {
        // A recalculation is of all tasks, so also of those that run.
        view.current.iter().flatten().chain([&task]).for_each(|&task| self.catch_up(task));
        let own = self.tasks[task as usize].cpu as usize;
        if view.idle[own] {
            return (own, true);
        }
        let allowed = |cpu: usize| self.placement.allows(task, cpu);
        if let Some(cpu) = view.longest_idle(allowed) {
            return (cpu, true);
        }
        let woken = &self.tasks[task as usize];
        let busy = view.current.iter().enumerate().filter(|&(cpu, _)| allowed(cpu));
        let costs = busy.filter_map(|(cpu, current)| {
            let current = &self.tasks[(*current)? as usize];
            Some((preempt_cost(multiqueue::goodness(current), cpu == own), cpu, current))
        });
        let worth = multiqueue::goodness(woken);
        let costs = costs.filter(|&(cost, ..)| cost < worth);
        let Some((_, cpu, current)) = costs.min_by_key(|&(cost, cpu, _)| (cost, cpu)) else {
            return (own, false);
        };
        let (mm, epoch) = (current.mm, self.epoch);
        let terms = Terms { cpu: cpu as i32, mm, epoch, version: VERSION, bonus: self.bonus };
        if woken.goodness(terms) > current.goodness(terms) { (cpu, true) } else { (own, false) }
    }

    /// Takes the best published task of another queue, if it is better than `own_best`.
    fn steal(&mut self, cpu: usize, own_best: i32, decision: &mut Decision) -> Option<TaskId> {
        decision.lines_read += self.queues.len() as u32 - 1;
        let stealable = |&(other, candidate): &(usize, &Candidate)| {
            let allowed = || candidate.task().is_some_and(|task| self.placement.allows(task, cpu));
            candidate.goodness > own_best && other != cpu && allowed()
        };
        let others = self.published.iter().enumerate().filter(stealable);
        let (from, _) = others.max_by_key(|&(other, candidate)| (candidate.goodness, Reverse(other)))?;
        let task = self.published[from].task()?;
        self.queues[from].remove(&mut self.links, task);
        self.published[from] = Candidate::NONE;
        #[cfg(test)]
        {
            self.order_mattered |= !self.waiting_are_equal(from);
        }
        let first = self.waiting(from).next();
        if let Some(first) = first {
            self.catch_up(first);
            self.publish(from, first);
        }
        self.catch_up(task);
        self.queues[cpu].push_front(&mut self.links, task);
        Some(task)
    }

    /// The previous task as the first candidate. Waiting tasks must be better, so it wins ties unless it competes with one point less.
    fn previous(&mut self, task: TaskId) -> Candidate {
        let previous = &mut self.tasks[task as usize];
        previous.catch_up(self.epoch, VERSION);
        let goodness = multiqueue::local_goodness(previous, previous.mm);
        let handicap = i32::from(!self.knobs.previous_wins_ties && goodness > 0);
        Candidate::new(task, goodness - handicap)
    }

    /// The best task for `cpu`, from its own queue or another.
    fn best(
        &mut self,
        cpu: usize,
        mm: u64,
        runnable: Option<TaskId>,
        decision: &mut Decision,
    ) -> Option<TaskId> {
        loop {
            let previous = runnable.map_or(Candidate::NONE, |previous| self.previous(previous));
            let skip = Skip { flags: &self.running, mask: RUNNING };
            let two = walk(&mut self.tasks, &self.links, skip, &self.queues[cpu], previous, mm, self.epoch);
            decision.elements += two.elements;
            let waits = two.second.task().is_some_and(|second| self.running[second as usize] == 0);
            self.published[cpu] = if waits { two.second } else { Candidate::NONE };
            if let Some(stolen) = self.steal(cpu, with_affinity(two.best.goodness), decision) {
                if let Some(left) = two.best.task().filter(|&left| Some(left) != runnable) {
                    self.publish(cpu, left);
                }
                return Some(stolen);
            }
            if two.best.task().is_none() || !goodness::must_recalculate(two.best.goodness) {
                return two.best.task();
            }
            #[cfg(test)]
            {
                // Tasks that were of equal worth no longer are, but a queue publishes the same one.
                self.order_mattered |=
                    (0..self.queues.len()).any(|other| other != cpu && self.waiting(other).nth(1).is_some());
            }
            self.epoch += 1;
            decision.recalculated += self.tasks.len() as u32;
        }
    }
}

#[cfg(test)]
impl Multiqueue {
    /// Whether the waiting tasks of a queue have the same goodness, so that it does not matter which of them is first.
    fn waiting_are_equal(&self, cpu: usize) -> bool {
        let mut worths = self.waiting(cpu).map(|task| {
            let mut task = self.tasks[task as usize].clone();
            task.catch_up(self.epoch, VERSION);
            multiqueue::goodness(&task)
        });
        worths.next().is_none_or(|first| worths.all(|worth| worth == first))
    }
}

impl Scheduler for Multiqueue {
    fn locks(&self) -> usize {
        self.queues.len()
    }

    fn lock_of_task(&self, task: TaskId) -> usize {
        self.tasks[task as usize].cpu as usize
    }

    fn lock_of_cpu(&self, cpu: usize) -> usize {
        cpu
    }

    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        let (cpu, decides) = self.place(task, view);
        self.queues[cpu].push_front(&mut self.links, task);
        self.queued += 1;
        self.tasks[task as usize].cpu = cpu as i16;
        self.publish(cpu, task);
        Wake { cpus_read: view.current.len() as u32, kick: decides.then_some(cpu) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, _view: &View<'_>) -> Decision {
        let mut decision = Decision::default();
        let mm = previous.map_or(0, |previous| self.tasks[previous as usize].mm);
        let runnable = previous.filter(|_| cause != Cause::Sleep);
        if let Some(asleep) = previous.filter(|_| cause == Cause::Sleep) {
            self.queues[cpu].remove(&mut self.links, asleep);
            self.queued -= 1;
        }
        decision.next = self.best(cpu, mm, runnable, &mut decision);
        if let Some(previous) = previous {
            self.running[previous as usize] = 0;
            self.tasks[previous as usize].yielded = 0;
        }
        if let Some(next) = decision.next {
            self.running[next as usize] = RUNNING;
            self.tasks[next as usize].cpu = cpu as i16;
        }
        if let Some(left) = runnable.filter(|&previous| decision.next != Some(previous)) {
            self.publish(cpu, left);
        }
        decision
    }

    fn yields(&mut self, _cpu: usize, task: TaskId, view: &View<'_>) -> Yield {
        let running = view.current.iter().flatten().count();
        let decides = goodness::yield_has_effect(self.queued.saturating_sub(running) as u64, VERSION);
        if decides {
            self.tasks[task as usize].yielded = 1;
        }
        Yield { locks: false, decides }
    }

    fn switches_without_lock(&self) -> bool {
        true
    }

    fn tick(&mut self, _cpu: usize, task: Option<TaskId>, tick_ns: u64, _view: &View<'_>) -> bool {
        let Some(current) = task else { return false };
        let task = &mut self.tasks[current as usize];
        task.catch_up(self.epoch, VERSION);
        task.charge_run(tick_ns);
        task.counter_ns == 0
    }

    fn queue_length(&self, cpu: usize) -> u32 {
        self.queues[cpu].len()
    }
}
