//! A machine with several CPUs, one scheduler and one workload. Time is in cycles, and equal seeds give equal runs.

mod decide;
pub(crate) mod recorder;
mod switch;
mod tasks;
#[cfg(test)]
mod tests;

use klatch_schedulers::policies::TaskId;
use recorder::{Recorder, ScheduleEvent};
use tasks::Tasks;

use crate::account::{Account, Accounts};
use crate::cache::Decay;
use crate::counts::Counts;
use crate::cpu::{Activity, Cpu, Purpose};
use crate::events::{Cycles, Event, Events};
use crate::hardware::Hardware;
use crate::lock::{Lock, LockCounts};
use crate::prices::Prices;
use crate::random::Random;
use crate::schedulers::{Cause, Scheduler};
use crate::work::{Effect, Op, Work};

/// Events without a counted message after which the simulation is stuck: this many, and as many for each task as a collection needs.
const EVENTS_WITHOUT_PROGRESS: u64 = 1_000_000;
const EVENTS_WITHOUT_PROGRESS_PER_TASK: u64 = 1_000;
/// How long a CPU may be idle beside a waiting task under a scheduler that promises to avoid it: longer than any interrupt takes.
const STRANDED_MAX_US: u64 = 100;
/// Longest part of an operation in the program: a CPU handles interrupts and decides between two parts. With 50 µs a woken thread waited
/// for longer than a monitor is held, so blocking was too expensive.
const STEP_US: u64 = 10;

pub(crate) struct Machine<S, W> {
    hardware: Hardware,
    prices: Prices,
    scheduler: S,
    work: W,
    events: Events,
    cpus: Vec<Cpu>,
    locks: Vec<Lock>,
    tasks: Tasks,
    decay: Decay,
    random: Random,
    counts: Counts,
    /// For how long some CPU has been idle beside a waiting task.
    stranded_for: Cycles,
    recorder: Recorder,
    now: Cycles,
}

impl<S: Scheduler, W: Work> Machine<S, W> {
    pub(crate) fn new(hardware: Hardware, prices: Prices, scheduler: S, work: W, seed: u64) -> Self {
        let cpus = hardware.topology.cpus();
        Self {
            locks: (0..scheduler.locks()).map(|_| Lock::default()).collect(),
            cpus: (0..cpus).map(|_| Cpu::new()).collect(),
            tasks: Tasks::new(work.address_spaces().len(), cpus),
            decay: Decay::new(),
            random: Random::new(seed),
            counts: Counts::default(),
            stranded_for: 0,
            recorder: Recorder::default(),
            now: 0,
            events: Events::default(),
            hardware,
            prices,
            scheduler,
            work,
        }
    }

    /// Runs as [`run`](Self::run) does, and records what is scheduled before `until`. The names of the tasks are the workload's.
    pub(crate) fn run_recorded(mut self, until: Cycles) -> (Counts, Vec<ScheduleEvent>, Vec<String>) {
        let names =
            (0..self.work.address_spaces().len()).map(|task| self.work.name(task as TaskId)).collect();
        self.recorder = Recorder::new(until);
        let (counts, recorder) = self.run_to_end();
        (counts, recorder.events, names)
    }

    /// Runs until the work is done. Returns the counts after the first tenth of it.
    ///
    /// # Panics
    /// The work cannot be completed, or an invariant does not hold: a policy lost a task, or the machine is wrong.
    #[cfg(test)]
    pub(crate) fn run(self) -> Counts {
        self.run_to_end().0
    }

    fn run_to_end(mut self) -> (Counts, Recorder) {
        self.start();
        let (_, goal) = self.work.progress();
        let (mut warm, mut messages, mut since) = (None, 0, 0);
        let patience = EVENTS_WITHOUT_PROGRESS
            + EVENTS_WITHOUT_PROGRESS_PER_TASK * self.work.address_spaces().len() as u64;
        while messages < goal {
            let Some((at, event)) = self.events.next() else {
                panic!("no event is left after {messages} of {goal} messages")
            };
            self.advance(at);
            match event {
                Event::Step(cpu) => self.step(cpu),
                Event::Kick(cpu) => self.interrupt(cpu),
                Event::Tick(cpu) => self.tick(cpu),
                Event::Outside(number) => self.arrive(number),
            }
            let before = std::mem::replace(&mut messages, self.work.progress().0);
            since = if messages > before { 0 } else { since + 1 };
            assert!(since < patience, "no progress after {messages} of {goal} messages");
            if warm.is_none() && messages >= goal / 10 {
                warm = Some(self.snapshot());
                self.counts.length_max = 0;
            }
        }
        (self.snapshot().since(&warm.unwrap_or_default()), self.recorder)
    }

    fn start(&mut self) {
        for task in self.work.starters() {
            self.tasks.wake(task, 0);
            self.scheduler.wake(task, &self.tasks.view(0));
        }
        let (tick, cpus) = (self.cycles_per_tick(), self.cpus.len() as u64);
        for cpu in 0..self.cpus.len() {
            self.cpus[cpu].kicked = true;
            self.tasks.expect_kick(cpu);
            self.events.schedule(0, Event::Kick(cpu));
            // The ticks of the CPUs are spread over the interval.
            self.events.schedule(tick + cpu as u64 * tick / cpus, Event::Tick(cpu));
        }
        self.expect_outside();
    }

    fn advance(&mut self, to: Cycles) {
        let stranded = self.tasks.stranded_cpus();
        self.counts.stranded += stranded * (to - self.now);
        self.stranded_for = if stranded > 0 { self.stranded_for + (to - self.now) } else { 0 };
        assert!(
            !self.scheduler.never_strands() || self.stranded_for <= STRANDED_MAX_US * self.hardware.mhz,
            "a task waits beside an idle CPU"
        );
        self.counts.events += 1;
        self.now = to;
    }

    fn cycles_per_tick(&self) -> Cycles {
        self.hardware.mhz * 1_000_000 / self.prices.timer_hz
    }

    fn ns(&self, cycles: Cycles) -> u64 {
        cycles * 1000 / self.hardware.mhz
    }

    /// The counts so far.
    ///
    /// # Panics
    /// The accounts do not add up to the time that passed.
    fn snapshot(&self) -> Counts {
        let (mut accounts, mut ahead) = (Accounts::default(), 0);
        for cpu in &self.cpus {
            let (of_cpu, ahead_of_cpu) = cpu.accounts_at(self.now);
            accounts = accounts.plus(&of_cpu);
            ahead += ahead_of_cpu;
        }
        assert_eq!(
            accounts.total() - ahead,
            self.now * self.cpus.len() as u64,
            "each cycle is in one account"
        );
        let locks = self.locks.iter().map(|lock| lock.counts).fold(LockCounts::default(), LockCounts::plus);
        Counts { cycles: self.now, messages: self.work.progress().0, accounts, locks, ..self.counts.clone() }
    }

    /// The activity of a CPU ends.
    fn step(&mut self, cpu: usize) {
        match self.cpus[cpu].activity {
            Activity::Idle => unreachable!("an idle CPU has no step"),
            Activity::Op => self.op_ends(cpu),
            Activity::Spin { lock, purpose } => {
                self.locks[lock].counts.waited += self.now - self.cpus[cpu].waits_since;
                self.hold(cpu, lock, purpose);
            }
            Activity::Hold { lock, purpose, kick } => self.hold_ends(cpu, lock, purpose, kick),
            Activity::Interrupt(task) => {
                self.request(cpu, self.scheduler.lock_of_task(task), Purpose::Interrupt(task))
            }
            Activity::Switch => self.switched(cpu),
        }
    }

    /// The task of a CPU begins its next operation, unless the CPU must handle an interrupt first.
    pub(super) fn begin(&mut self, cpu: usize) {
        match self.cpus[cpu].arrivals.pop_front() {
            Some(task) => self.handle(cpu, task),
            None => self.start_op(cpu),
        }
    }

    fn start_op(&mut self, cpu: usize) {
        let op = self.next_op(self.tasks.current(cpu));
        let distance = op.written_on.map(|writer| self.hardware.topology.distance(writer, cpu));
        let lines = distance.map_or(0, |distance| self.prices.message_lines[distance as usize]);
        // From `1 - jitter` to `1 + jitter` times the mean.
        let spread = op.user * self.prices.jitter / 1024;
        let user = op.user - spread + self.random.below(2 * spread + 1);
        let unit = &mut self.cpus[cpu];
        let interrupted = std::mem::take(&mut unit.interrupted);
        unit.activity = Activity::Op;
        unit.enter(Account::User, self.now);
        let end = unit.spend(&[
            (Account::User, user),
            (Account::Collector, op.collector),
            (Account::Kernel, op.kernel + interrupted),
            (Account::Lines, lines),
        ]);
        self.events.schedule(end, Event::Step(cpu));
    }

    /// The next operation of a task, or the next part of a long one.
    fn next_op(&mut self, task: TaskId) -> Op {
        let whole = self.tasks.unfinished[task as usize].take().unwrap_or_else(|| self.work.next(task));
        let (part, rest) = whole.divide(STEP_US * self.hardware.mhz);
        self.tasks.unfinished[task as usize] = rest;
        part
    }

    fn op_ends(&mut self, cpu: usize) {
        let task = self.tasks.current(cpu);
        let ns = self.ns(self.now) - self.ns(self.cpus[cpu].charged_to);
        self.cpus[cpu].charged_to = self.now;
        if self.scheduler.charge(task, ns) {
            self.cpus[cpu].need_resched = true;
        }
        if self.tasks.unfinished[task as usize].is_some() {
            return self.go_on(cpu);
        }
        let effect = self.work.complete(task, cpu);
        self.expect_outside();
        match effect {
            Effect::Continue => self.go_on(cpu),
            Effect::Wake(woken) => {
                self.request(cpu, self.scheduler.lock_of_task(woken), Purpose::Wake(woken))
            }
            Effect::Sleep => {
                self.tasks.sleep(task);
                self.request_decision(cpu, Cause::Sleep);
            }
            Effect::Yield => {
                let outcome = self.scheduler.yields(cpu, task, &self.tasks.view(self.ns(self.now)));
                match (outcome.decides, outcome.locks) {
                    (true, true) => self.request(cpu, self.scheduler.lock_of_cpu(cpu), Purpose::Yield),
                    (true, false) => self.request_decision(cpu, Cause::Yield),
                    (false, _) => self.go_on(cpu),
                }
            }
        }
    }

    /// Schedules what will happen on other machines.
    fn expect_outside(&mut self) {
        while let Some((delay, number)) = self.work.outside() {
            self.events.schedule(self.now + delay, Event::Outside(number));
        }
    }

    /// An event on another machine reaches a random CPU by an interrupt. A busy CPU handles it at its next opportunity.
    fn arrive(&mut self, number: u32) {
        let Some(task) = self.work.arrive(number) else { return };
        let cpu = self.random.below(self.cpus.len() as u64) as usize;
        if self.cpus[cpu].activity == Activity::Idle {
            self.handle(cpu, task);
        } else {
            self.cpus[cpu].arrivals.push_back(task);
        }
    }

    /// Begins to handle an interrupt that wakes `task`.
    fn handle(&mut self, cpu: usize, task: TaskId) {
        let cycles = self.prices.system_call;
        let unit = &mut self.cpus[cpu];
        unit.activity = Activity::Interrupt(task);
        unit.enter(Account::Kernel, self.now);
        let end = unit.spend(&[(Account::Kernel, cycles)]);
        self.events.schedule(end, Event::Step(cpu));
    }

    /// The task of a CPU continues, unless the CPU must handle an interrupt or decide.
    fn go_on(&mut self, cpu: usize) {
        if self.cpus[cpu].need_resched && self.cpus[cpu].arrivals.is_empty() {
            self.request_decision(cpu, Cause::Preemption)
        } else {
            self.begin(cpu)
        }
    }
}
