//! What a scheduler is to the machine: questions that it answers with counts, never with time.

use klatch_schedulers::policies::TaskId;
use klatch_schedulers::policies::o1::Outcome as YieldOutcome;

/// What a scheduler sees of the machine.
pub(crate) struct View<'a> {
    /// The task of each CPU, if it is not idle.
    pub(crate) current: &'a [Option<TaskId>],
    /// CPUs without a task to which no interrupt is on its way.
    pub(crate) idle: &'a [bool],
    /// The number of idle CPUs.
    pub(crate) idle_cpus: usize,
    /// Since when each CPU is idle, if it is.
    pub(crate) idle_since_ns: &'a [u64],
    pub(crate) now_ns: u64,
}

impl View<'_> {
    /// The CPU that has been idle longest, of those that `allowed` accepts.
    pub(crate) fn longest_idle(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        if self.idle_cpus == 0 {
            return None;
        }
        let idle = (0..self.idle.len()).filter(|&cpu| self.idle[cpu] && allowed(cpu));
        idle.min_by_key(|&cpu| self.idle_since_ns[cpu])
    }
}

/// Why a CPU decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its task waits for something.
    Sleep,
    /// Its task called `sched_yield`.
    Yield,
    /// A better task is runnable, a slice is used up, or the CPU was idle.
    Preemption,
}

/// The outcome of a decision, and what was read for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decision {
    /// None: the CPU becomes idle.
    pub(crate) next: Option<TaskId>,
    /// Elements of run queues.
    pub(crate) elements: u32,
    /// Other CPUs whose state and task were read.
    pub(crate) cpus_read: u32,
    /// Cache lines that other CPUs publish, each with the state of one of them.
    pub(crate) lines_read: u32,
    /// Tasks that got new slices.
    pub(crate) recalculated: u32,
    /// Another CPU to make decide, for the previous task.
    pub(crate) kick: Option<usize>,
    /// The previous task is offered to other CPUs after the switch, with the lock once more.
    pub(crate) offers: bool,
    /// What a yield found, where the policy classifies it.
    pub(crate) found: Option<YieldOutcome>,
}

/// The outcome of a wake-up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wake {
    /// CPUs examined for the task.
    pub(crate) cpus_read: u32,
    /// The CPU to make decide.
    pub(crate) kick: Option<usize>,
}

/// The effect of `sched_yield`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Yield {
    /// It takes the run-queue lock once more, before the decision.
    pub(crate) locks: bool,
    /// The CPU decides next.
    pub(crate) decides: bool,
}

/// A scheduler. `wake` and `decide` are called with the lock held that `lock_of_task` and `lock_of_cpu` name.
pub(crate) trait Scheduler {
    /// Number of run-queue locks.
    fn locks(&self) -> usize;

    /// The lock under which `task` is woken.
    fn lock_of_task(&self, task: TaskId) -> usize;

    /// The lock under which `cpu` decides.
    fn lock_of_cpu(&self, cpu: usize) -> usize;

    /// A task that was asleep, and is on no CPU, becomes runnable.
    fn wake(&mut self, task: TaskId, view: &View<'_>) -> Wake;

    /// Chooses the next task of `cpu`, after `previous`. With [`Cause::Sleep`] `previous` is no longer runnable.
    fn decide(&mut self, cpu: usize, previous: Option<TaskId>, cause: Cause, view: &View<'_>) -> Decision;

    /// The current task of `cpu` calls `sched_yield`.
    fn yields(&mut self, cpu: usize, task: TaskId, view: &View<'_>) -> Yield;

    /// Charges CPU time to a running task. Returns whether its slice is used up. The kernels of history charge ticks instead.
    fn charge(&mut self, _task: TaskId, _ns: u64) -> bool {
        false
    }

    /// Looks for a CPU for a task that was preempted, unless it runs again. The lock is that of the CPU where it was.
    fn offer(&mut self, _task: TaskId, _view: &View<'_>) -> Wake {
        Wake::default()
    }

    /// The timer of `cpu` ticks, `tick_ns` after the last time. `task` is the current one. Returns whether the CPU is to decide.
    fn tick(&mut self, _cpu: usize, _task: Option<TaskId>, _tick_ns: u64, _view: &View<'_>) -> bool {
        false
    }

    /// Whether a decision releases the lock before it switches, as in Linux 2.2 to 2.4: a timer interrupt that waits for the lock's
    /// release finds the previous task.
    fn switches_without_lock(&self) -> bool {
        false
    }

    /// Whether no CPU stays idle, longer than an interrupt takes, while a task that may run there waits.
    fn never_strands(&self) -> bool {
        false
    }

    /// Runnable tasks in the queue that `cpu` looks at first, the current one included.
    fn queue_length(&self, cpu: usize) -> u32;
}
