//! One queue, first in, first out: the cost of one lock without a walk.

use klatch_schedulers::policies::{Links, List, TaskId};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

const SLICE_NS: u64 = 60_000_000;

pub(crate) struct Fifo {
    links: Links,
    waiting: List,
    running: u32,
    left_ns: Vec<u64>,
    placement: Placement,
}

impl Fifo {
    pub(crate) fn new(placement: Placement, tasks: usize) -> Self {
        Self {
            links: Links::new(tasks),
            waiting: List::EMPTY,
            running: 0,
            left_ns: vec![SLICE_NS; tasks],
            placement,
        }
    }
}

impl Scheduler for Fifo {
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
        self.waiting.push_back(&mut self.links, task);
        Wake { cpus_read: 1, kick: view.longest_idle(|cpu| self.placement.allows(task, cpu)) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        if let Some(previous) = previous {
            self.running -= 1;
            if cause != Cause::Sleep {
                self.waiting.push_back(&mut self.links, previous);
            }
        }
        let mut elements = 0;
        let mut waiting = self.waiting.iter(&self.links).inspect(|_| elements += 1);
        let next = waiting.find(|&task| self.placement.allows(task, cpu));
        drop(waiting);
        if let Some(next) = next {
            self.waiting.remove(&mut self.links, next);
            self.left_ns[next as usize] = SLICE_NS;
            self.running += 1;
        }
        // Another CPU may have become idle since the previous task was chosen.
        let waits = previous.filter(|_| cause != Cause::Sleep && next != previous);
        let kick = waits.and_then(|task| view.longest_idle(|cpu| self.placement.allows(task, cpu)));
        Decision { next, elements, kick, ..Decision::default() }
    }

    fn yields(&mut self, _cpu: usize, _task: TaskId, _view: &View<'_>) -> Yield {
        Yield { locks: false, decides: !self.waiting.is_empty() }
    }

    fn charge(&mut self, task: TaskId, ns: u64) -> bool {
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
