//! Looks for the highest value that holds: grows by doubling until one fails, then halves the gap.

use klatch_record::{CellResult, CellStatus, Pacing, Record, SearchResult, SearchStep};

use super::store::{Block, Store};
use super::{Executor, StudyEvent, result, visit, whole};
use crate::cell::{Cell, StudyPlan};
use crate::error::RunError;
use crate::file::Search;

/// The gap between what held and what failed at which a search ends, as a part of what held.
const GAP: f64 = 0.02;

/// Carries out the search of every cell that can run here.
pub(super) fn cells(
    plan: &StudyPlan,
    search: &Search,
    store: &Store,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(StudyEvent<'_>),
) -> Result<Vec<CellResult>, RunError> {
    let each = plan.cells.iter().map(|cell| match &cell.absent {
        Some(why) => {
            let verdict = format!("cannot run here: {why}");
            Ok(result::cell(plan, cell, CellStatus::Absent, verdict, Vec::new(), Vec::new()))
        }
        None => one(plan, search, cell, store, executor, tell),
    });
    each.collect()
}

fn one(
    plan: &StudyPlan,
    search: &Search,
    cell: &Cell,
    store: &Store,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(StudyEvent<'_>),
) -> Result<CellResult, RunError> {
    let mut kept = store.blocks(&cell.id)?.into_iter();
    let mut steps: Vec<SearchStep> = Vec::new();
    let mut best: Option<Block> = None;
    while let Some(value) = next(search, &steps) {
        let step = steps.len() as u32 + 1;
        let mut block = kept.next().unwrap_or_default();
        if !whole(&plan.rules, &block, false) {
            let here = at(cell, search, value);
            tell(StudyEvent::Visit { cell: &here, block: step, left: None });
            visit(plan, &here, step, false, &mut block, (store, &mut *executor, &mut *tell))?;
        }
        let (held, seen) = judge(search, &block);
        steps.push(SearchStep { value, held, seen });
        if held {
            best = Some(block);
        }
    }
    let found = steps.iter().filter(|step| step.held).map(|step| step.value).max_by(f64::total_cmp);
    let failed = steps.iter().filter(|step| !step.held).min_by(|a, b| a.value.total_cmp(&b.value));
    let cause = failed.map(|step| format!("{}: {}", number(step.value), step.seen));
    let axis = axis(search);
    let verdict = match (found, &cause) {
        (Some(found), Some(cause)) => format!("{} {axis}; {cause}", number(found)),
        (Some(found), None) => format!("{} {axis}, where the search ends", number(found)),
        (None, _) => format!("none: {}", cause.as_deref().unwrap_or("nothing was tried")),
    };
    tell(StudyEvent::Settled(cell, &verdict));
    let status = if found.is_some() { CellStatus::Complete } else { CellStatus::Failed };
    let trials: Vec<&Record> = best.iter().flat_map(|block| &block.trials).collect();
    let failures = cause.iter().cloned().collect();
    let search = Some(SearchResult { axis: axis.to_owned(), found, cause, steps });
    Ok(CellResult { search, ..result::cell(plan, cell, status, verdict, trials, failures) })
}

fn axis(search: &Search) -> &'static str {
    match search {
        Search::Limit { .. } => "rooms",
        Search::Knee { .. } => "messages/s of each user",
    }
}

/// The value to try now; `None` when it is found.
fn next(search: &Search, steps: &[SearchStep]) -> Option<f64> {
    let (from, most, smallest): (f64, f64, f64) = match search {
        Search::Limit { rooms_from, rooms_max } => (f64::from(*rooms_from), f64::from(*rooms_max), 1.0),
        Search::Knee { rate_from, rate_max, .. } => (*rate_from, *rate_max, 0.0),
    };
    let good = steps.iter().filter(|step| step.held).map(|step| step.value).max_by(f64::total_cmp);
    let bad = steps.iter().filter(|step| !step.held).map(|step| step.value).min_by(f64::total_cmp);
    match (good, bad) {
        (None, None) => Some(from),
        (None, Some(_)) => None,
        (Some(good), None) => (good < most).then(|| (good * 2.0).min(most)),
        (Some(good), Some(bad)) => {
            let middle = f64::midpoint(good, bad);
            let middle = if smallest > 0.0 { middle.floor() } else { middle };
            (bad - good > smallest.max(good * GAP)).then_some(middle)
        }
    }
}

/// The cell with the value that is tried now.
fn at(cell: &Cell, search: &Search, value: f64) -> Cell {
    let mut here = cell.clone();
    match search {
        Search::Limit { .. } => here.plan.workload.rooms = value as u32,
        Search::Knee { .. } => here.plan.workload.pacing = Pacing::Rate { per_user_per_s: value },
    }
    here.at.insert(axis(search).to_owned(), number(value));
    here
}

/// Whether a step held, and what was seen.
fn judge(search: &Search, block: &Block) -> (bool, String) {
    if let Some(cause) = &block.failure {
        return (false, cause.clone());
    }
    let latency = block.trials.first().and_then(|record| record.latency.as_ref());
    let p99_ms = latency.map(|latency| latency.p99_us / 1e3);
    let seen = p99_ms.map_or("no latency was observed".to_owned(), |p99| format!("latency p99 {p99:.2} ms"));
    let held = match search {
        Search::Limit { .. } => true,
        Search::Knee { latency_p99_max_ms, .. } => p99_ms.is_some_and(|p99| p99 <= *latency_p99_max_ms),
    };
    (held, seen)
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values tried when everything up to `limit` holds.
    fn tried(search: &Search, limit: f64) -> Vec<f64> {
        let mut steps: Vec<SearchStep> = Vec::new();
        while let Some(value) = next(search, &steps) {
            steps.push(SearchStep { value, held: value <= limit, seen: String::new() });
            assert!(steps.len() < 100, "it does not end: {steps:?}");
        }
        steps.iter().map(|step| step.value).collect()
    }

    #[test]
    fn a_limit_is_found_to_the_room_or_to_two_per_cent() {
        let search = Search::Limit { rooms_from: 5, rooms_max: 1000 };
        assert_eq!(tried(&search, 17.0), [5.0, 10.0, 20.0, 15.0, 17.0, 18.0]);
        assert_eq!(tried(&search, 3.0), [5.0]);
        assert_eq!(tried(&search, 5000.0).last(), Some(&1000.0));
        let last = tried(&search, 777.0);
        assert!(last.len() < 20, "{last:?}");
    }

    #[test]
    fn a_knee_is_found_to_two_per_cent() {
        let search = Search::Knee { rate_from: 1.0, rate_max: 500.0, latency_p99_max_ms: 10.0 };
        let tried = tried(&search, 37.3);
        let best = tried.iter().copied().filter(|value| *value <= 37.3).fold(0.0, f64::max);
        assert!((36.5..=37.3).contains(&best), "{tried:?}");
    }
}
