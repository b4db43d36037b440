//! `goodness()` of Linux 2.3 and 2.4.
#![expect(unsafe_code, reason = "calls the C functions that are compiled from the headers")]

use crate::policies::{Links, List, Skip, TaskId};

/// The kernel whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2.2 and 2.3: slices of 20 ticks at nice 0; the yield of the only runnable task causes a recalculation.
    Linux2_3 = 23,
    /// 2.4: slices of 6 ticks at nice 0.
    Linux2_4 = 24,
}

/// Bonus for the CPU where a task ran last: PROC_CHANGE_PENALTY of i386, in kernels built for several CPUs.
pub const SAME_CPU_BONUS: i32 = 15;

/// Lower than the goodness of any task.
pub const NO_TASK: i32 = -1000;

/// The policy's data of a task.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Rest of its slice, in nanoseconds.
    pub counter_ns: u64,
    /// Its address space; 0 for none.
    pub mm: u64,
    /// The number of recalculations that are applied to its counter.
    pub epoch: u32,
    /// Nice value, -20 to 19.
    pub nice: i16,
    /// The CPU where it ran last.
    pub cpu: i16,
    started_ns: u64,
    slice_avg_ns: u64,
    /// Not 0 if it has yielded since it was last chosen.
    pub yielded: u32,
    sync: u32,
}

/// The conditions of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The CPU that decides.
    pub cpu: i32,
    /// The address space of the task that ran there.
    pub mm: u64,
    /// The number of recalculations so far.
    pub epoch: u64,
    /// The kernel whose rules apply.
    pub version: Version,
    /// Bonus for the CPU where a task ran last: [`SAME_CPU_BONUS`], or 0 in kernels built for one CPU.
    pub bonus: i32,
}

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// [`List::END`] if no task is better than the goodness that the walk began with.
    pub task: TaskId,
    /// Its goodness, or that which the walk began with.
    pub goodness: i32,
    /// Elements read, skipped ones included.
    pub elements: u32,
}

unsafe extern "C" {
    fn klatch_goodness_walk(
        tasks: *mut Task,
        next: *const TaskId,
        flags: *const u8,
        mask: u8,
        head: TaskId,
        cpu: i32,
        mm: u64,
        epoch: u64,
        version: u64,
        bonus: i32,
        best: *mut i32,
        elements: *mut u32,
    ) -> TaskId;
    fn klatch_goodness(task: *const Task, cpu: i32, mm: u64, version: u64, bonus: i32) -> i32;
    fn klatch_goodness_of_previous(task: *mut Task, cpu: i32, version: u64, bonus: i32) -> i32;
    fn klatch_goodness_catch_up(task: *mut Task, epoch: u64, version: u64);
    fn klatch_goodness_charge_run(task: *mut Task, ns: u64);
    fn klatch_goodness_add_slice(task: *mut Task, ns: u64);
    fn klatch_goodness_should_wait_for_cpu(
        task: *const Task,
        current: *const Task,
        cache_flush_ns: u64,
    ) -> i32;
    safe fn klatch_goodness_must_recalculate(best: i32) -> i32;
    safe fn klatch_goodness_yield_has_effect(waiting: u64, version: u64) -> i32;
    safe fn klatch_goodness_full_slice_ns(nice: i32, version: u64) -> u64;
}

/// Walks `list` for the best task that is better than `goodness` and has none of the flags in `skip`: it runs, or may not run here.
///
/// # Panics
/// `tasks`, `links` and the flags have different lengths.
pub fn walk(
    tasks: &mut [Task],
    links: &Links,
    skip: Skip<'_>,
    list: &List,
    goodness: i32,
    terms: Terms,
) -> Best {
    let lengths = [links.next().len(), skip.flags.len()];
    assert_eq!(lengths, [tasks.len(); 2], "one link and one set of flags per task");
    let mut best = Best { task: List::END, goodness, elements: 0 };
    // SAFETY: the indices in a list are below the length of its links, which is that of the other two arrays.
    best.task = unsafe {
        klatch_goodness_walk(
            tasks.as_mut_ptr(),
            links.next().as_ptr(),
            skip.flags.as_ptr(),
            skip.mask,
            list.head(),
            terms.cpu,
            terms.mm,
            terms.epoch,
            terms.version as u64,
            terms.bonus,
            &mut best.goodness,
            &mut best.elements,
        )
    };
    best
}

impl Task {
    /// A task with a full slice that has not run yet.
    pub fn new(nice: i16, mm: u64, version: Version) -> Self {
        Self {
            counter_ns: klatch_goodness_full_slice_ns(i32::from(nice), version as u64),
            mm,
            nice,
            ..Self::default()
        }
    }

    /// Its goodness under `terms`.
    pub fn goodness(&self, terms: Terms) -> i32 {
        // SAFETY: the pointer is that of a live reference.
        unsafe { klatch_goodness(self, terms.cpu, terms.mm, terms.version as u64, terms.bonus) }
    }

    /// Its goodness as the task that ran until now. 2.3 clears the mark of a yield.
    pub fn goodness_as_previous(&mut self, cpu: i32, version: Version, bonus: i32) -> i32 {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_goodness_of_previous(self, cpu, version as u64, bonus) }
    }

    /// Charges `ns` of run time.
    pub fn charge_run(&mut self, ns: u64) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_goodness_charge_run(self, ns) }
    }

    /// Adds a run of `ns` between two switches to its average.
    pub fn add_slice(&mut self, ns: u64) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_goodness_add_slice(self, ns) }
    }

    /// Whether it waits for its last CPU, where `current` runs: on average both run for less than `cache_flush_ns` together.
    pub fn waits_for_cpu(&self, current: &Self, cache_flush_ns: u64) -> bool {
        // SAFETY: the pointers are those of live references.
        unsafe { klatch_goodness_should_wait_for_cpu(self, current, cache_flush_ns) != 0 }
    }

    /// Applies the recalculations that the task has missed.
    pub fn catch_up(&mut self, epoch: u64, version: Version) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_goodness_catch_up(self, epoch, version as u64) }
    }
}

/// Whether all slices are used up, given the best goodness of a walk.
pub fn must_recalculate(best: i32) -> bool {
    klatch_goodness_must_recalculate(best) != 0
}

/// Whether a call of `sched_yield` causes a decision while `waiting` tasks wait for a CPU.
pub fn yield_has_effect(waiting: u64, version: Version) -> bool {
    klatch_goodness_yield_has_effect(waiting, version as u64) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        static klatch_goodness_task_size: usize;
    }

    #[test]
    fn the_task_has_the_layout_of_the_header() {
        // SAFETY: a constant of the C side.
        assert_eq!(unsafe { klatch_goodness_task_size }, size_of::<Task>());
        let task = Task { counter_ns: 1, mm: 2, nice: -20, cpu: 3, ..Task::default() };
        // 1 ns is one tick; nice -20 counts 40; the CPU and the memory are the same.
        let terms = Terms { cpu: 3, mm: 2, epoch: 0, version: Version::Linux2_4, bonus: SAME_CPU_BONUS };
        assert_eq!(task.goodness(terms), 1 + 40 + SAME_CPU_BONUS + 1);
    }

    #[test]
    fn the_earliest_of_equal_tasks_wins_and_skipped_ones_are_read() {
        let mut tasks = vec![Task::new(0, 1, Version::Linux2_4); 4];
        tasks.iter_mut().for_each(|task| task.cpu = 1);
        let (mut links, mut list) = (Links::new(4), List::EMPTY);
        (0..4).for_each(|task| list.push_back(&mut links, task));
        let terms = Terms { cpu: 0, mm: 1, epoch: 0, version: Version::Linux2_4, bonus: SAME_CPU_BONUS };
        let best = walk(&mut tasks, &links, Skip { flags: &[1, 2, 4, 0], mask: 3 }, &list, NO_TASK, terms);
        // 6 ticks, nice 0 and the same memory.
        assert_eq!(best, Best { task: 2, goodness: 6 + 20 + 1, elements: 4 });
    }
}
