//! Linux 2.3 and 2.4: one queue of all runnable tasks under one lock, walked at every decision.
//!
//! Closer to the original than the BPF scheduler: the queue contains the running tasks, a walk holds the lock to its end, all slices
//! are recalculated at once, without the lock, and a wake-up of 2.4 prefers the CPU that has been idle longest.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use klatch_schedulers::policies::goodness::{self, NO_TASK, SAME_CPU_BONUS, Task, Terms, Version, walk};
use klatch_schedulers::policies::{Links, List, Skip, TaskId};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

/// The flag of a running task. Higher flags are those of [`Placement`].
const RUNNING: u8 = 1;

/// Differences between the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoodnessKnobs {
    /// Slices, goodness and the effect of a yield.
    pub version: Version,
    /// `sched_yield` takes the run-queue lock: 2.3, and 2.4.15 on.
    pub yield_locks: bool,
    /// `sched_yield` moves the task to the tail: 2.3, and 2.4.15 on.
    pub yield_to_tail: bool,
    /// The first waiting task with time left is taken without a walk: the experiment of the study of 2000.
    pub head: bool,
    /// In 2.3, with several CPUs, a woken task waits for its CPU if on average both tasks together run for less, in µs.
    pub cache_flush_us: u64,
    /// A woken task preempts if its goodness is higher by more than this.
    pub preemption_threshold: i32,
    /// The previous task wins ties with waiting tasks; else the earliest in the queue does: 2.4.15 on.
    pub previous_wins_ties: bool,
    /// A task that yielded is offered to other CPUs, too, and preempts its successor if it is better: before 2.4.0-test9.
    pub offers_yielded: bool,
    /// A task that yielded competes with its goodness, though it loses ties: Hartner's patch of 18 January 2002. Without, it is worse than
    /// all others.
    pub yielded_competes: bool,
}

impl GoodnessKnobs {
    /// Linux 2.3.28, of the study of 2000.
    pub const LINUX_2_3: Self = Self {
        version: Version::Linux2_3,
        yield_locks: true,
        yield_to_tail: true,
        head: false,
        cache_flush_us: 100,
        preemption_threshold: 0,
        previous_wins_ties: true,
        offers_yielded: true,
        yielded_competes: false,
    };
    /// Linux 2.4.14: a yield takes no lock, and the task keeps its place.
    pub const LINUX_2_4_14: Self = Self {
        version: Version::Linux2_4,
        yield_locks: false,
        yield_to_tail: false,
        head: false,
        cache_flush_us: 100,
        preemption_threshold: 1,
        previous_wins_ties: true,
        offers_yielded: false,
        yielded_competes: false,
    };
    /// Linux 2.4.17: a yield takes the lock and moves the task to the tail, any gain preempts, and the queue's order decides ties.
    pub const LINUX_2_4_17: Self = Self {
        yield_locks: true,
        yield_to_tail: true,
        preemption_threshold: 0,
        previous_wins_ties: false,
        ..Self::LINUX_2_4_14
    };

    /// The knobs of the kernel with this version.
    pub(crate) fn of_kernel(version: &str) -> Option<Self> {
        match version {
            "2.3.28" => Some(Self::LINUX_2_3),
            "2.4.14" => Some(Self::LINUX_2_4_14),
            "2.4.17" => Some(Self::LINUX_2_4_17),
            _ => None,
        }
    }
}

pub(crate) struct Goodness {
    knobs: GoodnessKnobs,
    bonus: i32,
    pub(super) tasks: Vec<Task>,
    links: Links,
    queue: List,
    /// With `head`: waiting tasks without time left. They enter the queue when a recalculation gives them new time.
    exhausted: List,
    flags: Vec<u8>,
    /// When each CPU switched to its task.
    since_ns: Vec<u64>,
    placement: Placement,
    epoch: u64,
}

impl Goodness {
    /// `spaces` is the address space of each task.
    pub(crate) fn new(knobs: GoodnessKnobs, placement: Placement, spaces: &[u64], cpus: usize) -> Self {
        let task = |(number, &mm): (usize, &u64)| {
            let mut task = Task::new(0, mm, knobs.version);
            task.cpu = placement.home(number as TaskId) as i16;
            task
        };
        Self {
            bonus: if cpus == 1 { 0 } else { SAME_CPU_BONUS },
            tasks: spaces.iter().enumerate().map(task).collect(),
            links: Links::new(spaces.len()),
            queue: List::EMPTY,
            exhausted: List::EMPTY,
            since_ns: vec![0; cpus],
            flags: (0..spaces.len()).map(|task| placement.flags(task as TaskId)).collect(),
            epoch: 0,
            knobs,
            placement,
        }
    }

    pub(super) fn terms(&self, cpu: usize, mm: u64) -> Terms {
        Terms { cpu: cpu as i32, mm, epoch: self.epoch, version: self.knobs.version, bonus: self.bonus }
    }

    fn catch_up(&mut self, task: TaskId) {
        self.tasks[task as usize].catch_up(self.epoch, self.knobs.version);
    }

    /// The CPU for a task that was woken, or left its CPU to another one: its last one if that is idle, else by the rule of the version.
    fn reschedule_idle(&mut self, task: TaskId, view: &View<'_>) -> Option<usize> {
        // A recalculation is of all tasks, so also of those that run.
        view.current.iter().flatten().chain([&task]).for_each(|&task| self.catch_up(task));
        let last = self.tasks[task as usize].cpu as usize;
        match self.knobs.version {
            _ if view.idle[last] => Some(last),
            Version::Linux2_3 => self.first_worse(task, last, view),
            Version::Linux2_4 => self.worst(task, view),
        }
    }

    /// By how much a task is better than the current one of `cpu`.
    fn gain(&self, task: TaskId, cpu: usize, view: &View<'_>) -> Option<i32> {
        let current = &self.tasks[view.current[cpu]? as usize];
        let terms = self.terms(cpu, current.mm);
        Some(self.tasks[task as usize].goodness(terms) - current.goodness(terms))
    }

    /// Linux 2.3: none if both the task and the current one of its last CPU run briefly; else the first idle CPU; else the last one, or the
    /// first other one, whose current task is worse.
    fn first_worse(&self, task: TaskId, last: usize, view: &View<'_>) -> Option<usize> {
        let waits = |current: TaskId| {
            let current = &self.tasks[current as usize];
            self.tasks[task as usize].waits_for_cpu(current, self.knobs.cache_flush_us * 1000)
        };
        if view.current.len() > 1 && view.current[last].is_some_and(waits) {
            return None;
        }
        let allowed = || (0..view.current.len()).filter(|&cpu| self.placement.allows(task, cpu));
        let is_worse = |cpu: usize| {
            self.gain(task, cpu, view).is_some_and(|gain| gain > self.knobs.preemption_threshold)
        };
        allowed()
            .find(|&cpu| view.idle[cpu])
            .or_else(|| std::iter::once(last).chain(allowed()).find(|&cpu| is_worse(cpu)))
    }

    /// Linux 2.4: the CPU that has been idle longest, else the one whose current task is worse by most.
    fn worst(&self, task: TaskId, view: &View<'_>) -> Option<usize> {
        let allowed = |cpu: usize| self.placement.allows(task, cpu);
        view.longest_idle(allowed).or_else(|| {
            let cpus = (0..view.current.len()).filter(|&cpu| allowed(cpu));
            let gains = cpus.filter_map(|cpu| Some((self.gain(task, cpu, view)?, Reverse(cpu))));
            let (gain, Reverse(cpu)) = gains.max()?;
            (gain > self.knobs.preemption_threshold).then_some(cpu)
        })
    }

    /// The best task for `cpu`. The previous task, if it is runnable, competes first, and is flagged as running, so that the walk passes
    /// over it. If it does not win ties, it competes at its place in the queue, unless it has yielded and is worse than all others.
    fn best(
        &mut self,
        cpu: usize,
        mm: u64,
        runnable: Option<TaskId>,
        decision: &mut Decision,
    ) -> Option<TaskId> {
        loop {
            let (mut least, mut chosen) = (NO_TASK, None);
            let GoodnessKnobs { previous_wins_ties, yielded_competes, .. } = self.knobs;
            let competes_first =
                |task: &Task| if task.yielded != 0 { !yielded_competes } else { previous_wins_ties };
            if let Some(previous) = runnable.filter(|&task| !competes_first(&self.tasks[task as usize])) {
                self.flags[previous as usize] &= !RUNNING;
            } else if let Some(previous) = runnable {
                self.catch_up(previous);
                let task = &mut self.tasks[previous as usize];
                least = task.goodness_as_previous(cpu as i32, self.knobs.version, self.bonus);
                chosen = Some(previous);
            }
            let skip = Skip { flags: &self.flags, mask: RUNNING | self.placement.mask(cpu) };
            let terms = self.terms(cpu, mm);
            let best = walk(&mut self.tasks, &self.links, skip, &self.queue, least, terms);
            decision.elements += best.elements;
            if best.task != List::END {
                chosen = Some(best.task);
            }
            if chosen.is_none() || !goodness::must_recalculate(best.goodness) {
                return chosen;
            }
            self.epoch += 1;
            decision.recalculated += self.tasks.len() as u32;
        }
    }

    /// The first task that `cpu` may run and that has time left, else the previous one.
    fn head(&mut self, cpu: usize, runnable: Option<TaskId>, decision: &mut Decision) -> Option<TaskId> {
        let mask = RUNNING | self.placement.mask(cpu);
        loop {
            let queue = self.queue.iter(&self.links).inspect(|_| decision.elements += 1);
            let first = { queue }.find(|&task| self.flags[task as usize] & mask == 0);
            if first.is_some() {
                return first;
            }
            let mut best = NO_TASK;
            if let Some(previous) = runnable {
                self.catch_up(previous);
                let task = &mut self.tasks[previous as usize];
                best = task.goodness_as_previous(cpu as i32, self.knobs.version, self.bonus);
            }
            let waits = |task: TaskId| self.flags[task as usize] & mask == 0;
            if best < 0 && self.exhausted.iter(&self.links).any(waits) {
                best = 0;
            }
            if !goodness::must_recalculate(best) {
                return runnable;
            }
            self.epoch += 1;
            decision.recalculated += self.tasks.len() as u32;
            while !self.exhausted.is_empty() {
                let first = self.exhausted.head();
                self.exhausted.remove(&mut self.links, first);
                self.queue.push_back(&mut self.links, first);
            }
        }
    }

    /// With `head`: inserts a task that waits, at the front or at the back.
    fn wait(&mut self, task: TaskId, at_front: bool) {
        let has_time = self.tasks[task as usize].counter_ns > 0;
        let list = if has_time { &mut self.queue } else { &mut self.exhausted };
        if at_front {
            list.push_front(&mut self.links, task);
        } else {
            list.push_back(&mut self.links, task);
        }
    }

    /// Runnable tasks, the current ones included.
    fn runnable(&self) -> u32 {
        self.queue.len() + self.exhausted.len()
    }
}

impl Scheduler for Goodness {
    fn locks(&self) -> usize {
        1
    }

    fn lock_of_task(&self, _task: TaskId) -> usize {
        0
    }

    fn lock_of_cpu(&self, _cpu: usize) -> usize {
        0
    }

    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        if self.knobs.head {
            self.catch_up(task);
            self.wait(task, true);
        } else {
            self.queue.push_front(&mut self.links, task);
        }
        Wake { cpus_read: view.current.len() as u32, kick: self.reschedule_idle(task, view) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        let mut decision = Decision::default();
        let mm = previous.map_or(0, |previous| self.tasks[previous as usize].mm);
        let runnable = previous.filter(|_| cause != Cause::Sleep);
        if let Some(asleep) = previous.filter(|_| cause == Cause::Sleep) {
            self.queue.remove(&mut self.links, asleep);
        }
        decision.next = if self.knobs.head {
            self.head(cpu, runnable, &mut decision)
        } else {
            self.best(cpu, mm, runnable, &mut decision)
        };
        if let Some(previous) = previous {
            self.flags[previous as usize] &= !RUNNING;
            self.tasks[previous as usize].yielded = 0;
        }
        if decision.next != previous {
            let ran_ns = view.now_ns - std::mem::replace(&mut self.since_ns[cpu], view.now_ns);
            if let Some(previous) = previous {
                self.tasks[previous as usize].add_slice(ran_ns);
            }
            if let Some(left) = runnable.filter(|_| self.knobs.head) {
                self.catch_up(left);
                let at_front = cause != Cause::Yield && self.tasks[left as usize].counter_ns > 0;
                self.queue.remove(&mut self.links, left);
                self.wait(left, at_front);
            }
        }
        let stays_runnable = runnable.is_some() && decision.next != runnable;
        let offers = cause == Cause::Preemption || self.knobs.offers_yielded;
        decision.offers = stays_runnable && offers && view.current.len() > 1;
        if let Some(next) = decision.next {
            self.flags[next as usize] |= RUNNING;
            self.tasks[next as usize].cpu = cpu as i16;
        }
        decision
    }

    fn yields(&mut self, _cpu: usize, task: TaskId, view: &View<'_>) -> Yield {
        let running = view.current.iter().flatten().count() as u64;
        let waiting = u64::from(self.runnable()).saturating_sub(running);
        let decides = goodness::yield_has_effect(waiting, self.knobs.version);
        if decides {
            self.tasks[task as usize].yielded = 1;
            if self.knobs.yield_to_tail {
                self.queue.remove(&mut self.links, task);
                self.queue.push_back(&mut self.links, task);
            }
        }
        Yield { locks: self.knobs.yield_locks, decides }
    }

    fn offer(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        if self.flags[task as usize] & RUNNING != 0 {
            return Wake::default();
        }
        Wake { cpus_read: view.current.len() as u32, kick: self.reschedule_idle(task, view) }
    }

    fn switches_without_lock(&self) -> bool {
        true
    }

    fn tick(&mut self, _cpu: usize, task: Option<TaskId>, tick_ns: u64, _view: &View<'_>) -> bool {
        let Some(current) = task else { return false };
        self.catch_up(current);
        let task = &mut self.tasks[current as usize];
        task.charge_run(tick_ns);
        task.counter_ns == 0
    }

    fn queue_length(&self, _cpu: usize) -> u32 {
        self.runnable()
    }
}
