//! What happens under a run-queue lock, and what follows: wake-ups, yields, decisions, kicks and switches.

use klatch_policies::TaskId;

use super::Machine;
use super::recorder::Scheduled;
use super::tasks::Residence;
use crate::account::Account;
use crate::cpu::{Activity, Purpose};
use crate::events::{Cycles, Event};
use crate::schedulers::{Cause, Scheduler};
use crate::topology::Distance;
use crate::work::Work;

impl<S: Scheduler, W: Work> Machine<S, W> {
    pub(super) fn request_decision(&mut self, cpu: usize, cause: Cause) {
        self.request(cpu, self.scheduler.lock_of_cpu(cpu), Purpose::Decide(cause));
    }

    pub(super) fn request(&mut self, cpu: usize, lock: usize, purpose: Purpose) {
        let unit = &mut self.cpus[cpu];
        unit.activity = Activity::Spin { lock, purpose };
        unit.waits_since = self.now;
        unit.enter(Account::Spin, self.now);
        if self.locks[lock].acquire(cpu) {
            self.hold(cpu, lock, purpose);
        }
    }

    /// The CPU has the lock. What it does under it is determined now, not when it asked for it.
    pub(super) fn hold(&mut self, cpu: usize, lock: usize, purpose: Purpose) {
        let mut kick = None;
        let (account, cycles) = match purpose {
            Purpose::Wake(task) | Purpose::Interrupt(task) => {
                (Account::Wake, self.wake(cpu, task, &mut kick))
            }
            Purpose::Yield => (Account::Wake, self.prices.wake / 2),
            Purpose::Decide(cause) => (Account::Decide, self.decide(cpu, cause, &mut kick)),
        };
        self.locks[lock].counts.held += cycles;
        let unit = &mut self.cpus[cpu];
        unit.activity = Activity::Hold { lock, purpose, kick };
        unit.enter(account, self.now);
        let end = unit.spend(&[(account, cycles)]);
        self.events.schedule(end, Event::Step(cpu));
    }

    /// Wakes a task. Returns the cycles for it.
    fn wake(&mut self, cpu: usize, task: TaskId, kick: &mut Option<usize>) -> Cycles {
        if !self.tasks.is_asleep(task) {
            return self.prices.wake / 2;
        }
        self.counts.wakeups += 1;
        let by = self.tasks.previous(cpu);
        self.recorder.record(self.now, self.hardware.mhz, cpu, Scheduled::Wake { task, by });
        if !self.tasks.wake(task, self.now) {
            // The task is on its way to sleep, and stays the current one of its CPU.
            return self.prices.wake;
        }
        let now_ns = self.ns(self.now);
        let wake = self.scheduler.wake(task, &self.tasks.view(now_ns));
        *kick = wake.kick;
        if let Some(kicked) = wake.kick {
            self.tasks.expect_kick(kicked);
        }
        self.prices.wake + self.prices.cpu_read * Cycles::from(wake.cpus_read)
    }

    /// Decides what a CPU runs next. Returns the cycles for it.
    fn decide(&mut self, cpu: usize, cause: Cause, kick: &mut Option<usize>) -> Cycles {
        let previous = self.tasks.previous(cpu);
        // A task that was woken on its way to sleep is still runnable.
        let awake = previous.is_some_and(|previous| !self.tasks.is_asleep(previous));
        let cause = if cause == Cause::Sleep && awake { Cause::Preemption } else { cause };
        self.cpus[cpu].need_resched = false;
        self.cpus[cpu].kicked = false;
        let length = self.scheduler.queue_length(cpu);
        let now_ns = self.ns(self.now);
        let decision = self.scheduler.decide(cpu, previous, cause, &self.tasks.view(now_ns));
        let counts = &mut self.counts;
        counts.decisions += 1;
        counts.yields += u64::from(cause == Cause::Yield);
        if let Some(found) = decision.found {
            counts.yields_found[found as usize] += 1;
        }
        counts.elements += u64::from(decision.elements);
        counts.length_sum += u64::from(length);
        counts.length_squares += u64::from(length).pow(2);
        counts.length_max = counts.length_max.max(length);
        let unit = &mut self.cpus[cpu];
        unit.switches = self.tasks.switch_to(cpu, decision.next, now_ns);
        if let Some(woken_at) = decision.next.and_then(|next| self.tasks.take_wake_time(next)) {
            counts.waits.record(self.now - woken_at);
        }
        if unit.switches {
            let runnable = previous.is_some_and(|previous| !self.tasks.is_asleep(previous));
            let switch = Scheduled::Switch { from: previous, runnable, to: decision.next };
            self.recorder.record(self.now, self.hardware.mhz, cpu, switch);
        }
        *kick = decision.kick;
        if let Some(kicked) = decision.kick {
            self.tasks.expect_kick(kicked);
        }
        if let Some(left) = previous.filter(|_| unit.switches) {
            self.tasks.residence[left as usize] = Some(Residence { cpu, loaded_bytes: unit.loaded_bytes });
        }
        self.prices.decision
            + self.prices.element * Cycles::from(decision.elements + decision.recalculated)
            + self.prices.cpu_read * Cycles::from(decision.cpus_read)
            + self.prices.line_read * Cycles::from(decision.lines_read)
    }

    /// Releases the lock and begins what follows.
    pub(super) fn hold_ends(&mut self, cpu: usize, lock: usize, purpose: Purpose, kick: Option<usize>) {
        if let Some((winner, waiting)) = self.locks[lock].release(cpu, &mut self.random) {
            let hand_over = self.prices.hand_over + self.prices.hand_over_waiter * waiting;
            self.events.schedule(self.now + hand_over, Event::Step(winner));
        }
        if let Some(kicked) = kick {
            self.kick(kicked, kicked != cpu);
        }
        match purpose {
            Purpose::Wake(_) => self.go_on(cpu),
            Purpose::Interrupt(_) if self.tasks.previous(cpu).is_none() => self.rest(cpu),
            Purpose::Interrupt(_) => self.go_on(cpu),
            Purpose::Yield => self.request_decision(cpu, Cause::Yield),
            Purpose::Decide(_) => self.run_next(cpu),
        }
    }

    /// Makes a CPU decide: at once by an interrupt if it is idle, else at its next opportunity. An interrupt `from_another` CPU takes
    /// time of a busy one, too.
    pub(super) fn kick(&mut self, cpu: usize, from_another: bool) {
        if self.cpus[cpu].activity != Activity::Idle {
            let already = std::mem::replace(&mut self.cpus[cpu].need_resched, true);
            if from_another && !already {
                self.cpus[cpu].interrupted += self.prices.interrupt;
            }
        } else if !std::mem::replace(&mut self.cpus[cpu].kicked, true) {
            self.tasks.expect_kick(cpu);
            self.events.schedule(self.now + self.prices.interrupt, Event::Kick(cpu));
        }
    }

    pub(super) fn interrupt(&mut self, cpu: usize) {
        if self.cpus[cpu].activity == Activity::Idle {
            self.request_decision(cpu, Cause::Preemption);
        } else {
            self.cpus[cpu].need_resched = true;
        }
    }

    pub(super) fn tick(&mut self, cpu: usize) {
        let (now_ns, tick_ns) = (self.ns(self.now), self.ns(self.cycles_per_tick()));
        if self.scheduler.tick(cpu, tick_ns, &self.tasks.view(now_ns)) {
            self.kick(cpu, false);
        }
        self.events.schedule(self.now + self.cycles_per_tick(), Event::Tick(cpu));
    }

    /// Begins what was decided.
    fn run_next(&mut self, cpu: usize) {
        let Some(next) = self.tasks.previous(cpu) else { return self.rest(cpu) };
        if !self.cpus[cpu].switches {
            return self.begin(cpu);
        }
        let refill = self.refill(cpu, next);
        let space = self.work.address_spaces()[next as usize];
        let unit = &mut self.cpus[cpu];
        // An idle CPU keeps the address space of its last task.
        let changes = std::mem::replace(&mut unit.address_space, space) != space;
        let switch = self.prices.switch + if changes { self.prices.address_space } else { 0 };
        unit.activity = Activity::Switch;
        unit.enter(Account::Switch, self.now);
        let end = unit.spend(&[(Account::Switch, switch), (Account::Refill, refill)]);
        self.events.schedule(end, Event::Step(cpu));
    }

    /// A CPU becomes idle, unless an interrupt arrived or it was kicked while it decided.
    fn rest(&mut self, cpu: usize) {
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
