//! The run queue of one CPU: virtual time, lag, eligibility and deadlines.
//!
//! Tasks have equal weights, so each of `n` is entitled to one n-th of the CPU. A task's virtual run time grows while it runs. Virtual time
//! is the mean of those of all members, so it advances by one n-th of real time. The lag of a task is the virtual time less its own: what
//! it is owed. A task is eligible if its lag is not negative.

use std::collections::BTreeSet;

use klatch_schedulers::policies::TaskId;

/// A slice that is protected without `RUN_TO_PARITY`: the kernel's for one CPU.
const PROTECTED_MIN_NS: i64 = 700_000;
/// A tick of the kernels of Debian, to which lag is limited at least.
const TICK_NS: i64 = 4_000_000;

/// The rules that the kernel's features switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// The current task is protected until its slice is used up, or it is not eligible.
    pub(super) runs_to_parity: bool,
    /// A task that sleeps with negative lag stays in the queue until it is eligible.
    pub(super) delays_dequeue: bool,
    /// A yield uses up the slice; else it only puts off the deadline.
    pub(super) yield_forfeits: bool,
}

/// A task, in virtual time of its queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// What it requests: CPU time between two of its deadlines.
    slice_ns: i64,
    pub(super) ran_ns: i64,
    pub(super) deadline_ns: i64,
    /// No other task that becomes runnable is chosen before this, while the task runs and is eligible.
    protected_to_ns: i64,
    /// Its lag when it left its queue.
    pub(super) lag_ns: i64,
    /// It sleeps, and is still a member.
    pub(super) delayed: bool,
    /// Order of arrival among members with equal deadlines.
    order: u64,
}

impl Task {
    pub(super) fn new(slice_ns: i64) -> Self {
        Self { slice_ns, ran_ns: 0, deadline_ns: 0, protected_to_ns: 0, lag_ns: 0, delayed: false, order: 0 }
    }

    /// The limit of lag that it takes along when it leaves: two slices, or a tick.
    pub(super) fn lag_max_ns(&self) -> i64 {
        (2 * self.slice_ns).max(TICK_NS)
    }
}

#[derive(Clone)]
pub(super) struct Queue {
    rules: Rules,
    /// Members but the current task, by deadline and order of arrival.
    waiting: BTreeSet<(i64, u64, TaskId)>,
    pub(super) current: Option<TaskId>,
    members: u32,
    delayed: u32,
    /// The sum of the members' virtual run times.
    ran_sum_ns: i128,
    /// Virtual time when the last member left.
    left_at_ns: i64,
    /// The current task is charged up to here, in real time.
    charged_to_ns: u64,
    arrivals: u64,
}

impl Queue {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            waiting: BTreeSet::new(),
            current: None,
            members: 0,
            delayed: 0,
            ran_sum_ns: 0,
            left_at_ns: 0,
            charged_to_ns: 0,
            arrivals: 0,
        }
    }

    /// Tasks in the queue, the current one and delayed ones included.
    pub(super) fn members(&self) -> u32 {
        self.members
    }

    /// Tasks that could run if the CPU were free.
    pub(super) fn runnable_waiting(&self) -> u32 {
        self.waiting.len() as u32 - self.delayed
    }

    /// Levels of a balanced tree of the waiting tasks.
    pub(super) fn levels(&self) -> u32 {
        (self.waiting.len() + 1).ilog2() + u32::from(!self.waiting.is_empty())
    }

    /// Waiting tasks, the earliest deadline first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.waiting.iter().map(|&(_, _, task)| task)
    }

    pub(super) fn virtual_ns(&self) -> i64 {
        match self.members {
            0 => self.left_at_ns,
            members => self.ran_sum_ns.div_euclid(i128::from(members)) as i64,
        }
    }

    pub(super) fn is_eligible(&self, task: &Task) -> bool {
        i128::from(task.ran_ns) * i128::from(self.members) <= self.ran_sum_ns
    }

    /// Charges the current task for the time since the last charge. Returns whether its time is over and another one waits.
    pub(super) fn charge(&mut self, tasks: &mut [Task], now_ns: u64) -> bool {
        let ns = (now_ns - self.charged_to_ns) as i64;
        self.charged_to_ns = now_ns;
        let Some(current) = self.current else { return false };
        let task = &mut tasks[current as usize];
        task.ran_ns += ns;
        self.ran_sum_ns += i128::from(ns);
        let used_up = task.ran_ns >= task.deadline_ns;
        if used_up {
            task.deadline_ns = task.ran_ns + task.slice_ns;
        }
        self.members > 1 && (used_up || task.ran_ns >= task.protected_to_ns)
    }

    /// A task becomes a member with the lag that it took along, and with a new deadline, or one that is as far away as it was.
    pub(super) fn join(&mut self, tasks: &mut [Task], id: TaskId, until_deadline_ns: Option<i64>) {
        let task = &mut tasks[id as usize];
        let members = i64::from(self.members);
        // The newcomer moves virtual time towards itself, by which its lag becomes smaller: more, so that it is as much as it was.
        let lag_ns = if members > 0 { task.lag_ns * (members + 1) / members } else { 0 };
        task.ran_ns = self.virtual_ns() - lag_ns;
        task.deadline_ns = task.ran_ns + until_deadline_ns.unwrap_or(task.slice_ns);
        self.members += 1;
        self.ran_sum_ns += i128::from(task.ran_ns);
        self.wait(tasks, id);
    }

    /// A waiting task leaves, and takes its lag along.
    pub(super) fn leave(&mut self, tasks: &mut [Task], id: TaskId) {
        self.stop_waiting(tasks, id);
        self.forget(&mut tasks[id as usize]);
    }

    /// The current task sleeps.
    pub(super) fn sleep(&mut self, tasks: &mut [Task]) {
        let id = self.current.take().expect("the task that sleeps is the current one");
        let is_eligible = self.is_eligible(&tasks[id as usize]);
        if self.rules.delays_dequeue && !is_eligible {
            tasks[id as usize].delayed = true;
            self.delayed += 1;
            self.wait(tasks, id);
        } else {
            self.forget(&mut tasks[id as usize]);
        }
    }

    /// A delayed task wakes. If it is owed time by now, it starts anew at virtual time.
    pub(super) fn rejoin(&mut self, tasks: &mut [Task], id: TaskId) {
        if self.virtual_ns() > tasks[id as usize].ran_ns {
            self.expire(tasks, id);
            self.join(tasks, id, None);
        } else {
            tasks[id as usize].delayed = false;
            self.delayed -= 1;
        }
    }

    /// A delayed task that has become eligible leaves; it is owed nothing.
    pub(super) fn expire(&mut self, tasks: &mut [Task], id: TaskId) {
        self.leave(tasks, id);
        let task = &mut tasks[id as usize];
        task.delayed = false;
        task.lag_ns = task.lag_ns.min(0);
        self.delayed -= 1;
    }

    /// The current task yields: it gives up what is left of its slice if it is eligible.
    pub(super) fn yields(&mut self, tasks: &mut [Task]) {
        let Some(current) = self.current.filter(|_| self.members > 1) else { return };
        let is_eligible = self.is_eligible(&tasks[current as usize]);
        let task = &mut tasks[current as usize];
        if !self.rules.yield_forfeits {
            task.deadline_ns += task.slice_ns;
        } else if is_eligible {
            self.ran_sum_ns += i128::from(task.deadline_ns - task.ran_ns);
            task.ran_ns = task.deadline_ns;
            task.deadline_ns += task.slice_ns;
        }
    }

    /// The eligible task with the earliest deadline, which may be a delayed one. A current task that is eligible and protected is kept.
    pub(super) fn pick(&self, tasks: &[Task]) -> Option<TaskId> {
        let current = self.current.filter(|&current| self.is_eligible(&tasks[current as usize]));
        let is_protected = |&current: &TaskId| {
            let task = &tasks[current as usize];
            task.ran_ns < task.protected_to_ns
        };
        if let Some(kept) = current.filter(is_protected) {
            return Some(kept);
        }
        let first = self.waiting().find(|&task| self.is_eligible(&tasks[task as usize]));
        let deadline_ns = |task: TaskId| tasks[task as usize].deadline_ns;
        match (current, first) {
            (Some(current), Some(first)) if deadline_ns(first) <= deadline_ns(current) => Some(first),
            (Some(current), _) => Some(current),
            (None, first) => first,
        }
    }

    /// Gives the CPU to a task. One that is the current task already keeps the protection that it has.
    pub(super) fn run(&mut self, tasks: &mut [Task], next: Option<TaskId>) {
        if next == self.current {
            return;
        }
        if let Some(previous) = self.current {
            self.wait(tasks, previous);
        }
        if let Some(next) = next {
            self.stop_waiting(tasks, next);
            let task = &mut tasks[next as usize];
            let until_ns = match self.rules.runs_to_parity {
                true => task.deadline_ns,
                false => task.deadline_ns.min(task.ran_ns + PROTECTED_MIN_NS),
            };
            task.protected_to_ns = until_ns;
        }
        self.current = next;
    }

    fn wait(&mut self, tasks: &mut [Task], id: TaskId) {
        self.arrivals += 1;
        let task = &mut tasks[id as usize];
        task.order = self.arrivals;
        self.waiting.insert((task.deadline_ns, task.order, id));
    }

    fn stop_waiting(&mut self, tasks: &[Task], id: TaskId) {
        let task = &tasks[id as usize];
        assert!(self.waiting.remove(&(task.deadline_ns, task.order, id)), "the task waits here");
    }

    /// A task that does not wait is no member any more.
    fn forget(&mut self, task: &mut Task) {
        let virtual_ns = self.virtual_ns();
        task.lag_ns = (virtual_ns - task.ran_ns).clamp(-task.lag_max_ns(), task.lag_max_ns());
        self.members -= 1;
        self.ran_sum_ns -= i128::from(task.ran_ns);
        self.left_at_ns = virtual_ns;
    }
}
