//! Carries a study out: blocks of visits in random order, until the rules say that every cell has enough.

mod lucky_cells;
mod order;
mod result;
mod search;
mod store;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use klatch_record::{
    CellResult, CellStatus, CrowdEvent, Platform, Record, Role, Status, StudyResult, error_chain,
};
use klatch_runner::{Executor, Plan, VisitEvent};

pub use self::store::Store;

use self::order::order;
use self::store::Block;
use crate::cell::{Cell, StudyPlan};
use crate::error::StudyRunError;
use crate::series::{Metric, Rules, State, Visit, state};

/// What happens while a study is carried out.
pub enum StudyEvent<'a> {
    /// A server is to be started for this cell.
    Visit {
        /// The cell.
        cell: &'a Cell,
        /// Number of the block, or of the step of a search.
        block: u32,
        /// About how long the study will take from now, as far as can be told.
        left: Option<Duration>,
    },
    /// It is ready.
    Ready(&'a Platform),
    /// A run begins.
    Begins(Role, u32),
    /// The crowd tells.
    Crowd(&'a CrowdEvent),
    /// A run has ended, and its record is kept.
    Ended(&'a Record),
    /// A visit has failed; the study goes on.
    Failed(&'a Cell, &'a str),
    /// A cell needs no more.
    Settled(&'a Cell, &'a str),
}

/// Carries the study out, or the rest of it.
///
/// # Errors
/// It was interrupted, or results cannot be kept. What was finished is kept, and the study can be resumed.
pub fn run_study(
    plan: &StudyPlan,
    store: &Store,
    executor: &mut dyn Executor,
    mut tell: impl FnMut(StudyEvent<'_>),
) -> Result<StudyResult, StudyRunError> {
    let cells = match &plan.search {
        Some(search) => search::cells(plan, search, store, executor, &mut tell)?,
        None => blocks(plan, store, executor, &mut tell)?,
    };
    let result = result::study(plan, store, cells);
    store.finish(&result)?;
    Ok(result)
}

fn blocks(
    plan: &StudyPlan,
    store: &Store,
    executor: &mut dyn Executor,
    tell: &mut dyn FnMut(StudyEvent<'_>),
) -> Result<Vec<CellResult>, StudyRunError> {
    let kept = plan.cells.iter().map(|cell| store.blocks(&cell.id));
    let mut kept: Vec<Vec<Block>> = kept.collect::<Result<_, _>>()?;
    let mut clock = Clock::default();
    for block in 1.. {
        let mut all_done = true;
        for place in order(plan.seed, block, plan.cells.len()) {
            let (cell, kept) = (&plan.cells[place], &mut kept[place]);
            let before = &kept[..kept.len().min(block as usize - 1)];
            if cell.absent.is_some() || matches!(state_of(plan, before), State::Done(_)) {
                continue;
            }
            all_done = false;
            if kept.len() < block as usize {
                kept.resize_with(block as usize, Block::default);
            }
            let discarded = is_discarded(&plan.rules, &kept[..block as usize - 1]);
            if whole(&plan.rules, &kept[block as usize - 1], discarded) {
                continue;
            }
            tell(StudyEvent::Visit { cell, block, left: clock.left(plan, place, block) });
            let started = Instant::now();
            visit(
                plan,
                cell,
                block,
                discarded,
                &mut kept[block as usize - 1],
                (store, &mut *executor, &mut *tell),
            )?;
            clock.add(place, started.elapsed());
            if let State::Done(settled) = state_of(plan, &kept[..block as usize]) {
                tell(StudyEvent::Settled(cell, &settled.verdict));
            }
        }
        if all_done {
            break;
        }
    }
    Ok(plan.cells.iter().zip(kept).map(|(cell, blocks)| cell_result(plan, cell, &blocks)).collect())
}

type Hands<'a, 'b> = (&'a Store, &'a mut dyn Executor, &'a mut (dyn FnMut(StudyEvent<'_>) + 'b));

/// One start of the server, and the runs that this block still lacks.
fn visit(
    plan: &StudyPlan,
    cell: &Cell,
    block: u32,
    discarded: bool,
    kept: &mut Block,
    (store, executor, tell): Hands<'_, '_>,
) -> Result<(), StudyRunError> {
    let rules = &plan.rules;
    let mut runs: Vec<(Role, u32)> = Vec::new();
    if discarded {
        let there = kept.warmups.len() as u32;
        runs.extend((there + 1..=rules.runs_per_visit()).map(|number| (Role::WarmUp, number)));
    } else {
        // A new server is as cold as the first one was.
        let (warm, there) = (kept.warmups.len() as u32, kept.trials.len() as u32);
        runs.extend((1..=rules.warmups).map(|number| (Role::WarmUp, warm + number)));
        let first = (block - 1) * rules.trials_per_visit;
        runs.extend((there + 1..=rules.trials_per_visit).map(|number| (Role::Trial, first + number)));
    }
    let mut cause = None;
    let here = Plan { out: store.block(&cell.id, block)?, ..cell.plan.clone() };
    let made = executor.visit(&here, &runs, &mut |event| {
        match event {
            VisitEvent::Ready(platform) => tell(StudyEvent::Ready(platform)),
            VisitEvent::RunStarted(role, number) => tell(StudyEvent::Begins(role, number)),
            VisitEvent::Crowd(event) => tell(StudyEvent::Crowd(event)),
            VisitEvent::RunEnded(record) => {
                store.keep(&cell.id, block, record)?;
                tell(StudyEvent::Ended(record));
                if record.verdict.status != Status::Valid {
                    cause = Some(record.verdict.messages());
                }
                let list = if record.role == Role::Trial { &mut kept.trials } else { &mut kept.warmups };
                list.push(record.clone());
            }
        }
        Ok(())
    });
    match made {
        Err(error) if error.ends_a_study() => return Err(error.into()),
        Err(error) => cause = Some(error_chain(&error)),
        Ok(()) => {}
    }
    if let Some(cause) = cause {
        store.fail(&cell.id, block, &cause)?;
        tell(StudyEvent::Failed(cell, &cause));
        kept.failure = Some(cause);
    }
    Ok(())
}

/// Whether the next visit is one of those that do not count: the first so many that succeed.
fn is_discarded(rules: &Rules, before: &[Block]) -> bool {
    let succeeded = before.iter().filter(|block| block.failure.is_none()).count();
    succeeded < rules.visits_discarded as usize
}

fn whole(rules: &Rules, block: &Block, discarded: bool) -> bool {
    let enough = if discarded {
        block.warmups.len() as u32 >= rules.runs_per_visit()
    } else {
        block.trials.len() as u32 >= rules.trials_per_visit
    };
    enough || block.failure.is_some()
}

/// Where a cell stands after these blocks, all of them whole or the last one not begun.
fn state_of(plan: &StudyPlan, blocks: &[Block]) -> State {
    let metric = plan.rules.metric;
    let visit = |block: &Block| Visit {
        trials: if block.failure.is_some() {
            Vec::new()
        } else {
            block.trials.iter().map(|record| metric.of(record).unwrap_or(f64::NAN)).collect()
        },
        failure: block.failure.clone(),
    };
    state(&plan.rules, &blocks.iter().map(visit).collect::<Vec<_>>())
}

fn cell_result(plan: &StudyPlan, cell: &Cell, blocks: &[Block]) -> CellResult {
    if let Some(why) = &cell.absent {
        return result::cell(
            plan,
            cell,
            CellStatus::Absent,
            format!("cannot run here: {why}"),
            None,
            Default::default(),
        );
    }
    let failures = blocks.iter().filter_map(|block| block.failure.clone()).collect();
    let good = blocks.iter().filter(|block| block.failure.is_none());
    let trials: Vec<&Record> = good.flat_map(|block| &block.trials).collect();
    match state_of(plan, blocks) {
        State::Open => {
            result::cell(plan, cell, CellStatus::Open, "not finished".to_owned(), None, (trials, failures))
        }
        State::Done(settled) => {
            let counted = settled.counted.iter().filter_map(|&place| trials.get(place).copied()).collect();
            result::cell(plan, cell, settled.status, settled.verdict, settled.interval, (counted, failures))
        }
    }
}

impl Metric {
    /// Its value in a record; `None` where it could not be observed.
    pub fn of(self, record: &Record) -> Option<f64> {
        match self {
            Metric::MessagesPerS => Some(record.score.messages_per_s),
            Metric::CpuUsPerMessage => record.score.cpu_us_per_message,
        }
    }
}

/// How long visits took, to tell how long the rest will take.
#[derive(Default)]
struct Clock {
    spent: Vec<(usize, Duration)>,
}

impl Clock {
    fn add(&mut self, cell: usize, spent: Duration) {
        self.spent.push((cell, spent));
    }

    /// The least that is left: so many visits as the rules need when all goes well, each as long as those of its cell
    /// took, or as all took.
    fn left(&self, plan: &StudyPlan, place: usize, block: u32) -> Option<Duration> {
        if self.spent.is_empty() {
            return None;
        }
        let mean = |of: &dyn Fn(usize) -> bool| {
            let (count, sum) = (self.spent.iter().filter(|(cell, _)| of(*cell)))
                .fold((0, Duration::ZERO), |(count, sum), (_, spent)| (count + 1, sum + *spent));
            (count > 0).then(|| sum / count)
        };
        let over_all = mean(&|_| true)?;
        let (least, _) = plan.rules.visits();
        let after_this = least.saturating_sub(block);
        let order = order(plan.seed, block, plan.cells.len());
        let at = order.iter().position(|&other| other == place)?;
        let visits_left = |cell: usize| after_this + u32::from(order[at..].contains(&cell));
        let here = (0..plan.cells.len()).filter(|&cell| plan.cells[cell].absent.is_none());
        Some(here.map(|cell| mean(&|other| other == cell).unwrap_or(over_all) * visits_left(cell)).sum())
    }
}
