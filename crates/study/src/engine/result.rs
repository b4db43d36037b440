//! From records to what came of a cell and of a study.

use std::collections::BTreeMap;

use klatch_record::{
    CellResult, CellStatus, Estimate, READINGS, Reading, Record, STUDY_SCHEMA_NAME, StudyResult, Warning,
};
use klatch_stats::mean_interval;

use super::store::{Store, now};
use crate::cell::{Cell, StudyPlan};
use crate::guards::guard_series;
use crate::series::Preset;

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
    let estimate = |Reading { name, of }: &Reading| {
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
