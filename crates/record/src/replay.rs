//! A recorded schedule as work that can be simulated: what each task does in its own CPU time.

use serde::{Deserialize, Serialize};

/// The tasks of a trace, each in its own CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// All tasks that ran or were woken.
    pub tasks: Vec<ReplayTask>,
    /// Wake-ups by timers, disks and other machines: ns since the start, and the task as an index.
    pub outside: Vec<(u64, u32)>,
    /// Waits of woken tasks for a CPU as they were measured, in ns, ascending.
    pub waits_ns: Vec<u64>,
    /// CPUs that had events.
    pub cpus: u32,
}

/// A task, which never runs on two CPUs at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayTask {
    /// Name and thread id.
    pub name: String,
    /// Process, as a number from 0 without gaps.
    pub process: u32,
    /// What it does, in order.
    pub steps: Vec<ReplayStep>,
}

/// A step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayStep {
    /// It needs this much CPU time, ns.
    Run(u64),
    /// It ends the next sleep of the task with this index.
    Wake(u32),
    /// It waits for a wake-up. Each sleep is ended by one.
    Sleep,
}

/// The reason why a replay cannot be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A task is woken that is not there.
    #[error("task {task} is woken, and there are {tasks} tasks")]
    NoTask {
        /// Index of the task.
        task: u32,
        /// Number of tasks.
        tasks: u32,
    },
    /// Nothing is woken.
    #[error("no task is woken in it, and wake-ups are what a replay counts")]
    NoWakeUp,
}

impl Replay {
    /// Checks that it can be simulated.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn check(&self) -> Result<(), ReplayError> {
        let tasks = self.tasks.len() as u32;
        let steps = self.tasks.iter().flat_map(|task| &task.steps);
        let woken = steps.filter_map(|step| match step {
            ReplayStep::Wake(task) => Some(*task),
            ReplayStep::Run(_) | ReplayStep::Sleep => None,
        });
        let unknown = woken.chain(self.outside.iter().map(|(_, task)| *task)).find(|task| *task >= tasks);
        match unknown {
            Some(task) => Err(ReplayError::NoTask { task, tasks }),
            None if self.wake_ups() == 0 => Err(ReplayError::NoWakeUp),
            None => Ok(()),
        }
    }

    /// Wake-ups by its tasks and from outside.
    pub fn wake_ups(&self) -> u64 {
        let steps = self.tasks.iter().flat_map(|task| &task.steps);
        let by_tasks = steps.filter(|step| matches!(step, ReplayStep::Wake(_))).count();
        by_tasks as u64 + self.outside.len() as u64
    }

    /// The measured wait that this share of all wake-ups did not exceed, µs; `None` if nothing was woken.
    pub fn wait_us(&self, share: f64) -> Option<f64> {
        let last = self.waits_ns.len().checked_sub(1)?;
        let place = (share * last as f64).round() as usize;
        Some(self.waits_ns[place.min(last)] as f64 / 1e3)
    }
}
