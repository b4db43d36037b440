//! Searches the highest value of an axis that holds. A failure counts only when it is repeated. A knee is searched in
//! several passes, because the result of one pass depends on disturbances of the machine.

mod ladder;
mod report;

use klatch_record::{CellResult, CellStatus, OrdersScore, Record, SearchResult, SearchStep, Workload};

use self::ladder::{Ladder, highest_held};
use self::report::{axis, estimate, number, verdict};
use super::blocks::is_complete;
use super::store::Block;
use super::{Engine, StudyEvent, result};
use crate::error::StudyRunError;
use crate::plan::Cell;
use crate::search::Search;

/// Visits of a step at most: two failures settle it, and the third visit decides if the first two disagree.
const VISITS_MAX: u32 = 3;

/// Searches in every cell that can run on this machine.
pub(super) fn search_cells(
    engine: &mut Engine<'_>,
    search: &Search,
) -> Result<Vec<CellResult>, StudyRunError> {
    let mut results = Vec::new();
    for cell in &engine.plan.cells {
        results.push(match &cell.absent {
            Some(reason) => result::absent_cell(engine.plan, cell, reason),
            None => {
                let stored = engine.store.blocks(&cell.id)?.into_iter();
                CellSearch { search, cell, stored, visits: 0, best: None }.run(engine)?
            }
        });
    }
    Ok(results)
}

/// The search in one cell.
struct CellSearch<'a> {
    search: &'a Search,
    cell: &'a Cell,
    /// The visits that are stored, in the order in which they were made.
    stored: std::vec::IntoIter<Block>,
    visits: u32,
    /// The highest value that held, and its visit, from which the cell is estimated.
    best: Option<(f64, Block)>,
}

impl CellSearch<'_> {
    fn run(mut self, engine: &mut Engine<'_>) -> Result<CellResult, StudyRunError> {
        let first = Ladder::first(self.search);
        let mut steps = self.pass(1, first, engine)?;
        let failed = steps.iter().filter(|step| !step.held).min_by(|a, b| a.value.total_cmp(&b.value));
        let axis = axis(self.search, self.cell.plan.workload.kind());
        let cause = failed.map(|step| format!("at {} {axis}: {}", number(step.value), step.observed));
        let mut passes: Vec<f64> = highest_held(&steps).into_iter().collect();
        // Further passes make sense only if the first one ended between a value that held and one that failed.
        if let (&[knee], Some(_), Search::Knee { passes: count, .. }) =
            (passes.as_slice(), &cause, self.search)
        {
            for later in 1..*count {
                let pass = self.pass(later + 1, first.later(knee, later), engine)?;
                passes.extend(highest_held(&pass));
                steps.extend(pass);
            }
        }
        let (middle, ends) = estimate(&passes, engine.plan.rules.confidence);
        let verdict = verdict(middle, ends, passes.len(), &axis, cause.as_deref());
        (engine.on_event)(StudyEvent::CellSettled(self.cell, &verdict));
        let status = if middle.is_some() { CellStatus::Complete } else { CellStatus::Failed };
        let trials: Vec<&Record> = self.best.iter().flat_map(|(_, block)| &block.trials).collect();
        let failures = cause.iter().cloned().collect();
        let (low, high) = ends.unzip();
        let latency_p99_max_ms = match self.search {
            Search::Knee { latency_p99_max_ms, .. } => Some(*latency_p99_max_ms),
            Search::Limit { .. } => None,
        };
        let search = Some(SearchResult {
            axis: axis.to_owned(),
            value: middle,
            low,
            high,
            passes,
            cause,
            latency_p99_max_ms,
            steps,
        });
        let cell = result::cell_result(engine.plan, self.cell, status, verdict, None, (trials, failures));
        Ok(CellResult { search, ..cell })
    }

    fn pass(
        &mut self,
        pass: u32,
        ladder: Ladder,
        engine: &mut Engine<'_>,
    ) -> Result<Vec<SearchStep>, StudyRunError> {
        let mut steps: Vec<SearchStep> = Vec::new();
        while let Some(value) = ladder.next(&steps) {
            steps.push(self.step(pass, value, engine)?);
        }
        Ok(steps)
    }

    /// Visits one value until it has held at once, held twice in three visits, or failed twice.
    fn step(&mut self, pass: u32, value: f64, engine: &mut Engine<'_>) -> Result<SearchStep, StudyRunError> {
        let (mut failures, mut visits) = (0, 0);
        loop {
            let block = self.visit(value, engine)?;
            visits += 1;
            let (held, observed) = judge(self.search, &block);
            failures += u32::from(!held);
            let accepted = held && (failures == 0 || visits == VISITS_MAX);
            if accepted && self.best.as_ref().is_none_or(|(best, _)| value > *best) {
                self.best = Some((value, block));
            }
            if accepted || failures == 2 {
                return Ok(SearchStep { pass, value, held: accepted, visits, observed });
            }
        }
    }

    /// The next visit: the stored one, or a new one.
    fn visit(&mut self, value: f64, engine: &mut Engine<'_>) -> Result<Block, StudyRunError> {
        self.visits += 1;
        let mut block = self.stored.next().unwrap_or_default();
        if !is_complete(&engine.plan.rules, &block, false) {
            let cell = with_value(self.cell, self.search, value);
            (engine.on_event)(StudyEvent::VisitStarted {
                cell: &cell,
                number: self.visits,
                of: None,
                left: None,
            });
            engine.visit(&cell, self.visits, false, &mut block)?;
        }
        Ok(block)
    }
}

/// The cell with the value of the search.
fn with_value(cell: &Cell, search: &Search, value: f64) -> Cell {
    let mut cell = cell.clone();
    match search {
        Search::Limit { .. } => {
            let workload = &mut cell.plan.workload;
            *workload = match &*workload {
                Workload::Orders(orders) => Workload::Orders(orders.with_injection_rate(value as u32)),
                other => other.with_parties(other.start(), value as u32),
            };
        }
        Search::Knee { .. } => cell.plan.workload = cell.plan.workload.with_rate(value),
    }
    let exact = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") };
    cell.at.insert(axis(search, cell.plan.workload.kind()), exact);
    cell
}

/// Whether a visit held, and the observation that decided it.
fn judge(search: &Search, block: &Block) -> (bool, String) {
    if let Some(cause) = &block.failure {
        return (false, cause.clone());
    }
    let latency = block.trials.first().and_then(|record| record.latency.as_ref());
    let p99_ms = latency.map(|latency| latency.p99_us / 1e3);
    let by_latency = || {
        p99_ms.map_or("no latency was observed".to_owned(), |p99| format!("latency p99 {} ms", digits(p99)))
    };
    let score = block.trials.iter().find_map(|record| record.results.orders());
    let seen = score.map_or_else(by_latency, observed_score);
    match search {
        // Lines without a speed conform as long as the server answers.
        Search::Limit { .. } => {
            (block.trials.iter().all(|record| all_conform(record) && has_tops(record)), seen)
        }
        Search::Knee { latency_p99_max_ms: limit, .. } if p99_ms.is_some_and(|p99| p99 <= *limit) => {
            (true, seen)
        }
        Search::Knee { latency_p99_max_ms: limit, .. } => (false, format!("{seen}; the limit is {limit} ms")),
    }
}

/// Three digits of a time in ms.
fn digits(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.2}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// The score of a run of `orders`, or the limit or share for which it has none.
fn observed_score(score: &OrdersScore) -> String {
    let tops = || score.tops.map_or(String::new(), |tops| format!("{tops:.1} TOPS"));
    score.first_broken().unwrap_or_else(tops)
}

/// Whether a run of `orders` has a score. Other workloads have no such limits.
fn has_tops(record: &Record) -> bool {
    record.results.orders().is_none_or(|score| score.tops.is_some())
}

/// Whether every line of a run conforms. Other workloads have no lines.
fn all_conform(record: &Record) -> bool {
    record.results.conforming().is_none_or(|conforming| conforming.lines == conforming.of)
}

#[cfg(test)]
mod tests {
    use klatch_record::{Latency, OrdersCounts, OrdersWorkload, PartyCounts, Results, samples};

    use super::*;

    const LIMIT: Search = Search::Limit { rooms_from: 1, rooms_max: 100 };

    #[test]
    fn a_run_of_orders_without_a_tops_does_not_hold() {
        let counts = OrdersCounts { steady_s: 10.0, refused: 0, short: 0 };
        let score = OrdersScore::new(4, counts, &[]);
        let judged = |score: OrdersScore| {
            let (parties, kinds) = (PartyCounts::default(), Vec::new());
            let results = Results::Orders { parties, in_window: 0, kinds, score };
            let record = Record { results, ..samples::record(1, 0, 9.0) };
            judge(&LIMIT, &Block { trials: vec![record], ..Block::default() })
        };
        assert_eq!(judged(score.clone()), (false, "new_order: no operation, limit 2 s".to_owned()));
        let mut held = OrdersScore { tops: Some(7.0), ..score };
        held.limits.iter_mut().for_each(|limit| limit.within = true);
        held.mix.iter_mut().for_each(|share| share.within = true);
        assert_eq!(judged(held), (true, "7.0 TOPS".to_owned()));
    }

    #[test]
    fn a_failure_beyond_the_knee_names_the_limit() {
        let knee =
            |limit| Search::Knee { rate_from: 1.0, rate_max: 9.0, latency_p99_max_ms: limit, passes: 1 };
        let latency = Latency::from_counts_ns(&[(36_000_000, 9)]).unwrap();
        let p99 = latency.as_ref().unwrap().p99_us / 1e3;
        let record = Record { latency, ..samples::record(1, 0, 9.0) };
        let block = Block { trials: vec![record], ..Block::default() };
        assert_eq!(judge(&knee(p99), &block), (true, "latency p99 36.0 ms".to_owned()));
        let (held, observed) = judge(&knee(p99 / 2.0), &block);
        assert!(!held && observed.ends_with(&format!("ms; the limit is {} ms", p99 / 2.0)), "{observed}");
    }

    #[test]
    fn a_step_sets_the_injection_rate_with_population_and_suppliers() {
        let orders = OrdersWorkload::default();
        assert_eq!(axis(&LIMIT, Workload::Orders(orders.clone()).kind()), "injection rate");
        let larger = orders.with_injection_rate(150);
        assert_eq!((larger.population, larger.suppliers), (150, 150));
    }
}
