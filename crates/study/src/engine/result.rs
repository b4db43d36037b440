//! From records to what came of a cell and of a study.

use std::collections::BTreeMap;

use klatch_record::{
    CellResult, CellStatus, Estimate, Latency, Record, STUDY_SCHEMA_NAME, StudyResult, Usage, Warning,
};
use klatch_stats::mean_interval;

use super::store::{Store, now};
use crate::cell::{Cell, StudyPlan};
use crate::guards::guard_series;
use crate::series::Preset;

/// A number of a record, by name.
type Reading = (&'static str, fn(&Record) -> Option<f64>);

/// Every number that is estimated.
const READINGS: [Reading; 15] = [
    ("messages_per_s", |record| Some(record.score.messages_per_s)),
    ("cpu_us_per_message", |record| record.score.cpu_us_per_message),
    ("switches_per_message", |record| record.score.switches_per_message),
    ("cores_obtained", |record| record.score.cores_obtained),
    ("join_s", |record| Some(record.score.join_s)),
    ("server_cpu_us_per_message", |record| server(record, |usage| usage.cpu_us_per_message)),
    ("server_system_us_per_message", |record| server(record, |usage| usage.system_us_per_message)),
    ("server_switches_per_message", |record| server(record, |usage| usage.switches_per_message)),
    ("server_memory_peak_bytes", |record| server(record, |usage| usage.memory_peak_bytes as f64)),
    ("crowd_cpu_us_per_message", |record| Some(record.usage.crowd.as_ref()?.cpu_us_per_message)),
    ("latency_p50_us", |record| latency(record, |of| of.p50_us)),
    ("latency_p90_us", |record| latency(record, |of| of.p90_us)),
    ("latency_p99_us", |record| latency(record, |of| of.p99_us)),
    ("latency_p999_us", |record| latency(record, |of| of.p999_us)),
    ("latency_max_us", |record| latency(record, |of| of.max_us)),
];

fn server(record: &Record, of: fn(&Usage) -> f64) -> Option<f64> {
    record.usage.server.as_ref().map(of)
}

fn latency(record: &Record, of: fn(&Latency) -> f64) -> Option<f64> {
    record.latency.as_ref().map(of)
}

/// What came of a cell, of whose trials these count.
pub(super) fn cell(
    plan: &StudyPlan,
    cell: &Cell,
    status: CellStatus,
    verdict: String,
    counted: Vec<&Record>,
    failures: Vec<String>,
) -> CellResult {
    // The best two of three are picked: no interval can be told from them.
    let picked = plan.rules.preset == Preset::Volano1999;
    let estimate = |(name, of): &Reading| {
        let values: Vec<f64> = counted.iter().filter_map(|record| of(record)).collect();
        if values.is_empty() || values.len() < counted.len() {
            return None;
        }
        let interval = mean_interval(&values, plan.rules.confidence).ok().filter(|_| !picked);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
        Some(((*name).to_owned(), Estimate { mean, low, high, values }))
    };
    CellResult {
        id: cell.id.clone(),
        at: cell.at.clone(),
        status,
        verdict,
        trials: counted.len() as u32,
        estimates: READINGS.iter().filter_map(estimate).collect::<BTreeMap<_, _>>(),
        failures,
        warnings: warnings(&counted),
        search: None,
    }
}

/// The warnings of all its trials, each kind once.
fn warnings(counted: &[&Record]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in counted.iter().flat_map(|record| &record.warnings) {
        if warnings.iter().all(|other| other.kind != warning.kind) {
            warnings.push(warning.clone());
        }
    }
    warnings.extend(guard_series(counted));
    warnings
}

/// What came of the study.
pub(super) fn study(plan: &StudyPlan, store: &Store, cells: Vec<CellResult>) -> StudyResult {
    StudyResult {
        schema: STUDY_SCHEMA_NAME.to_owned(),
        name: plan.name.clone(),
        question: plan.question.clone(),
        klatch: plan.build.clone(),
        started_at: store.started_at().to_owned(),
        ended_at: now(),
        seed: plan.seed,
        rules: plan.rules.to_string(),
        metric: plan.rules.metric.name().to_owned(),
        axes: plan.axes.clone(),
        cells,
    }
}
