//! One queue whose head is for tasks that sleep: the example of docs/guide/own-policy.md.
#![expect(unsafe_code, reason = "calls the C functions that are compiled from the headers")]

/// What the policy knows of a task.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// CPU time since it last went to the tail.
    ran_ns: u64,
}

unsafe extern "C" {
    fn klatch_sleepers_charge(task: *mut Task, ns: u64);
    fn klatch_sleepers_end(task: *mut Task, woken: i32, budget_ns: u64) -> i32;
}

impl Task {
    /// The task has run.
    pub fn charge(&mut self, ns: u64) {
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_sleepers_charge(self, ns) }
    }

    /// Whether the task enters the queue at its head.
    pub fn goes_first(&mut self, woken: bool, budget_ns: u64) -> bool {
        /// `enum end` of the headers.
        const HEAD: i32 = 1;
        // SAFETY: the pointer is that of a live, exclusive reference.
        unsafe { klatch_sleepers_end(self, woken.into(), budget_ns) == HEAD }
    }
}

#[test]
fn a_woken_task_goes_first_until_its_budget_is_used() {
    let mut task = Task::default();
    assert!(task.goes_first(true, 1_000));
    task.charge(1_000);
    assert!(!task.goes_first(true, 1_000) && task.goes_first(true, 1_000) && !task.goes_first(false, 1_000));
}
