//! A against A: what this machine shows where there is nothing to show.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use klatch_instruments::Files;
use klatch_platforms::Processes;
use klatch_record::{Comparison, Estimator, Role, Status, save};
use thiserror::Error;

use crate::bench::{Bench, chosen};
use crate::compare::{CompareError, Terms, compare};
use crate::error::RunError;
use crate::folder;
use crate::noise;
use crate::plan::Plan;

/// Fewer pairs are no design.
const PAIRS_MIN: u32 = 3;

/// What came of a calibration.
pub struct Calibration {
    /// A compared with A.
    pub comparison: Comparison,
    /// Where its records are.
    pub folder: PathBuf,
    /// How long it took.
    pub elapsed: Duration,
    /// Where it is kept for the warnings of later runs, or why it cannot be; `None` if instruments watched a side, whose
    /// cost is in it.
    pub kept: Option<std::io::Result<PathBuf>>,
}

/// Why a calibration came to nothing. Records of finished runs stay.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// A run could not be made.
    #[error(transparent)]
    Run(Box<RunError>),
    /// A run's score does not count.
    #[error("a run of the calibration does not count: {0}")]
    NotValid(String),
    /// The records cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
}

impl From<RunError> for CalibrateError {
    fn from(error: RunError) -> CalibrateError {
        CalibrateError::Run(Box::new(error))
    }
}

/// Measures the plan's platform against itself for about so long: pairs of visits in random order, each with a server of
/// its own, the plan's warm-ups and one trial. Ends when another pair would not fit, but not before three. The plan's
/// instruments watch side b only, so with them it is what they cost that is measured.
///
/// # Errors
/// See [`CalibrateError`]; nothing is left running.
pub fn calibrate(
    plan: &Plan,
    time: Duration,
    all: &Processes,
    mut tell: impl FnMut(u32, Duration),
) -> Result<Calibration, CalibrateError> {
    let platform = chosen(plan)?;
    let unwatched = Plan { instruments: Vec::new(), ..plan.clone() };
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = folder::make(&plan.out, "calibration", Timestamp::now()).map_err(in_out)?;
    let (begun, mut longest, mut rng) = (Instant::now(), Duration::ZERO, Rng::with_seed(plan.seed));
    for pair in 1.. {
        if pair > PAIRS_MIN && begun.elapsed() + longest > time {
            break;
        }
        tell(pair, begun.elapsed());
        let pair_begun = Instant::now();
        let sides = if rng.bool() { ["a", "b"] } else { ["b", "a"] };
        for side in sides {
            let into = folder.join(side).join(format!("block-{pair:03}"));
            std::fs::create_dir_all(&into).map_err(in_out)?;
            let of_side = if side == "b" { plan } else { &unwatched };
            let mut bench = Bench::open(of_side, platform.as_ref(), all)?;
            let files = Files { folder: into.clone(), stem: "trial-1".to_owned() };
            for number in 1..=plan.warmups {
                bench.run(Role::WarmUp, number, &files, |_| {})?;
            }
            let record = bench.run(Role::Trial, pair, &files, |_| {})?;
            save(&record, &into.join("trial-1.json")).map_err(RunError::from)?;
            if record.verdict.status != Status::Valid {
                return Err(CalibrateError::NotValid(record.verdict.reasons.join("; ")));
            }
        }
        longest = longest.max(pair_begun.elapsed());
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    let comparison = compare(&folder.join("a"), &folder.join("b"), terms)?.remove(0);
    let kept = plan.instruments.is_empty().then(|| noise::keep(&noise::noise(&comparison)));
    Ok(Calibration { comparison, folder, elapsed: begun.elapsed(), kept })
}
