//! What happens under a run-queue lock: wake-ups, yields and decisions; and kicks and ticks, which lead to more of them.

use klatch_schedulers::policies::TaskId;

use super::Machine;
use super::recorder::Scheduled;
use super::tasks::Residence;
use crate::account::Account;
use crate::cpu::{Activity, Decided, Purpose};
use crate::events::{Cycles, Event};
use crate::schedulers::{Cause, Scheduler};
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
            Purpose::Offer(task) => (Account::Wake, self.offer(task, &mut kick)),
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
        self.expect(wake.kick, kick);
        self.prices.wake + self.prices.cpu_read * Cycles::from(wake.cpus_read)
    }

    /// Looks for a CPU for a task that was preempted. Returns the cycles for it.
    fn offer(&mut self, task: TaskId, kick: &mut Option<usize>) -> Cycles {
        if self.tasks.is_asleep(task) {
            return self.prices.wake / 2;
        }
        let now_ns = self.ns(self.now);
        let offer = self.scheduler.offer(task, &self.tasks.view(now_ns));
        self.expect(offer.kick, kick);
        self.prices.wake / 2 + self.prices.cpu_read * Cycles::from(offer.cpus_read)
    }

    /// Takes note of the CPU that will be made to decide.
    fn expect(&mut self, found: Option<usize>, kick: &mut Option<usize>) {
        *kick = found;
        if let Some(kicked) = found {
            self.tasks.expect_kick(kicked);
        }
    }

    /// Decides what a CPU runs next. Returns the cycles for it, without those of [`Decided::recalculation`].
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
        let switches = self.tasks.switch_to(cpu, decision.next, now_ns);
        unit.decided = Decided {
            after: previous,
            switches,
            recalculation: self.prices.element * Cycles::from(decision.recalculated),
            offers: decision.offers,
        };
        if let Some(woken_at) = decision.next.and_then(|next| self.tasks.take_wake_time(next)) {
            counts.waits.record(self.now - woken_at);
        }
        if switches {
            let runnable = previous.is_some_and(|previous| !self.tasks.is_asleep(previous));
            let switch = Scheduled::Switch { from: previous, runnable, to: decision.next };
            self.recorder.record(self.now, self.hardware.mhz, cpu, switch);
        }
        if let Some(left) = previous.filter(|_| switches) {
            self.counts.switches += 1;
            self.tasks.residence[left as usize] = Some(Residence { cpu, loaded_bytes: unit.loaded_bytes });
        }
        self.expect(decision.kick, kick);
        self.prices.decision
            + self.prices.element * Cycles::from(decision.elements)
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
            Purpose::Offer(_) => self.go_on(cpu),
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
        let decides = matches!(self.cpus[cpu].activity, Activity::Hold { purpose: Purpose::Decide(_), .. });
        let is_late = decides && self.scheduler.switches_without_lock();
        let task = if is_late { self.cpus[cpu].decided.after } else { self.tasks.previous(cpu) };
        // The request to decide is a flag of the task, which leaves its CPU just now if the tick is late.
        if self.scheduler.tick(cpu, task, tick_ns, &self.tasks.view(now_ns)) && !is_late {
            self.kick(cpu, false);
        }
        self.events.schedule(self.now + self.cycles_per_tick(), Event::Tick(cpu));
    }
}
