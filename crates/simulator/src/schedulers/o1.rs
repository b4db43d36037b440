//! Molnar's O(1) scheduler of early Linux 2.5: a queue with two arrays and a lock for each CPU, and a balancer.

mod queue;

use klatch_schedulers::policies::o1::{self, Choice, NONE, Place, Reason, Task, YieldTo};
use klatch_schedulers::policies::{Links, TaskId};
use queue::{Queue, Slot};

use super::{Cause, Decision, Scheduler, View, Wake, Yield};
use crate::placement::Placement;

/// Ticks between two balances of a busy CPU: 250 ms.
const TICKS_BETWEEN_BALANCES: u32 = 25;
/// A task that ran within this time is not pulled.
const CACHE_HOT_NS: u64 = 10_000_000;

/// The changes of the 2005 study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct O1Knobs {
    /// Where a task that yields is inserted.
    pub yield_to: YieldTo,
    /// An idle CPU pulls tasks that ran within the last 10 ms too.
    pub idle_pulls_warm: bool,
}

impl O1Knobs {
    /// The scheduler of early 2.5: a yield goes to the tail, and the cache-hot test applies to idle CPUs.
    pub const LINUX_2_5: Self = Self { yield_to: YieldTo::Tail, idle_pulls_warm: false };
}

pub(crate) struct O1 {
    knobs: O1Knobs,
    pub(super) tasks: Vec<Task>,
    links: Links,
    /// The CPU in whose queue each task is, or ran last.
    pub(super) cpu: Vec<usize>,
    slots: Vec<Slot>,
    /// Tasks whose slice has ended since they were chosen.
    expired: Vec<bool>,
    queues: Vec<Queue>,
    placement: Placement,
}

/// A task with all the sleep that the policy credits: the threads of a program have waited for its first work.
fn rested() -> Task {
    let mut task = Task::new(0);
    task.add_sleep(u64::MAX);
    task.update_priority();
    task
}

impl O1 {
    pub(crate) fn new(knobs: O1Knobs, placement: Placement, tasks: usize, cpus: usize) -> Self {
        Self {
            knobs,
            tasks: vec![rested(); tasks],
            links: Links::new(tasks),
            cpu: (0..tasks).map(|task| placement.home(task as TaskId)).collect(),
            slots: vec![Slot::default(); tasks],
            expired: vec![false; tasks],
            queues: (0..cpus).map(|_| Queue::new(cpus)).collect(),
            placement,
        }
    }

    fn insert(&mut self, cpu: usize, task: TaskId, place: Place, now_ns: u64) {
        let priority = self.tasks[task as usize].priority;
        self.slots[task as usize] = self.queues[cpu].insert(&mut self.links, task, priority, place, now_ns);
        self.cpu[task as usize] = cpu;
    }

    fn remove(&mut self, task: TaskId) {
        let cpu = self.cpu[task as usize];
        self.queues[cpu].remove(&mut self.links, task, self.slots[task as usize]);
    }

    /// Pulls tasks from the CPU with the highest load into the active array. A busy CPU takes the larger of its present load, `own`, and that
    /// at its last balance, and the smaller of those of the others.
    fn balance(&mut self, cpu: usize, own: u32, view: &View<'_>, decision: &mut Decision) {
        decision.lines_read += self.queues.len() as u32 - 1;
        let idle = own == 0;
        let mut loads = std::mem::take(&mut self.queues[cpu].loads);
        let before = std::mem::replace(&mut loads[cpu], own);
        let own = if idle { 0 } else { own.max(before) };
        let others = loads.iter_mut().enumerate().filter(|&(other, _)| other != cpu).map(|(other, load)| {
            let now = self.queues[other].waiting + u32::from(view.current[other].is_some());
            let before = std::mem::replace(load, now);
            (if idle { now } else { now.min(before) }, std::cmp::Reverse(other))
        });
        let busiest = others.max();
        self.queues[cpu].loads = loads;
        let Some((most, std::cmp::Reverse(busiest))) = busiest.filter(|&(most, _)| most > 1) else { return };
        for _ in 0..o1::to_pull(most, own, idle) {
            let Some(task) = self.pullable(busiest, cpu, idle, view.now_ns, decision) else { return };
            self.remove(task);
            self.insert(cpu, task, Place::ACTIVE_TAIL, view.now_ns);
        }
    }

    /// The first task of a queue that may move to `to` and is not cache-hot.
    fn pullable(
        &self,
        from: usize,
        to: usize,
        idle: bool,
        now_ns: u64,
        decision: &mut Decision,
    ) -> Option<TaskId> {
        let pulls_warm = idle && self.knobs.idle_pulls_warm;
        let is_cold = |task: TaskId| now_ns >= self.tasks[task as usize].ran_at_ns + CACHE_HOT_NS;
        let mut tasks = self.queues[from].to_balance(&self.links).inspect(|_| decision.elements += 1);
        tasks.find(|&task| self.placement.allows(task, to) && (pulls_warm || is_cold(task)))
    }

    /// Charges a tick to the current task of a CPU. Returns whether its slice ends.
    fn charge_tick(&mut self, task: TaskId, tick_ns: u64) -> bool {
        let running = &mut self.tasks[task as usize];
        running.charge_run(tick_ns);
        if running.slice_ns > 0 {
            return false;
        }
        running.slice_ns = o1::full_slice_ns(running.nice);
        running.update_priority();
        self.expired[task as usize] = true;
        true
    }

    /// Why and where the previous task is inserted if another one is chosen.
    fn place(&mut self, cpu: usize, previous: TaskId, cause: Cause, now_ns: u64) -> (Reason, Place) {
        let expired = std::mem::take(&mut self.expired[previous as usize]);
        let reason = match cause {
            _ if expired => Reason::Expired,
            Cause::Yield => Reason::Yielded,
            Cause::Preemption | Cause::Sleep => Reason::Preempted,
        };
        let queue = &self.queues[cpu];
        let starving = expired
            && queue
                .expired_since_ns
                .is_some_and(|since| o1::is_starving(now_ns - since, u64::from(queue.waiting) + 1));
        (reason, self.tasks[previous as usize].place(reason, starving, self.knobs.yield_to))
    }
}

impl Scheduler for O1 {
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
        let woken = &mut self.tasks[task as usize];
        woken.add_sleep(view.now_ns - woken.slept_at_ns);
        woken.update_priority();
        let (cpu, priority) = (self.cpu[task as usize], woken.priority);
        let place = woken.place(Reason::Woken, false, self.knobs.yield_to);
        self.insert(cpu, task, place, view.now_ns);
        let better = view.current[cpu].is_none_or(|current| priority < self.tasks[current as usize].priority);
        Wake { cpus_read: 1, kick: better.then_some(cpu) }
    }

    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision {
        let mut decision = Decision { elements: 1, ..Decision::default() };
        let due = std::mem::take(&mut self.queues[cpu].balance_is_due);
        let runnable = previous.filter(|_| cause != Cause::Sleep);
        if let Some(previous) = previous {
            let task = &mut self.tasks[previous as usize];
            (task.ran_at_ns, task.slept_at_ns) = (view.now_ns, view.now_ns);
        }
        let load = self.queues[cpu].waiting + u32::from(runnable.is_some());
        if self.queues.len() > 1 && (due || load == 0) {
            self.balance(cpu, load, view, &mut decision);
        }
        let (reason, place) = match runnable {
            Some(previous) => self.place(cpu, previous, cause, view.now_ns),
            None => (Reason::Woken, Place::ACTIVE_TAIL),
        };
        let own = runnable.map_or(NONE, |previous| self.tasks[previous as usize].priority);
        let behind_next = reason == Reason::Yielded && self.knobs.yield_to == YieldTo::BehindNext;
        let (active, expired) = self.queues[cpu].best();
        let choice = o1::choose(active, expired, own, place, behind_next);
        // A previous task that goes to the expired array and is the best of it is chosen from there.
        if choice == Choice::FromExpired || (choice == Choice::Previous && place.is_expired()) {
            self.queues[cpu].swap_arrays();
        }
        decision.next = match choice {
            Choice::Nothing => None,
            Choice::Previous => runnable,
            Choice::FromActive | Choice::FromExpired => Some(self.queues[cpu].first()),
        };
        let chosen = decision.next.map_or(NONE, |next| self.tasks[next as usize].priority);
        if cause == Cause::Yield {
            decision.found = Some(o1::outcome_of(choice, own, chosen));
        }
        if let Some(yielded) = runnable.filter(|_| behind_next) {
            self.tasks[yielded as usize].priority = o1::priority_behind(own, chosen);
        }
        if let Some(next) = decision.next.filter(|_| decision.next != runnable) {
            self.remove(next);
            self.cpu[next as usize] = cpu;
        }
        if let Some(previous) = runnable.filter(|_| decision.next != runnable) {
            self.insert(cpu, previous, place, view.now_ns);
        }
        decision
    }

    fn yields(&mut self, _cpu: usize, _task: TaskId, _view: &View<'_>) -> Yield {
        Yield { locks: true, decides: true }
    }

    fn tick(&mut self, cpu: usize, task: Option<TaskId>, tick_ns: u64, view: &View<'_>) -> bool {
        let expires = task.is_some_and(|current| self.charge_tick(current, tick_ns));
        let queue = &mut self.queues[cpu];
        queue.ticks += 1;
        let due = view.idle[cpu] || queue.ticks.is_multiple_of(TICKS_BETWEEN_BALANCES);
        if !due || !self.queues.iter().enumerate().any(|(other, queue)| other != cpu && queue.waiting > 0) {
            return expires;
        }
        self.queues[cpu].balance_is_due = true;
        true
    }

    fn queue_length(&self, cpu: usize) -> u32 {
        self.queues[cpu].waiting
    }
}
