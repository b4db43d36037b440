//! Single starts of a duet, for a study that interleaves several duets.

use std::path::PathBuf;
use std::time::Instant;

use klatch_platforms::{Processes, Sysctls};
use klatch_record::{DuetMetric, DuetStart};

use crate::duet::error::DuetError;
use crate::duet::estimate;
use crate::duet::plan::DuetPlan;
use crate::duet::progress::DuetProgress;
use crate::duet::starts::{ServerStarts, StartOutcome, Starts, start_time};
use crate::{RunError, after_restore};

/// How one start of a pair ended.
#[derive(Clone, Debug, PartialEq)]
pub enum PairOutcome {
    /// Both sides were measured.
    Complete(DuetStart),
    /// A run was not valid: the side, 0 or 1, and the reasons.
    Failed(usize, String),
}

/// Makes starts of duets: on this machine, or scripted in a test.
pub trait PairExecutor {
    /// Makes start `number` of a duet with one start's share of its time. Saves the record of each side in its folder.
    ///
    /// # Errors
    /// See [`DuetError`]; an interrupt is one.
    fn start(
        &mut self,
        plan: &DuetPlan,
        number: u32,
        folders: [PathBuf; 2],
        on_progress: &mut dyn FnMut(DuetProgress),
    ) -> Result<PairOutcome, DuetError>;
}

/// Makes starts on this machine.
pub struct PairMachine<'a> {
    /// Every process that is started is registered here, so that an interrupt stops it.
    pub processes: &'a Processes,
}

impl PairExecutor for PairMachine<'_> {
    fn start(
        &mut self,
        plan: &DuetPlan,
        number: u32,
        folders: [PathBuf; 2],
        on_progress: &mut dyn FnMut(DuetProgress),
    ) -> Result<PairOutcome, DuetError> {
        let plan = plan.clone().prepared()?;
        if plan.sides[0].sysctls != plan.sides[1].sysctls {
            return Err(DuetError::Sysctls);
        }
        let sysctls = Sysctls::set(&plan.sides[0].sysctls).map_err(RunError::from)?;
        let time = start_time(Instant::now(), plan.time / plan.starts, 1);
        let made = ServerStarts::new(&plan, self.processes, Box::new(move |_| folders.clone()))
            .and_then(|mut starts| starts.make(number, &time, on_progress));
        let restored = sysctls.restore();
        let outcome = match made {
            Err(DuetError::Run(error)) => after_restore(Err(*error), restored)?,
            made => after_restore(Ok(made), restored)??,
        };
        match outcome {
            StartOutcome::Complete(start) => Ok(PairOutcome::Complete(start)),
            StartOutcome::Failed { side, reasons, .. } => Ok(PairOutcome::Failed(side, reasons)),
            StartOutcome::Interrupted(_) => Err(RunError::Interrupted.into()),
        }
    }
}

/// Compares all metrics over these starts, whose number was fixed beforehand.
pub fn compare_starts(starts: &[DuetStart], confidence: f64) -> Vec<DuetMetric> {
    estimate::metrics(starts, None, confidence)
}
