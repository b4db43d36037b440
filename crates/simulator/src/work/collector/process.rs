//! A process with a heap, and the phases of its collections.

use std::collections::VecDeque;

use klatch_schedulers::policies::TaskId;

/// What the collecting thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Signals the thread with this index.
    Stop(usize),
    /// Waits until that one has stopped.
    Await(usize),
    /// Marks what is reachable, and sweeps.
    Mark,
    /// Lets the thread with this index continue.
    Resume(usize),
    /// Wakes the first thread that waits for memory. That one wakes the next, and so on.
    Release,
}

/// One process and its heap.
pub(super) struct Process {
    pub(super) threads: Vec<TaskId>,
    /// The collecting thread and its phase.
    pub(super) collecting: Option<(TaskId, Phase)>,
    /// Threads that wait for memory, the first one longest.
    pub(super) out_of_memory: VecDeque<TaskId>,
    /// Messages after which the heap is full.
    pub(super) full_at: u64,
}

impl Process {
    /// The processes of all tasks. `process` is the number of each task's, and `interval` the messages between two collections.
    pub(super) fn all(process: &[usize], interval: u64) -> Vec<Self> {
        let count = process.iter().max().map_or(0, |last| last + 1);
        let threads_of = |number: usize| {
            (0..process.len()).filter(|&task| process[task] == number).map(|task| task as TaskId).collect()
        };
        let one = |number: usize| Self {
            threads: threads_of(number),
            collecting: None,
            out_of_memory: VecDeque::new(),
            // The processes do not collect at the same time.
            full_at: interval * (number as u64 + 1) / count as u64,
        };
        (0..count).map(one).collect()
    }

    /// Whether nobody gets memory: from the beginning of a collection until its threads run again.
    pub(super) fn has_no_memory(&self) -> bool {
        self.collecting.is_some_and(|(_, phase)| phase != Phase::Release)
    }
}
