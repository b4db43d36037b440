//! What follows a decision: the switch to another task, what it loads into the cache, or idleness.

use klatch_schedulers::policies::TaskId;

use super::Machine;
use crate::account::Account;
use crate::cpu::{Activity, Decided, Purpose};
use crate::events::{Cycles, Event};
use crate::schedulers::{Cause, Scheduler};
use crate::topology::Distance;
use crate::work::Work;

impl<S: Scheduler, W: Work> Machine<S, W> {
    /// Begins what was decided.
    pub(super) fn run_next(&mut self, cpu: usize) {
        let Some(next) = self.tasks.previous(cpu) else { return self.rest(cpu) };
        let Decided { switches, recalculation, .. } = self.cpus[cpu].decided;
        let (switch, refill) = if switches { self.switch(cpu, next) } else { (0, 0) };
        if recalculation + switch + refill == 0 {
            return self.switched(cpu);
        }
        let unit = &mut self.cpus[cpu];
        unit.activity = Activity::Switch;
        unit.enter(Account::Switch, self.now);
        let parts = [(Account::Decide, recalculation), (Account::Switch, switch), (Account::Refill, refill)];
        let end = unit.spend(&parts);
        self.events.schedule(end, Event::Step(cpu));
    }

    /// A decision is complete. The CPU looks for another one for its previous task, and decides again if it was asked to meanwhile.
    pub(super) fn switched(&mut self, cpu: usize) {
        self.cpus[cpu].charged_to = self.now;
        let Decided { after, offers, .. } = self.cpus[cpu].decided;
        match after.filter(|_| offers) {
            Some(task) => self.request(cpu, self.scheduler.lock_of_cpu(cpu), Purpose::Offer(task)),
            None => self.go_on(cpu),
        }
    }

    /// Gives a CPU to another task. Returns the cycles of the switch, and those to load what the task needs.
    fn switch(&mut self, cpu: usize, next: TaskId) -> (Cycles, Cycles) {
        let refill = self.refill(cpu, next);
        let space = self.work.address_spaces()[next as usize];
        // An idle CPU keeps the address space of its last task.
        let changes = std::mem::replace(&mut self.cpus[cpu].address_space, space) != space;
        (self.prices.switch + if changes { self.prices.address_space } else { 0 }, refill)
    }

    /// A CPU becomes idle, unless an interrupt arrived or it was kicked while it decided.
    pub(super) fn rest(&mut self, cpu: usize) {
        if let Some(task) = self.cpus[cpu].arrivals.pop_front() {
            return self.handle(cpu, task);
        }
        self.cpus[cpu].activity = Activity::Idle;
        self.cpus[cpu].enter(Account::Idle, self.now);
        if self.cpus[cpu].need_resched {
            self.tasks.expect_kick(cpu);
            self.request_decision(cpu, Cause::Preemption);
        }
    }

    /// Loads what a task needs into the cache of `cpu`. Returns the cycles for it.
    fn refill(&mut self, cpu: usize, task: TaskId) -> Cycles {
        let (hardware, bytes) = (&self.hardware, self.prices.footprint_bytes);
        let residence = self.tasks.residence[task as usize];
        let distance =
            residence.map_or(Distance::SameCpu, |residence| hardware.topology.distance(residence.cpu, cpu));
        let moved = distance != Distance::SameCpu;
        let loaded_bytes = &mut self.cpus[cpu].loaded_bytes;
        let bytes = match residence.filter(|_| !moved) {
            Some(residence) => {
                self.decay.cold_part(bytes, *loaded_bytes - residence.loaded_bytes, hardware.cache_bytes)
            }
            None => bytes,
        };
        *loaded_bytes += bytes;
        self.counts.migrations[distance as usize] += u64::from(moved);
        let factor = if moved { self.prices.remote_refill_factor } else { 1 };
        bytes / hardware.line_bytes * self.prices.refill_line * factor
    }
}
