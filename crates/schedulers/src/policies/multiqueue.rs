//! MQ, Kravetz and Franke's multi-queue scheduler for Linux 2.4. Tasks, slices and recalculations are those of
//! [`goodness`](crate::policies::goodness).
#![expect(unsafe_code, reason = "calls the C functions that are compiled from the headers")]

use crate::policies::goodness::{NO_TASK, Task};
use crate::policies::{Links, List, Skip, TaskId};

/// A task and its goodness on any CPU: what a queue publishes of its best waiting task.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// [`NO_TASK`] if there is none.
    pub goodness: i32,
    task: i32,
}

/// The best two tasks of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestTwo {
    /// The task with the highest goodness.
    pub best: Candidate,
    /// The one after it.
    pub second: Candidate,
    /// Elements read, skipped ones included.
    pub elements: u32,
}

unsafe extern "C" {
    fn klatch_multiqueue_walk(
        tasks: *mut Task,
        next: *const TaskId,
        flags: *const u8,
        mask: u8,
        head: TaskId,
        mm: u64,
        epoch: u64,
        best: *mut Candidate,
        second: *mut Candidate,
        elements: *mut u32,
    );
    fn klatch_multiqueue_goodness(task: *const Task) -> i32;
    fn klatch_multiqueue_local_goodness(task: *const Task, mm: u64) -> i32;
    safe fn klatch_multiqueue_with_affinity(best: i32) -> i32;
    safe fn klatch_multiqueue_preempt_cost(goodness_of_current: i32, is_own_cpu: i32) -> i32;
}

impl Candidate {
    /// Stands for no task.
    pub const NONE: Self = Self { goodness: NO_TASK, task: -1 };

    /// A task with its goodness.
    pub fn new(task: TaskId, goodness: i32) -> Self {
        Self { goodness, task: task.cast_signed() }
    }

    /// The task, if there is one.
    pub fn task(&self) -> Option<TaskId> {
        (self.goodness > NO_TASK && self.task >= 0).then_some(self.task.cast_unsigned())
    }
}

/// Walks one queue for the best two tasks without the flags in `skip`. `previous` competes first.
///
/// # Panics
/// `tasks`, `links` and the flags have different lengths.
pub fn walk(
    tasks: &mut [Task],
    links: &Links,
    skip: Skip<'_>,
    list: &List,
    previous: Candidate,
    mm: u64,
    epoch: u64,
) -> BestTwo {
    let lengths = [links.next().len(), skip.flags.len()];
    assert_eq!(lengths, [tasks.len(); 2], "one link and one set of flags per task");
    let mut two = BestTwo { best: previous, second: Candidate::NONE, elements: 0 };
    // SAFETY: the indices in a list are below the length of its links, which is that of the other two arrays.
    unsafe {
        klatch_multiqueue_walk(
            tasks.as_mut_ptr(),
            links.next().as_ptr(),
            skip.flags.as_ptr(),
            skip.mask,
            list.head(),
            mm,
            epoch,
            &mut two.best,
            &mut two.second,
            &mut two.elements,
        );
    }
    two
}

/// Goodness on any CPU: without the bonuses for memory and CPU; -1 after a yield.
pub fn goodness(task: &Task) -> i32 {
    // SAFETY: the pointer is that of a live reference.
    unsafe { klatch_multiqueue_goodness(task) }
}

/// Goodness in its own queue, after a task with the memory `mm`.
pub fn local_goodness(task: &Task, mm: u64) -> i32 {
    // SAFETY: the pointer is that of a live reference.
    unsafe { klatch_multiqueue_local_goodness(task, mm) }
}

/// The goodness that another queue's best task must exceed to be stolen.
pub fn with_affinity(best: i32) -> i32 {
    klatch_multiqueue_with_affinity(best)
}

/// The goodness that a woken task must exceed to preempt on a CPU whose current task has `goodness_of_current`.
pub fn preempt_cost(goodness_of_current: i32, is_own_cpu: bool) -> i32 {
    klatch_multiqueue_preempt_cost(goodness_of_current, is_own_cpu.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::goodness::Version;

    #[test]
    fn a_walk_returns_the_best_two() {
        let mut tasks = vec![Task::new(0, 1, Version::Linux2_4); 4];
        tasks[0].nice = -20;
        tasks[2].nice = -4;
        tasks[3].nice = -8;
        let (mut links, mut list) = (Links::new(4), List::EMPTY);
        (0..4).for_each(|task| list.push_back(&mut links, task));
        let two =
            walk(&mut tasks, &links, Skip { flags: &[1, 0, 0, 0], mask: 1 }, &list, Candidate::NONE, 2, 0);
        assert_eq!((two.best.task(), two.second.task(), two.elements), (Some(3), Some(2), 4));
    }
}
