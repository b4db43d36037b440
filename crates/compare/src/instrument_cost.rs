//! The cost of instruments: one long run during which they are switched on and off.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use klatch_instruments::{Files, Instruments, Kernel, availability};
use klatch_platforms::Processes;
use klatch_record::{
    COMPARISON_SCHEMA_NAME, Comparison, Estimator, MetricComparison, Role, Side, Status, Unit,
};
use klatch_runner::{Plan, RunError, Session, make_folder, resolve_platform};

use crate::alternating::{Alternating, Phase};
use crate::calibrate::{CalibrateError, Calibration};
use crate::metrics::ratio;
use crate::terms::Terms;

/// A single pair has no interval.
const PAIRS_MIN: usize = 2;
/// One part in this many of the time is warm-up and not measured.
const WARMING: u32 = 6;

type PhaseMetric = (&'static str, fn(&Phase) -> f64);

/// The same names and definitions as the metrics of records.
const METRICS: [PhaseMetric; 4] = [
    ("messages_per_s", |phase| phase.messages as f64 / phase.elapsed_s),
    ("cpu_us_per_message", |phase| (phase.cpu_s[0] + phase.cpu_s[1]) * 1e6 / phase.messages as f64),
    ("server_cpu_us_per_message", |phase| phase.cpu_s[0] * 1e6 / phase.messages as f64),
    ("server_cpu_per_crowd_cpu", |phase| phase.cpu_s[0] / phase.cpu_s[1]),
];

/// Measures for about `time` what the plan's instruments cost on its platform. Side A of the comparison is without
/// instruments, side B with them, both in one run. The cost before the gate opens and after the last delivery is left out.
///
/// # Errors
/// See [`CalibrateError`]. Every process that was started is stopped.
pub fn instrument_cost(
    plan: &Plan,
    time: Duration,
    processes: &Processes,
    mut on_pair: impl FnMut(usize, Duration),
) -> Result<Calibration, CalibrateError> {
    let in_out = |source| RunError::Folder { out: plan.out.clone(), source };
    let folder = make_folder(&plan.out, "calibration", Timestamp::now()).map_err(in_out)?;
    let files = Files { folder: folder.clone(), stem: "watched".to_owned() };
    let available = availability(&Kernel::detect());
    let instruments = Instruments::new(Kernel::detect(), &plan.instruments, &available);
    let mut plan = Plan { instruments: Vec::new(), ..plan.clone() };
    let platform = resolve_platform(&plan)?;
    let began = Instant::now();
    let messages_per_s = {
        let mut session = Session::open(&plan, platform.as_ref(), processes)?;
        let mut messages_per_s = 0.0;
        for number in 1..=plan.warmups.max(1) {
            messages_per_s = session.run(Role::WarmUp, number, &files, |_| {})?.score.messages_per_s;
        }
        messages_per_s
    };
    plan.workload.count = count_for(&plan, messages_per_s, time.saturating_sub(began.elapsed()));
    let mut session = Session::open(&plan, platform.as_ref(), processes)?;
    let mut alternating =
        Alternating::new(&instruments, &files, time / WARMING, |pairs| on_pair(pairs, began.elapsed()));
    let record = session.run_observed(Role::Trial, 1, &mut alternating, |_| {})?;
    if record.verdict.status != Status::Valid {
        return Err(CalibrateError::NotValid(record.verdict.messages()));
    }
    if let Some(failure) = alternating.failure.take() {
        return Err(CalibrateError::Instrument(failure));
    }
    let pairs = alternating.pairs();
    if pairs.len() < PAIRS_MIN {
        return Err(CalibrateError::TooShort { pairs: pairs.len(), time_s: time.as_secs_f64() });
    }
    let side = |suffix: &str| Side {
        path: folder.display().to_string(),
        platform: format!("{}, {suffix}", session.platform.name),
        trials: 1,
        starts: 1,
    };
    let names: Vec<String> = instruments.names().map(|name| name.to_string()).collect();
    let (a, b) = (side("without instruments"), side(&format!("with {}", names.join(", "))));
    let comparison = compare_phases(a, b, &pairs);
    Ok(Calibration { comparison, folder, elapsed: began.elapsed(), saved: None })
}

/// Messages per user for a run of about `time`.
fn count_for(plan: &Plan, messages_per_s: f64, time: Duration) -> u32 {
    let workload = &plan.workload;
    let messages_per_count =
        (workload.sent_expected() + workload.received_expected()) as f64 / f64::from(workload.count);
    let count = messages_per_s * time.as_secs_f64() / messages_per_count;
    count.clamp(f64::from(workload.count), f64::from(u32::MAX)) as u32
}

fn compare_phases(a: Side, b: Side, pairs: &[(Phase, Phase)]) -> Comparison {
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    let compared = |(name, value): &PhaseMetric| -> MetricComparison {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (value(a), value(b))).unzip();
        let ratio = ratio(&a, &b, klatch_stats::Design::Paired, terms);
        let absent = ratio.as_ref().err().map(ToString::to_string);
        MetricComparison { metric: (*name).to_owned(), a, b, ratio: ratio.ok(), absent }
    };
    Comparison {
        schema: COMPARISON_SCHEMA_NAME.to_owned(),
        cell: None,
        a,
        b,
        estimate: terms.estimate,
        confidence: terms.confidence,
        unit: Unit::Turn,
        pairs: Some(pairs.len() as u32),
        metrics: METRICS.iter().map(compared).collect(),
        caveats: Vec::new(),
    }
}
