//! What instruments cost: one run, which they watch and do not watch by turns.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use klatch_instruments::{Files, Instruments, Kernel, availability};
use klatch_platforms::Processes;
use klatch_record::{
    COMPARISON_SCHEMA_NAME, Comparison, Estimator, MetricComparison, Role, Side, Status, Unit,
};
use klatch_runner::{Bench, Plan, RunError, chosen, make_folder};

use crate::by_turns::{ByTurns, Half};
use crate::calibrate::{CalibrateError, Calibration};
use crate::metrics::ratio;
use crate::records::Terms;

/// One pair has no interval.
const PAIRS_MIN: usize = 2;
/// The part of the time that does not count.
const WARMING: u32 = 6;

type Number = (&'static str, fn(&Half) -> f64);

/// As the metrics of records are named and defined.
const NUMBERS: [Number; 4] = [
    ("messages_per_s", |half| half.messages as f64 / half.elapsed_s),
    ("cpu_us_per_message", |half| (half.cpu_s[0] + half.cpu_s[1]) * 1e6 / half.messages as f64),
    ("server_cpu_us_per_message", |half| half.cpu_s[0] * 1e6 / half.messages as f64),
    ("server_cpu_per_crowd_cpu", |half| half.cpu_s[0] / half.cpu_s[1]),
];

/// Measures for about so long what the plan's instruments cost on its platform. B is watched, A is not; both are of one run.
/// What they cost before a run and after it is not in it.
///
/// # Errors
/// See [`CalibrateError`]; nothing is left running.
pub fn watch_cost(
    plan: &Plan,
    time: Duration,
    all: &Processes,
    mut tell: impl FnMut(usize, Duration),
) -> Result<Calibration, CalibrateError> {
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, "calibration", Timestamp::now()).map_err(in_out)?;
    let files = Files { folder: folder.clone(), stem: "watched".to_owned() };
    let here = availability(&Kernel::here());
    let instruments = Instruments::new(Kernel::here(), &plan.instruments, &here);
    let plan = Plan { instruments: Vec::new(), ..plan.clone() };
    let chosen = chosen(&plan)?;
    let begun = Instant::now();
    let count = {
        let mut bench = Bench::open(&plan, chosen.as_ref(), all)?;
        let mut messages_per_s = 0.0;
        for number in 1..=plan.warmups.max(1) {
            messages_per_s = bench.run(Role::WarmUp, number, &files, |_| {})?.score.messages_per_s;
        }
        let left_s = time.saturating_sub(begun.elapsed()).as_secs_f64();
        let a_count = (plan.workload.sent_expected() + plan.workload.received_expected()) as f64
            / f64::from(plan.workload.count);
        (messages_per_s * left_s / a_count).clamp(f64::from(plan.workload.count), f64::from(u32::MAX)) as u32
    };
    let mut long = plan.clone();
    long.workload.count = count;
    let mut bench = Bench::open(&long, chosen.as_ref(), all)?;
    let mut by_turns =
        ByTurns::new(&instruments, &files, time / WARMING, |pairs| tell(pairs, begun.elapsed()));
    let record = bench.run_watched(Role::Trial, 1, &mut by_turns, |_| {})?;
    if record.verdict.status != Status::Valid {
        return Err(CalibrateError::NotValid(record.verdict.messages()));
    }
    if let Some(failure) = by_turns.failure.take() {
        return Err(CalibrateError::NotWatched(failure));
    }
    let pairs = by_turns.pairs();
    if pairs.len() < PAIRS_MIN {
        return Err(CalibrateError::TooShort { pairs: pairs.len(), time_s: time.as_secs_f64() });
    }
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    let compared = |(name, of): &Number| -> MetricComparison {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (of(a), of(b))).unzip();
        let told = ratio(&a, &b, klatch_stats::Design::Paired, terms);
        let absent = told.as_ref().err().map(ToString::to_string);
        MetricComparison { metric: (*name).to_owned(), a, b, ratio: told.ok(), absent }
    };
    let side = |watched_by: &str| Side {
        path: folder.display().to_string(),
        platform: format!("{}, {watched_by}", bench.platform.name),
        trials: 1,
        starts: 1,
    };
    let names: Vec<String> = instruments.names().map(|name| name.to_string()).collect();
    let comparison = Comparison {
        schema: COMPARISON_SCHEMA_NAME.to_owned(),
        cell: None,
        a: side("not watched"),
        b: side(&format!("watched by {}", names.join(", "))),
        estimate: terms.estimate,
        confidence: terms.confidence,
        unit: Unit::Turn,
        pairs: Some(pairs.len() as u32),
        metrics: NUMBERS.iter().map(compared).collect(),
        notes: Vec::new(),
    };
    Ok(Calibration { comparison, folder, elapsed: begun.elapsed(), kept: None })
}
