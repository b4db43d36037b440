//! Molnar's O(1) scheduler of early Linux 2.5.
#![expect(unsafe_code, reason = "calls the C functions that are compiled from the headers")]

/// The number of priorities; 0 is the best.
pub const PRIORITIES: usize = 40;

/// The priority of an empty array, or of no task.
pub const NONE: i32 = PRIORITIES as i32;

/// The policy's data of a task.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Task {
    /// Rest of its slice, in nanoseconds.
    pub slice_ns: u64,
    /// Recent sleep less the time it ran, in nanoseconds; at most 2 s.
    pub sleep_ns: u64,
    /// When it last went to sleep, in nanoseconds.
    pub slept_at_ns: u64,
    started_ns: u64,
    /// When it last ran, in nanoseconds.
    pub ran_at_ns: u64,
    /// Nice value, -20 to 19.
    pub nice: i32,
    /// 0, the best, to 39.
    pub priority: i32,
    queued_on: i32,
    /// Not 0 if it has yielded.
    pub yielded: u32,
}

/// Why a task enters a run queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Reason {
    /// Another task, or the kernel, woke it.
    Woken,
    /// Its slice is used up.
    Expired,
    /// It called `sched_yield` itself.
    Yielded,
    /// A better task took its CPU.
    Preempted,
}

/// Where a task that yields is inserted: the three policies of the 2005 study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YieldTo {
    /// P1: behind the task that runs next.
    BehindNext = 1,
    /// P2: the tail of its priority.
    Tail = 2,
    /// P3: the expired array.
    Expired = 3,
}

/// The array, and the end of its list, where a task is inserted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    expired: u32,
    end: u32,
}

/// The source of the next task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// No task is runnable.
    Nothing,
    /// The task that ran until now.
    Previous,
    /// The first of the best list of the active array.
    FromActive,
    /// The same of the expired array; the arrays swap.
    FromExpired,
}

/// What a yield found, in the classes of the 2005 study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No other runnable task.
    Only,
    /// A task of the same priority.
    Same,
    /// A task of a better priority.
    Higher,
    /// A task of a worse priority.
    Lower,
}

unsafe extern "C" {
    safe fn klatch_o1_priority_behind(previous: i32, chosen: i32) -> i32;
    safe fn klatch_o1_outcome_of(choice: u32, previous: i32, chosen: i32) -> u32;
    safe fn klatch_o1_first_of(bits: u64) -> i32;
    safe fn klatch_o1_full_slice_ns(nice: i32) -> u64;
    fn klatch_o1_priority(task: *const Task) -> i32;
    fn klatch_o1_add_sleep(task: *mut Task, ns: u64);
    fn klatch_o1_charge_run(task: *mut Task, ns: u64);
    safe fn klatch_o1_is_starving(waited_ns: u64, runnable: u64) -> i32;
    fn klatch_o1_place(task: *const Task, reason: Reason, starving: i32, yield_to: u64) -> Place;
    safe fn klatch_o1_choose(
        active: i32,
        expired: i32,
        previous: i32,
        place: Place,
        yielded_behind_next: i32,
    ) -> u32;
    safe fn klatch_o1_to_pull(most: i32, own: i32, idle: i32) -> i32;
}

impl Task {
    /// A task with a full slice that has not slept.
    pub fn new(nice: i32) -> Self {
        let mut task = Self {
            slice_ns: full_slice_ns(nice),
            sleep_ns: 0,
            slept_at_ns: 0,
            started_ns: 0,
            ran_at_ns: 0,
            nice,
            priority: 0,
            queued_on: -1,
            yielded: 0,
        };
        task.update_priority();
        task
    }

    /// Computes the priority from nice value and sleep.
    pub fn update_priority(&mut self) {
        // SAFETY: the pointer is that of a live reference.
        self.priority = unsafe { klatch_o1_priority(self) };
    }

    /// Credits `ns` of sleep.
    pub fn add_sleep(&mut self, ns: u64) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_o1_add_sleep(self, ns) }
    }

    /// Charges `ns` of CPU time to slice and sleep.
    pub fn charge_run(&mut self, ns: u64) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_o1_charge_run(self, ns) }
    }

    /// Where the task is inserted.
    pub fn place(&self, reason: Reason, starving: bool, yield_to: YieldTo) -> Place {
        // SAFETY: the pointer is that of a live reference.
        unsafe { klatch_o1_place(self, reason, starving.into(), yield_to as u64) }
    }
}

impl Place {
    /// The tail of the active array.
    pub const ACTIVE_TAIL: Self = Self { expired: 0, end: 0 };

    /// Whether it is the expired array.
    pub fn is_expired(&self) -> bool {
        self.expired != 0
    }

    /// Whether it is the head of the list, not its tail.
    pub fn is_head(&self) -> bool {
        self.end != 0
    }
}

/// The best priority of an array whose lists with tasks have their bit set, or [`NONE`].
pub fn first_of(bits: u64) -> i32 {
    klatch_o1_first_of(bits)
}

/// The slice of a task at `nice`, in nanoseconds: 150 ms at 0.
pub fn full_slice_ns(nice: i32) -> u64 {
    klatch_o1_full_slice_ns(nice)
}

/// Whether the expired array has waited so long that no expired task may stay active.
pub fn is_starving(waited_ns: u64, runnable: u64) -> bool {
    klatch_o1_is_starving(waited_ns, runnable) != 0
}

/// Chooses the next task. `active` and `expired` are the best priorities of the arrays, `previous` that of the task that ran and
/// would be inserted at `place`; each may be [`NONE`].
pub fn choose(active: i32, expired: i32, previous: i32, place: Place, yielded_behind_next: bool) -> Choice {
    match klatch_o1_choose(active, expired, previous, place, yielded_behind_next.into()) {
        0 => Choice::Nothing,
        1 => Choice::Previous,
        2 => Choice::FromActive,
        _ => Choice::FromExpired,
    }
}

/// The priority of a task that yielded behind the next one, of priority `chosen`, until it sleeps or its slice ends.
pub fn priority_behind(previous: i32, chosen: i32) -> i32 {
    klatch_o1_priority_behind(previous, chosen)
}

/// Classifies a yield by the next task: `previous` and `chosen` are priorities.
pub fn outcome_of(choice: Choice, previous: i32, chosen: i32) -> Outcome {
    match klatch_o1_outcome_of(choice as u32, previous, chosen) {
        0 => Outcome::Only,
        1 => Outcome::Same,
        2 => Outcome::Higher,
        _ => Outcome::Lower,
    }
}

/// The number of tasks that a CPU with load `own` pulls from the one with load `most`.
pub fn to_pull(most: u32, own: u32, idle: bool) -> u32 {
    let clamp = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    klatch_o1_to_pull(clamp(most), clamp(own), idle.into()).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        static klatch_o1_task_size: usize;
    }

    #[test]
    fn the_task_has_the_layout_of_the_header() {
        // SAFETY: a constant of the C side.
        assert_eq!(unsafe { klatch_o1_task_size }, size_of::<Task>());
    }

    #[test]
    fn a_yield_to_the_expired_array_lets_the_active_run_first() {
        let task = Task::new(0);
        let place = task.place(Reason::Yielded, false, YieldTo::Expired);
        assert!(place.is_expired());
        assert_eq!(choose(task.priority, NONE, task.priority, place, false), Choice::FromActive);
        assert_eq!(choose(NONE, NONE, task.priority, place, false), Choice::Previous);
    }
}
