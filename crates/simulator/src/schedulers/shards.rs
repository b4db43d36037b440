//! A queue for each shard of neighbouring CPUs, with stealing: not a scheduler of history, but the question of today's machines. How
//! many CPUs should share a queue? One shard is a single queue; shards of one CPU are queues per CPU.

use klatch_schedulers::policies::{Links, List, TaskId};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

const SLICE_NS: u64 = 20_000_000;

pub(crate) struct Shards {
    links: Links,
    queues: Vec<List>,
    /// The CPU where each task ran last.
    cpu: Vec<u32>,
    left_ns: Vec<u64>,
    cpus_per_shard: usize,
    /// Tasks in all queues.
    waiting: usize,
    placement: Placement,
}

impl Shards {
    /// # Panics
    /// `cpus_per_shard` is 0.
    pub(crate) fn new(cpus_per_shard: usize, placement: Placement, tasks: usize, cpus: usize) -> Self {
        Self {
            links: Links::new(tasks),
            queues: vec![List::EMPTY; cpus.div_ceil(cpus_per_shard)],
            cpu: (0..tasks).map(|task| placement.home(task as TaskId) as u32).collect(),
            left_ns: vec![SLICE_NS; tasks],
            cpus_per_shard,
            waiting: 0,
            placement,
        }
    }

    fn shard_of(&self, cpu: usize) -> usize {
        cpu / self.cpus_per_shard
    }

    /// The first task of a queue that `cpu` may run.
    fn take(&mut self, shard: usize, cpu: usize, decision: &mut Decision) -> Option<TaskId> {
        let task = {
            let mut tasks = self.queues[shard].iter(&self.links).inspect(|_| decision.elements += 1);
            tasks.find(|&task| self.placement.allows(task, cpu))?
        };
        self.queues[shard].remove(&mut self.links, task);
        self.waiting -= 1;
        Some(task)
    }
}

impl Scheduler for Shards {
    fn locks(&self) -> usize {
        self.queues.len()
    }

    fn lock_of_task(&self, task: TaskId) -> usize {
        self.shard_of(self.cpu[task as usize] as usize)
    }

    fn lock_of_cpu(&self, cpu: usize) -> usize {
        self.shard_of(cpu)
    }

    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake {
        let last = self.cpu[task as usize] as usize;
        let shard = self.shard_of(last);
        self.queues[shard].push_back(&mut self.links, task);
        self.waiting += 1;
        let allowed = |cpu: usize| self.placement.allows(task, cpu);
        let near = || view.longest_idle(|cpu| self.shard_of(cpu) == shard && allowed(cpu));
        let kick = if view.idle[last] { Some(last) } else { near().or_else(|| view.longest_idle(allowed)) };
        Wake { cpus_read: 1, kick }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, _view: &View<'_>) -> Decision {
        let (mut decision, own) = (Decision::default(), self.shard_of(cpu));
        if let Some(runnable) = previous.filter(|_| cause != Cause::Sleep) {
            self.queues[own].push_back(&mut self.links, runnable);
            self.waiting += 1;
        }
        decision.next = self.take(own, cpu, &mut decision);
        // Steals from the next shards, the nearest first.
        let shards = self.queues.len();
        for distance in 1..shards {
            if decision.next.is_some() || self.waiting == 0 {
                break;
            }
            decision.cpus_read += 1;
            decision.next = self.take((own + distance) % shards, cpu, &mut decision);
        }
        if let Some(next) = decision.next {
            self.cpu[next as usize] = cpu as u32;
            self.left_ns[next as usize] = SLICE_NS;
        }
        decision
    }

    fn yields(&mut self, cpu: usize, _task: TaskId, _view: &View<'_>) -> Yield {
        Yield { locks: false, decides: !self.queues[self.shard_of(cpu)].is_empty() }
    }

    fn charge(&mut self, task: TaskId, ns: u64) -> bool {
        let left_ns = &mut self.left_ns[task as usize];
        *left_ns = left_ns.saturating_sub(ns);
        *left_ns == 0
    }

    fn queue_length(&self, cpu: usize) -> u32 {
        self.queues[self.shard_of(cpu)].len() + 1
    }
}
