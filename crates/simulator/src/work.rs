//! Workloads: each task is a state machine that performs one operation after the other.

pub(crate) mod chat;
pub(crate) mod collector;
pub(crate) mod hackbench;
pub(crate) mod locks;
pub(crate) mod monitor;
pub(crate) mod requests;
pub(crate) mod spec;
pub(crate) mod trace;

use klatch_schedulers::policies::TaskId;

use crate::events::Cycles;

/// An operation: time in the program, then in the kernel, then its effect.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Op {
    pub(crate) user: Cycles,
    pub(crate) collector: Cycles,
    pub(crate) kernel: Cycles,
    /// The CPU that wrote the message which the operation reads.
    pub(crate) written_on: Option<usize>,
}

impl Op {
    pub(crate) fn user(user: Cycles) -> Self {
        Self { user, ..Self::default() }
    }

    pub(crate) fn kernel(kernel: Cycles) -> Self {
        Self { kernel, ..Self::default() }
    }

    /// Divides an operation with more than `step` in the program: into that much of it, and the rest.
    pub(crate) fn divide(self, step: Cycles) -> (Self, Option<Self>) {
        let user = self.user.min(step);
        let collector = self.collector.min(step - user);
        let (user_left, collector_left) = (self.user - user, self.collector - collector);
        if user_left + collector_left == 0 {
            return (self, None);
        }
        let rest = Self { user: user_left, collector: collector_left, ..self };
        (Self { user, collector, ..Self::default() }, Some(rest))
    }
}

#[test]
fn an_operation_is_divided_in_the_program_and_never_in_the_kernel() {
    let mut left = Some(Op { user: 25, collector: 7, kernel: 100, written_on: Some(3) });
    let mut parts = Vec::new();
    while let Some(op) = left {
        let (part, rest) = op.divide(10);
        parts.push((part.user, part.collector, part.kernel, part.written_on));
        left = rest;
    }
    assert_eq!(parts, [(10, 0, 0, None), (10, 0, 0, None), (5, 5, 0, None), (0, 2, 100, Some(3))]);
}

/// What follows an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Continue,
    /// The task wakes another one, which waits.
    Wake(TaskId),
    /// The task waits until another one wakes it.
    Sleep,
    /// The task calls `sched_yield`.
    Yield,
}

pub(crate) trait Work {
    /// The address space of each task. There are as many tasks as entries.
    fn address_spaces(&self) -> &[u64];

    /// Tasks that are runnable at the start. All others wait.
    fn starters(&self) -> Vec<TaskId>;

    /// The next operation of a task.
    fn next(&mut self, task: TaskId) -> Op;

    /// Ends the operation of a task on `cpu`.
    fn complete(&mut self, task: TaskId, cpu: usize) -> Effect;

    /// A signal interrupts a task, which then repeats what it waited for. Returns whether it was waiting.
    fn interrupt(&mut self, task: TaskId) -> bool;

    /// Takes one of the events that will happen on other machines: its delay from now, and its number.
    fn outside(&mut self) -> Option<(Cycles, u32)> {
        None
    }

    /// An event on another machine reaches this one by an interrupt. Returns the task that it wakes.
    fn arrive(&mut self, _number: u32) -> Option<TaskId> {
        None
    }

    /// The name of a task in traces.
    fn name(&self, task: TaskId) -> String {
        format!("task {task}")
    }

    /// Whether a task waits for another one.
    fn is_waiting(&self, task: TaskId) -> bool;

    /// Whether the next operation of a task needs memory from the heap of its process. The task holds no monitor then.
    fn allocates(&self, _task: TaskId) -> bool {
        false
    }

    /// Messages counted so far, and how many there will be.
    fn progress(&self) -> (u64, u64);
}
