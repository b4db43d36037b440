//! The verdict and the estimates of a computed cell, and the result of the study.

use std::collections::BTreeMap;

use klatch_record::{CellResult, CellStatus, Estimate, StudyResult};

use super::{ComputedCell, ComputedPlan, Computer};
use crate::engine::{Store, estimate};
use crate::series::{SeriesState, Settled, Visit, series_state};

/// Whether a cell has enough trials. One that does not count settles it: the same seed would fail again.
pub(super) fn cell_state<C: Computer>(
    plan: &ComputedPlan<C::Job>,
    computer: &C,
    trials: &[C::Trial],
) -> SeriesState {
    if let Some(cause) = trials.iter().find_map(|trial| computer.failure(trial)) {
        let (status, verdict) = (CellStatus::Failed, format!("failed: {cause}"));
        return SeriesState::Settled(Settled { status, verdict, counted: Vec::new(), interval: None });
    }
    let visit = |trial: &C::Trial| {
        let value = computer.metrics(trial).into_iter().find(|(name, _)| *name == plan.metric);
        Visit { trials: vec![value.map_or(f64::NAN, |(_, value)| value)], failure: None }
    };
    series_state(&plan.rules(), &trials.iter().map(visit).collect::<Vec<_>>())
}

pub(super) fn cell_result<C: Computer>(
    plan: &ComputedPlan<C::Job>,
    computer: &C,
    cell: &ComputedCell<C::Job>,
    trials: &[C::Trial],
) -> CellResult {
    let (status, verdict) = match cell_state(plan, computer, trials) {
        SeriesState::Settled(settled) => (settled.status, settled.verdict),
        SeriesState::Open => (CellStatus::Open, "not finished".to_owned()),
    };
    let failures = trials.iter().filter_map(|trial| computer.failure(trial)).map(str::to_owned).collect();
    let counted: Vec<&C::Trial> = trials.iter().filter(|trial| computer.failure(trial).is_none()).collect();
    CellResult {
        requirements: Vec::new(),
        id: cell.id.clone(),
        at: cell.at.clone(),
        status,
        verdict,
        trials: counted.len() as u32,
        estimates: estimates(plan, computer, &counted),
        failures,
        warnings: Vec::new(),
        search: None,
    }
}

/// Estimates of every number that all trials have.
fn estimates<C: Computer>(
    plan: &ComputedPlan<C::Job>,
    computer: &C,
    trials: &[&C::Trial],
) -> BTreeMap<String, Estimate> {
    let rules = plan.rules();
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in trials.iter().flat_map(|trial| computer.metrics(trial)) {
        all.entry(name).or_default().push(value);
    }
    let complete = all.into_iter().filter(|(_, values)| values.len() == trials.len());
    complete.map(|(name, values)| (name, estimate(&rules, values, None))).collect()
}

pub(super) fn study_result<J>(plan: &ComputedPlan<J>, store: &Store, cells: Vec<CellResult>) -> StudyResult {
    StudyResult {
        kind: plan.kind,
        rules: plan.rules_text(),
        metric: plan.metric.clone(),
        first_trials: plan.rules().first_trials(),
        ..plan.head.result(store, cells)
    }
}
