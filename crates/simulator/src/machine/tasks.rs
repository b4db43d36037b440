//! Where the tasks are: asleep, waiting in a queue, or on a CPU.

use klatch_schedulers::policies::TaskId;

use crate::events::Cycles;
use crate::schedulers::View;
use crate::work::Op;

/// What a task left in a cache when it last ran.
#[derive(Clone, Copy)]
pub(super) struct Residence {
    pub(super) cpu: usize,
    /// What the cache of that CPU had loaded in all.
    pub(super) loaded_bytes: u64,
}

/// The state of all tasks, and of the CPUs as far as schedulers see it.
pub(super) struct Tasks {
    asleep: Vec<bool>,
    /// When each task was woken that has not run since.
    woken_at: Vec<Option<Cycles>>,
    /// The CPU that each task occupies. A task on its way to sleep still does.
    cpu: Vec<Option<usize>>,
    pub(super) residence: Vec<Option<Residence>>,
    /// What is left of the operation that each task is in the middle of.
    pub(super) unfinished: Vec<Option<Op>>,
    current: Vec<Option<TaskId>>,
    /// CPUs without a task to which no interrupt is on its way.
    idle: Vec<bool>,
    idle_cpus: usize,
    idle_since_ns: Vec<u64>,
    /// Runnable tasks that are on no CPU.
    waiting: usize,
}

impl Tasks {
    pub(super) fn new(tasks: usize, cpus: usize) -> Self {
        Self {
            asleep: vec![true; tasks],
            woken_at: vec![None; tasks],
            cpu: vec![None; tasks],
            residence: vec![None; tasks],
            unfinished: vec![None; tasks],
            current: vec![None; cpus],
            idle: vec![true; cpus],
            idle_cpus: cpus,
            idle_since_ns: vec![0; cpus],
            waiting: 0,
        }
    }

    pub(super) fn view(&self, now_ns: u64) -> View<'_> {
        View {
            current: &self.current,
            idle: &self.idle,
            idle_cpus: self.idle_cpus,
            idle_since_ns: &self.idle_since_ns,
            now_ns,
        }
    }

    /// The task of a CPU that is not idle.
    pub(super) fn current(&self, cpu: usize) -> TaskId {
        self.current[cpu].expect("a busy CPU has a task")
    }

    pub(super) fn previous(&self, cpu: usize) -> Option<TaskId> {
        self.current[cpu]
    }

    pub(super) fn sleep(&mut self, task: TaskId) {
        self.asleep[task as usize] = true;
    }

    pub(super) fn is_asleep(&self, task: TaskId) -> bool {
        self.asleep[task as usize]
    }

    /// Wakes a task. Returns whether it enters a queue: it was asleep, and not just on its way there.
    pub(super) fn wake(&mut self, task: TaskId, now: Cycles) -> bool {
        let was_asleep = std::mem::take(&mut self.asleep[task as usize]);
        let enters = was_asleep && self.cpu[task as usize].is_none();
        if enters {
            self.waiting += 1;
            self.woken_at[task as usize] = Some(now);
        }
        enters
    }

    /// When a task was woken, if it runs for the first time since.
    pub(super) fn take_wake_time(&mut self, task: TaskId) -> Option<Cycles> {
        self.woken_at[task as usize].take()
    }

    /// An interrupt is on its way to a CPU, so no other wake-up counts on it.
    pub(super) fn expect_kick(&mut self, cpu: usize) {
        self.idle_cpus -= usize::from(std::mem::take(&mut self.idle[cpu]));
    }

    /// Puts the outcome of a decision into effect. Returns whether the CPU switches.
    ///
    /// # Panics
    /// The task is asleep, or on another CPU.
    pub(super) fn switch_to(&mut self, cpu: usize, next: Option<TaskId>, now_ns: u64) -> bool {
        let previous = self.current[cpu];
        self.expect_kick(cpu);
        if next.is_none() {
            self.idle[cpu] = true;
            self.idle_cpus += 1;
            self.idle_since_ns[cpu] = now_ns;
        }
        if next == previous {
            return false;
        }
        if let Some(previous) = previous {
            self.cpu[previous as usize] = None;
            self.waiting += usize::from(!self.asleep[previous as usize]);
        }
        if let Some(next) = next {
            assert!(!self.asleep[next as usize], "the policy chose a task that is asleep");
            assert_eq!(self.cpu[next as usize], None, "the policy chose a task that runs on another CPU");
            self.cpu[next as usize] = Some(cpu);
            self.waiting -= 1;
        }
        self.current[cpu] = next;
        true
    }

    /// CPUs that are idle while tasks wait in queues, at most one for each task.
    pub(super) fn stranded_cpus(&self) -> u64 {
        self.idle_cpus.min(self.waiting) as u64
    }
}
