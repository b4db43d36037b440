//! A against A: what this machine shows where there is nothing to show.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use klatch_instruments::Files;
use klatch_platforms::{Chosen, Processes};
use klatch_record::{Comparison, Estimator, Role, Status, save};
use klatch_runner::{Bench, Plan, RunError, chosen, make_folder, noise_of, save_noise};
use thiserror::Error;

use crate::read::CompareError;
use crate::records::{Terms, compare};

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
    /// Where it is kept for the warnings of later runs, or why it cannot be; `None` if it is of what instruments cost.
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
    /// What is to be measured did not happen.
    #[error("{0}")]
    NotWatched(String),
    /// No interval can be told.
    #[error("{pairs} turns in {time_s:.0} s, which is too few: use a longer --time, 60 or more")]
    TooShort {
        /// Pairs of turns.
        pairs: usize,
        /// What was asked for.
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

/// Measures the plan's platform against itself for about so long, in pairs. Ends when another pair would not fit, but not
/// before three.
///
/// A pair is two starts of the server in random order, each with the plan's warm-ups and one trial: so what starts differ by
/// is in the noise.
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
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, "calibration", Timestamp::now()).map_err(in_out)?;
    let (begun, mut longest, mut rng) = (Instant::now(), Duration::ZERO, Rng::with_seed(plan.seed));
    for pair in 1.. {
        if pair > PAIRS_MIN && begun.elapsed() + longest > time {
            break;
        }
        tell(pair, begun.elapsed());
        let pair_begun = Instant::now();
        for side in if rng.bool() { ["a", "b"] } else { ["b", "a"] } {
            visit(plan, platform.as_ref(), all, &folder.join(side), pair)?;
        }
        longest = longest.max(pair_begun.elapsed());
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    let comparison = compare(&folder.join("a"), &folder.join("b"), terms)?.remove(0);
    let kept = Some(save_noise(&noise_of(&comparison)));
    Ok(Calibration { comparison, folder, elapsed: begun.elapsed(), kept })
}

/// One start of the server: the plan's warm-ups, then a trial.
fn visit(
    plan: &Plan,
    platform: Option<&Chosen>,
    all: &Processes,
    side: &Path,
    pair: u32,
) -> Result<(), CalibrateError> {
    let into = side.join(format!("block-{pair:03}"));
    std::fs::create_dir_all(&into).map_err(|source| RunError::Folder { out: into.clone(), source })?;
    let files = Files { folder: into.clone(), stem: "trial-1".to_owned() };
    let mut bench = Bench::open(plan, platform, all)?;
    for number in 1..=plan.warmups {
        bench.run(Role::WarmUp, number, &files, |_| {})?;
    }
    let record = bench.run(Role::Trial, pair, &files, |_| {})?;
    save(&record, &into.join("trial-1.json")).map_err(RunError::from)?;
    if record.verdict.status != Status::Valid {
        return Err(CalibrateError::NotValid(record.verdict.messages()));
    }
    Ok(())
}
