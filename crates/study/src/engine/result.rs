//! From records to what came of a cell and of a study.

use std::collections::BTreeMap;

use klatch_record::{
    CellResult, CellStatus, Estimate, READINGS, Reading, Record, STUDY_SCHEMA_NAME, StudyResult, Warning,
};
use klatch_runner::{guard_series, now};
use klatch_stats::{Interval, stopped_interval};

use super::lucky_cells;
use super::store::Store;
use crate::cell::{Cell, StudyPlan};
use crate::series::{Enough, Preset};

/// What came of a cell, of whose trials these count. The interval is that of the rules' metric, where the rule says
/// which it is.
pub(super) fn cell(
    plan: &StudyPlan,
    cell: &Cell,
    status: CellStatus,
    verdict: String,
    interval: Option<Interval>,
    (counted, failures): (Vec<&Record>, Vec<String>),
) -> CellResult {
    let rules = &plan.rules;
    // The best two of three, and three that agree, are picked by what they are: no interval can be made of them.
    let picked = rules.preset == Preset::Volano1999 || matches!(rules.enough, Enough::Agree { .. });
    let estimate = |Reading { name, of }: &Reading| {
        let values: Vec<f64> = counted.iter().filter_map(|record| of(record)).collect();
        if values.is_empty() || values.len() < counted.len() {
            return None;
        }
        let first = rules.first_trials().map_or(values.len(), |first| values.len().min(first as usize));
        let own = interval.filter(|_| *name == rules.metric.name());
        let interval = own.or_else(|| stopped_interval(&values, first, rules.confidence).ok());
        let interval = interval.filter(|_| !picked);
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
pub(super) fn study(plan: &StudyPlan, store: &Store, mut cells: Vec<CellResult>) -> StudyResult {
    lucky_cells::guard(&mut cells);
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
        first_trials: plan.rules.first_trials(),
        axes: plan.axes.clone(),
        cells,
    }
}
