//! Looks for the highest value that holds. A failure is an accident until it is repeated; a knee is looked for several
//! times, as what one pass finds depends on what the machine did in the meantime.

mod ladder;

use klatch_record::{CellResult, CellStatus, Pacing, Record, SearchResult, SearchStep};
use klatch_runner::Executor;
use klatch_stats::mean_interval;

use self::ladder::{Ladder, held};
use super::store::{Block, Store};
use super::{StudyEvent, result, visit, whole};
use crate::cell::{Cell, StudyPlan};
use crate::error::StudyRunError;
use crate::file::Search;

/// Visits of a step at most: two that fail are believed, and of three that do not agree the third decides.
const VISITS_MAX: u32 = 3;

/// Carries out the search of every cell that can run here.
pub(super) fn cells(
    plan: &StudyPlan,
    search: &Search,
    store: &Store,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(StudyEvent<'_>),
) -> Result<Vec<CellResult>, StudyRunError> {
    let mut one = |cell: &Cell| {
        if let Some(why) = &cell.absent {
            let verdict = format!("cannot run here: {why}");
            return Ok(result::cell(plan, cell, CellStatus::Absent, verdict, None, Default::default()));
        }
        let blocks = store.blocks(&cell.id)?.into_iter();
        let of_cell = OfCell { plan, search, cell, store, blocks, visits: 0, best: None };
        of_cell.carry_out(executor, tell)
    };
    plan.cells.iter().map(&mut one).collect()
}

/// The search of one cell.
struct OfCell<'a> {
    plan: &'a StudyPlan,
    search: &'a Search,
    cell: &'a Cell,
    store: &'a Store,
    /// What there is already, in the order in which it was made.
    blocks: std::vec::IntoIter<Block>,
    visits: u32,
    /// The visit of the highest value that held, which the cell is estimated from.
    best: Option<(f64, Block)>,
}

impl OfCell<'_> {
    fn carry_out(
        mut self,
        executor: &mut dyn Executor,
        tell: &mut dyn FnMut(StudyEvent<'_>),
    ) -> Result<CellResult, StudyRunError> {
        let first = Ladder::first(self.search);
        let mut steps = self.pass(1, first, executor, tell)?;
        let failed = steps.iter().filter(|step| !step.held).min_by(|a, b| a.value.total_cmp(&b.value));
        let cause = failed.map(|step| format!("{}: {}", number(step.value), step.seen));
        let mut found: Vec<f64> = held(&steps).into_iter().collect();
        // A search that ended at its own end, or failed at its beginning, has no knee to look for again.
        if let (&[at], Some(_), Search::Knee { passes, .. }) = (found.as_slice(), &cause, self.search) {
            for later in 1..*passes {
                let pass = self.pass(later + 1, first.later(at, later), executor, tell)?;
                found.extend(held(&pass));
                steps.extend(pass);
            }
        }
        let axis = axis(self.search);
        let (middle, ends) = estimate(&found, self.plan.rules.confidence);
        let verdict = verdict(middle, ends, found.len(), axis, cause.as_deref());
        tell(StudyEvent::Settled(self.cell, &verdict));
        let status = if middle.is_some() { CellStatus::Complete } else { CellStatus::Failed };
        let trials: Vec<&Record> = self.best.iter().flat_map(|(_, block)| &block.trials).collect();
        let failures = cause.iter().cloned().collect();
        let (low, high) = ends.unzip();
        let search = Some(SearchResult {
            axis: axis.to_owned(),
            found: middle,
            low,
            high,
            passes: found,
            cause,
            steps,
        });
        let cell = result::cell(self.plan, self.cell, status, verdict, None, (trials, failures));
        Ok(CellResult { search, ..cell })
    }

    fn pass(
        &mut self,
        pass: u32,
        ladder: Ladder,
        executor: &mut dyn Executor,
        tell: &mut dyn FnMut(StudyEvent<'_>),
    ) -> Result<Vec<SearchStep>, StudyRunError> {
        let mut steps: Vec<SearchStep> = Vec::new();
        while let Some(value) = ladder.next(&steps) {
            steps.push(self.step(pass, value, executor, tell)?);
        }
        Ok(steps)
    }

    /// One value, visited until it has held once, or twice in three, or failed twice.
    fn step(
        &mut self,
        pass: u32,
        value: f64,
        executor: &mut dyn Executor,
        tell: &mut dyn FnMut(StudyEvent<'_>),
    ) -> Result<SearchStep, StudyRunError> {
        let (mut failures, mut visits) = (0, 0);
        loop {
            let block = self.visit(value, executor, tell)?;
            visits += 1;
            let (held, seen) = judge(self.search, &block);
            failures += u32::from(!held);
            let believed = held && (failures == 0 || visits == VISITS_MAX);
            if believed && self.best.as_ref().is_none_or(|(best, _)| value > *best) {
                self.best = Some((value, block));
            }
            if believed || failures == 2 {
                return Ok(SearchStep { pass, value, held: believed, visits, seen });
            }
        }
    }

    /// The next visit: the one that was kept, or a new one.
    fn visit(
        &mut self,
        value: f64,
        executor: &mut dyn Executor,
        tell: &mut dyn FnMut(StudyEvent<'_>),
    ) -> Result<Block, StudyRunError> {
        self.visits += 1;
        let mut block = self.blocks.next().unwrap_or_default();
        if !whole(&self.plan.rules, &block, false) {
            let here = at(self.cell, self.search, value);
            tell(StudyEvent::Visit { cell: &here, block: self.visits, left: None });
            let number = self.visits;
            visit(self.plan, &here, number, false, &mut block, (self.store, &mut *executor, &mut *tell))?;
        }
        Ok(block)
    }
}

/// The geometric mean of what the passes found, with Student's interval on the logarithms.
fn estimate(found: &[f64], confidence: f64) -> (Option<f64>, Option<(f64, f64)>) {
    let logs: Vec<f64> = found.iter().map(|value| value.ln()).collect();
    match (found, mean_interval(&logs, confidence)) {
        ([], _) => (None, None),
        ([only], _) => (Some(*only), None),
        (_, Ok(interval)) => (Some(interval.estimate.exp()), Some((interval.low.exp(), interval.high.exp()))),
        ([first, ..], Err(_)) => (Some(*first), None),
    }
}

fn verdict(
    found: Option<f64>,
    ends: Option<(f64, f64)>,
    passes: usize,
    axis: &str,
    cause: Option<&str>,
) -> String {
    let interval = ends.map_or(String::new(), |(low, high)| {
        format!(" ({}–{} in {passes} passes)", number(low), number(high))
    });
    match (found, cause) {
        (Some(found), Some(cause)) => format!("{} {axis}{interval}; {cause}", number(found)),
        (Some(found), None) => format!("{} {axis}, where the search ends", number(found)),
        (None, _) => format!("none: {}", cause.unwrap_or("nothing was tried")),
    }
}

fn axis(search: &Search) -> &'static str {
    match search {
        Search::Limit { .. } => "rooms",
        Search::Knee { .. } => "messages/s of each user",
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
