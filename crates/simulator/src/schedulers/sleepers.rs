//! One queue whose head is for tasks that sleep: the example of docs/guide/own-policy.md.

use klatch_schedulers::policies::sleepers::Task;
use klatch_schedulers::policies::{Links, List, TaskId};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

const SLICE_NS: u64 = 20_000_000;

pub(crate) struct Sleepers {
    tasks: Vec<Task>,
    left_ns: Vec<u64>,
    links: Links,
    waiting: List,
    running: u32,
    budget_ns: u64,
    placement: Placement,
}

impl Sleepers {
    pub(crate) fn new(budget_us: u64, placement: Placement, tasks: usize) -> Self {
        Self {
            tasks: vec![Task::default(); tasks],
            left_ns: vec![SLICE_NS; tasks],
            links: Links::new(tasks),
            waiting: List::EMPTY,
            running: 0,
            budget_ns: budget_us * 1000,
            placement,
        }
    }

    fn enqueue(&mut self, task: TaskId, woken: bool) {
        if self.tasks[task as usize].goes_first(woken, self.budget_ns) {
            self.waiting.push_front(&mut self.links, task);
        } else {
            self.waiting.push_back(&mut self.links, task);
        }
    }
}

impl Scheduler for Sleepers {
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
        self.enqueue(task, true);
        Wake { cpus_read: 1, kick: view.longest_idle(|cpu| self.placement.allows(task, cpu)) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        self.running -= u32::from(previous.is_some());
        let runnable = previous.filter(|_| cause != Cause::Sleep);
        let mut elements = 0;
        let next = {
            let mut waiting = self.waiting.iter(&self.links).inspect(|_| elements += 1);
            waiting.find(|&task| self.placement.allows(task, cpu))
        };
        if let Some(next) = next {
            self.waiting.remove(&mut self.links, next);
            if let Some(runnable) = runnable {
                self.enqueue(runnable, false);
            }
        }
        // Where no other task waits, the previous one runs on, and keeps its budget.
        let next = next.or(runnable);
        if let Some(next) = next {
            self.left_ns[next as usize] = SLICE_NS;
            self.running += 1;
        }
        // Another CPU may have become idle since the previous task was chosen.
        let waits = runnable.filter(|_| next != previous);
        let kick = waits.and_then(|task| view.longest_idle(|cpu| self.placement.allows(task, cpu)));
        Decision { next, elements, kick, ..Decision::default() }
    }

    fn yields(&mut self, _cpu: usize, _task: TaskId, _view: &View<'_>) -> Yield {
        Yield { locks: false, decides: !self.waiting.is_empty() }
    }

    fn charge(&mut self, task: TaskId, ns: u64) -> bool {
        self.tasks[task as usize].charge(ns);
        let left_ns = &mut self.left_ns[task as usize];
        *left_ns = left_ns.saturating_sub(ns);
        *left_ns == 0
    }

    fn never_strands(&self) -> bool {
        !self.placement.is_bound()
    }

    fn queue_length(&self, _cpu: usize) -> u32 {
        self.waiting.len() + self.running
    }
}
