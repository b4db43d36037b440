//! A run whose crowds the caller pauses, resumes and ends.

use std::time::Duration;

use klatch_instruments::Targets;
use klatch_record::PausedCounts;

use crate::control::{CrowdsInRun, CrowdsOutcome};
use crate::error::RunError;
use crate::observer::NoObserver;
use crate::running_crowd::{RunningCrowd, Stage};

/// Longest time for a crowd to pause. A crowd that waits for a lost message gives up earlier, by its own time-out.
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// A run in progress. Dropping it stops its crowds.
pub struct SteeredRun<'a> {
    crowds: CrowdsInRun<'a>,
    started_at: String,
}

impl<'a> SteeredRun<'a> {
    /// Waits until all users have joined and the gate is open, or the crowds have ended.
    pub(crate) fn open(mut crowds: CrowdsInRun<'a>, started_at: String) -> Result<SteeredRun<'a>, RunError> {
        let joined = |running: &[RunningCrowd]| running.iter().all(|crowd| crowd.stage >= Stage::Joined);
        crowds.advance(&mut NoObserver, &mut |_| {}, Duration::MAX, joined)?;
        Ok(SteeredRun { crowds, started_at })
    }

    /// Lets the users send no more, and waits until everything sent is delivered. `None` if a crowd has ended instead:
    /// [`crate::Session::end`] then gives a record with the reason.
    ///
    /// # Errors
    /// The user interrupted Klatch, or a crowd hangs.
    pub fn pause(&mut self) -> Result<Option<PausedCounts>, RunError> {
        self.crowds.send_line("pause");
        self.crowds.advance(&mut NoObserver, &mut |_| {}, PAUSE_MAX, |running| {
            running.iter().all(|crowd| crowd.paused.is_some())
                || running.iter().any(|crowd| crowd.stage >= Stage::Done)
        })?;
        let paused = self.crowds.all_paused();
        Ok(paused.then(|| self.crowds.take_pause()))
    }

    /// Lets the users send again.
    pub fn resume(&mut self) {
        self.crowds.send_line("resume");
    }

    /// The processes on this machine.
    pub fn targets(&self) -> Targets {
        self.crowds.targets()
    }

    /// Ends the run, and waits for the results.
    pub(crate) fn finish(mut self) -> Result<(String, CrowdsOutcome), RunError> {
        self.crowds.send_line("finish");
        self.crowds.advance(&mut NoObserver, &mut |_| {}, Duration::MAX, |_| false)?;
        Ok((self.started_at, self.crowds.outcome()?))
    }
}
