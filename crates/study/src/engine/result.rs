//! The results of a cell and of a study.

use std::collections::BTreeMap;

use klatch_record::{
    CellResult, CellStatus, Estimate, METRICS, Metric, Record, ResultKind, STUDY_SCHEMA_NAME, StudyResult,
    Warning,
};
use klatch_runner::{guard_series, now};
use klatch_stats::{Interval, stopped_interval};

use super::lucky_cells;
use super::store::Store;
use crate::plan::{Cell, StudyHead, StudyPlan};
use crate::series::{Preset, Rules, StopRule};

/// The result of a cell from the trials that count. `interval` is that of the rules' metric, where the stop rule computed
/// it.
pub(super) fn cell_result(
    plan: &StudyPlan,
    cell: &Cell,
    status: CellStatus,
    verdict: String,
    interval: Option<Interval>,
    (counted, failures): (Vec<&Record>, Vec<String>),
) -> CellResult {
    let rules = &plan.rules;
    let estimate_of = |metric: &Metric| {
        let values: Vec<f64> = counted.iter().filter_map(|record| metric.of_record(record)).collect();
        if values.is_empty() || values.len() < counted.len() {
            return None;
        }
        let own = interval.filter(|_| metric == rules.metric);
        Some((metric.name.to_owned(), estimate(rules, rules.independent(&values), own)))
    };
    let estimates: BTreeMap<String, Estimate> =
        METRICS.iter().filter(|metric| metric.is_estimated()).filter_map(estimate_of).collect();
    // A failed visit has no count of its errors.
    let sum = |metric: &Metric| match failures.first() {
        Some(failure) => Err(format!("a visit failed: {failure}")),
        None => Ok(counted.iter().filter_map(|record| metric.of_record(record)).sum()),
    };
    let judged = plan.requirements.iter().filter(|_| !plan.is_of_duets() && status != CellStatus::Absent);
    let kind = cell.plan.workload.kind();
    CellResult {
        requirements: judged.map(|one| one.judge(kind, &estimates, sum)).collect(),
        id: cell.id.clone(),
        at: cell.at.clone(),
        status,
        verdict,
        trials: counted.len() as u32,
        estimates,
        failures,
        warnings: warnings(&counted),
        search: None,
    }
}

/// The estimate of a metric from independent values. `interval` is the one of the stop rule, if that computed it.
pub(crate) fn estimate(rules: &Rules, values: Vec<f64>, interval: Option<Interval>) -> Estimate {
    let first = rules.first_trials().map_or(values.len(), |first| values.len().min(first as usize));
    let interval = interval.or_else(|| stopped_interval(&values, first, rules.confidence).ok());
    // The best two of three, and three that agree, are selected by their values, so they have no interval.
    let selected = rules.preset == Preset::Volano1999 || matches!(rules.stop, StopRule::Agree { .. });
    let interval = interval.filter(|_| !selected);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (low, high) = (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
    Estimate { mean, low, high, values }
}

/// The warnings of all trials, one per kind, and those about the series.
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

/// The result of a cell that cannot run on this machine.
pub(super) fn absent_cell(plan: &StudyPlan, cell: &Cell, reason: &str) -> CellResult {
    let verdict = format!("cannot run here: {reason}");
    cell_result(plan, cell, CellStatus::Absent, verdict, None, Default::default())
}

impl StudyHead {
    /// The result of a study with these cells; warnings that compare them are added to them. The rules are left to the kind of study.
    pub(crate) fn result(&self, store: &Store, mut cells: Vec<CellResult>) -> StudyResult {
        lucky_cells::guard(&mut cells);
        StudyResult {
            schema: STUDY_SCHEMA_NAME.to_owned(),
            kind: ResultKind::Measured,
            name: self.name.clone(),
            question: self.question.clone(),
            klatch: self.build.clone(),
            started_at: store.started_at().to_owned(),
            ended_at: now(),
            seed: store.seed(),
            options: self.options.clone(),
            rules: String::new(),
            metric: String::new(),
            first_trials: None,
            axes: self.axes.clone(),
            cells,
            pairs: Vec::new(),
        }
    }
}

/// The result of a measured study.
pub(super) fn study_result(plan: &StudyPlan, store: &Store, cells: Vec<CellResult>) -> StudyResult {
    StudyResult {
        rules: plan.rules_text(),
        metric: plan.rules.metric.name.to_owned(),
        first_trials: plan.rules.first_trials(),
        ..plan.head.result(store, cells)
    }
}
