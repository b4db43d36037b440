//! Calibration: a duet of a platform with itself, which shows the noise of this machine.

use std::path::PathBuf;

use klatch_platforms::Processes;
use klatch_record::{DuetEnd, Estimator};
use klatch_runner::duet::{DuetError, DuetOutcome, DuetPlan, DuetProgress, duet};
use klatch_runner::{noise_between_starts, save_noise};
use thiserror::Error;

use crate::compare::read::CompareError;
use crate::compare::records::compare;
use crate::compare::terms::Terms;

/// The result of a calibration.
pub struct Calibration {
    /// The platform against itself.
    pub outcome: DuetOutcome,
    /// The file that the noise was saved to for the warnings of later runs, or why it was not; `None` after an interrupt or a
    /// run that is not valid.
    pub saved: Option<std::io::Result<PathBuf>>,
}

/// Why a calibration ended without a result. The records of finished runs stay on disk.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// The duet could not be made.
    #[error(transparent)]
    Duet(#[from] DuetError),
    /// The records cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

/// Compares the plan's platform with itself, and saves the noise between starts.
///
/// # Errors
/// See [`CalibrateError`]. Every process that was started is stopped.
pub fn calibrate(
    plan: DuetPlan,
    processes: &Processes,
    on_progress: impl FnMut(DuetProgress),
) -> Result<Calibration, CalibrateError> {
    let outcome = duet(plan, processes, on_progress)?;
    if outcome.duet.end != DuetEnd::Complete {
        return Ok(Calibration { outcome, saved: None });
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: outcome.duet.confidence };
    let comparison = compare(&outcome.folder.join("a"), &outcome.folder.join("b"), terms)?.remove(0);
    let saved = Some(save_noise(&noise_between_starts(&comparison)));
    Ok(Calibration { outcome, saved })
}
