//! Calibration: compares a platform with itself, which shows the noise of this machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use klatch_platforms::{Processes, ResolvedPlatform};
use klatch_record::{Comparison, Estimator, Role, Status, save};
use klatch_runner::{
    Plan, RunError, Session, VisitEvent, make_folder, make_runs, noise_between_starts, resolve_platform,
    save_noise,
};
use thiserror::Error;

use crate::read::CompareError;
use crate::records::compare;
use crate::terms::Terms;

/// With fewer pairs a comparison is unpaired.
const PAIRS_MIN: u32 = 3;

/// The result of a calibration.
pub struct Calibration {
    /// The platform compared with itself.
    pub comparison: Comparison,
    /// The folder with its records.
    pub folder: PathBuf,
    /// Time that the calibration took.
    pub elapsed: Duration,
    /// The file that the noise was saved to for the warnings of later runs, or why it was not; `None` for the cost of
    /// instruments.
    pub saved: Option<std::io::Result<PathBuf>>,
}

/// Why a calibration ended without a result. The records of finished runs stay on disk.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// A run could not be made.
    #[error(transparent)]
    Run(Box<RunError>),
    /// The verdict of a run is not valid.
    #[error("a run of the calibration does not count: {0}")]
    NotValid(String),
    /// An instrument did not run.
    #[error("{0}")]
    Instrument(String),
    /// The time was too short for an interval.
    #[error("{pairs} pairs in {time_s:.0} s, which is too few: use a longer --time, 60 or more")]
    TooShort {
        /// Pairs with and without instruments.
        pairs: usize,
        /// The time asked for.
        time_s: f64,
    },
    /// The records cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

impl From<RunError> for CalibrateError {
    fn from(error: RunError) -> CalibrateError {
        CalibrateError::Run(Box::new(error))
    }
}

/// Compares the plan's platform with itself, in pairs, for about `time`. Ends when another pair would not fit, but not
/// before three pairs. `on_pair` receives the number of each pair and the time so far.
///
/// A pair is two starts of the server in random order, each with the plan's warm-ups and one trial. The noise therefore
/// includes the differences between starts.
///
/// # Errors
/// See [`CalibrateError`]. Every process that was started is stopped.
pub fn calibrate(
    plan: &Plan,
    time: Duration,
    processes: &Processes,
    mut on_pair: impl FnMut(u32, Duration),
) -> Result<Calibration, CalibrateError> {
    let platform = resolve_platform(plan)?;
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, "calibration", Timestamp::now()).map_err(in_out)?;
    let (began, mut longest, mut rng) = (Instant::now(), Duration::ZERO, Rng::with_seed(plan.seed));
    for pair in 1.. {
        if pair > PAIRS_MIN && began.elapsed() + longest > time {
            break;
        }
        on_pair(pair, began.elapsed());
        let pair_began = Instant::now();
        for side in if rng.bool() { ["a", "b"] } else { ["b", "a"] } {
            visit(plan, platform.as_ref(), processes, &folder.join(side), pair)?;
        }
        longest = longest.max(pair_began.elapsed());
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    let comparison = compare(&folder.join("a"), &folder.join("b"), terms)?.remove(0);
    let saved = Some(save_noise(&noise_between_starts(&comparison)));
    Ok(Calibration { comparison, folder, elapsed: began.elapsed(), saved })
}

/// One start of the server: the plan's warm-ups, then a trial. Saves the record of the trial.
fn visit(
    plan: &Plan,
    platform: Option<&ResolvedPlatform>,
    processes: &Processes,
    side: &Path,
    pair: u32,
) -> Result<(), CalibrateError> {
    let block = side.join(format!("block-{pair:03}"));
    std::fs::create_dir_all(&block).map_err(|source| RunError::Folder { out: block.clone(), source })?;
    let session = Session::open(plan, platform, processes)?;
    let mut runs: Vec<(Role, u32)> = (1..=plan.warmups).map(|number| (Role::WarmUp, number)).collect();
    runs.push((Role::Trial, pair));
    let mut invalid = None;
    make_runs(session, &block, &runs, |_| false, &mut |event| {
        if let VisitEvent::RunEnded(record) = event
            && record.role == Role::Trial
        {
            save(record, &block.join("trial-1.json"))?;
            invalid = (record.verdict.status != Status::Valid).then(|| record.verdict.messages());
        }
        Ok(())
    })?;
    invalid.map_or(Ok(()), |reasons| Err(CalibrateError::NotValid(reasons)))
}
