//! Records what a simulated machine schedules, as a trace of a kernel would.

use klatch_schedulers::policies::TaskId;

use crate::events::Cycles;

/// A scheduling event on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleEvent {
    /// Time since the start, in ns.
    pub ns: u64,
    /// The CPU on which it happened.
    pub cpu: usize,
    /// A switch or a wake-up.
    pub what: Scheduled,
}

/// What a scheduling event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduled {
    /// A CPU switches; a CPU without a task is idle.
    Switch {
        /// The task that ran; `None` after idle time.
        from: Option<TaskId>,
        /// Whether that task could go on.
        runnable: bool,
        /// The task that runs now; `None` if the CPU becomes idle.
        to: Option<TaskId>,
    },
    /// A task is woken.
    Wake {
        /// The task that was asleep.
        task: TaskId,
        /// The task that wakes it; none in an interrupt of an idle CPU.
        by: Option<TaskId>,
    },
}

/// The events of the first part of a run.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) events: Vec<ScheduleEvent>,
    /// Nothing is recorded from here on.
    until: Cycles,
}

impl Recorder {
    pub(crate) fn new(until: Cycles) -> Self {
        Self { events: Vec::new(), until }
    }

    pub(crate) fn record(&mut self, now: Cycles, mhz: u64, cpu: usize, what: Scheduled) {
        if now < self.until {
            self.events.push(ScheduleEvent { ns: now * 1_000 / mhz, cpu, what });
        }
    }
}
