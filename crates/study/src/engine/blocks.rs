//! Blocks: every cell that needs more trials gets one visit per block, in random order.

use std::time::Instant;

use klatch_record::{CellResult, CellStatus, Record};

use super::order::order;
use super::store::Block;
use super::time_left::TimeLeft;
use super::{Engine, StudyEvent, result};
use crate::error::StudyRunError;
use crate::plan::{Cell, StudyPlan};
use crate::series::{Rules, SeriesState, Visit, series_state};

/// The visits of a study.
struct Visits {
    /// Complete, with those that were stored before.
    made: u32,
    /// The fewest and the most that the rules allow.
    least: u32,
    most: u32,
}

impl Visits {
    fn of(plan: &StudyPlan, stored: &[Vec<Block>]) -> Visits {
        let present = plan.cells.iter().filter(|cell| cell.absent.is_none()).count() as u32;
        let complete = |blocks: &[Block]| {
            let is_complete = |(place, block): &(usize, &Block)| {
                is_complete(&plan.rules, block, is_discarded(&plan.rules, &blocks[..*place]))
            };
            blocks.iter().enumerate().filter(is_complete).count() as u32
        };
        let made = stored.iter().map(|blocks| complete(blocks)).sum();
        let (least, most) = plan.rules.visits();
        Visits { made, least: present * least, most: present * most }
    }
}

impl Engine<'_> {
    /// Visits all cells until each is settled.
    pub(super) fn measure_cells(&mut self) -> Result<Vec<CellResult>, StudyRunError> {
        let plan = self.plan;
        let stored = plan.cells.iter().map(|cell| self.store.blocks(&cell.id));
        let mut stored: Vec<Vec<Block>> = stored.collect::<Result<_, _>>()?;
        let mut time_left = TimeLeft::default();
        let mut visits = Visits::of(plan, &stored);
        for block in 1.. {
            let mut all_settled = true;
            for place in order(plan.seed, block, plan.cells.len()) {
                let blocks = &mut stored[place];
                let before = &blocks[..blocks.len().min(block as usize - 1)];
                if plan.cells[place].absent.is_some()
                    || matches!(state(plan, before), SeriesState::Settled(_))
                {
                    continue;
                }
                all_settled = false;
                self.measure_block(place, block, blocks, &mut time_left, &mut visits)?;
            }
            if all_settled {
                break;
            }
        }
        Ok(plan.cells.iter().zip(stored).map(|(cell, blocks)| cell_result(plan, cell, &blocks)).collect())
    }

    /// Completes block `block` of the cell at `place`, unless it is stored already.
    fn measure_block(
        &mut self,
        place: usize,
        block: u32,
        blocks: &mut Vec<Block>,
        time_left: &mut TimeLeft,
        visits: &mut Visits,
    ) -> Result<(), StudyRunError> {
        let (plan, cell) = (self.plan, &self.plan.cells[place]);
        if blocks.len() < block as usize {
            blocks.resize_with(block as usize, Block::default);
        }
        let (before, current) = blocks.split_at_mut(block as usize - 1);
        let discarded = is_discarded(&plan.rules, before);
        if is_complete(&plan.rules, &current[0], discarded) {
            return Ok(());
        }
        let left = time_left.estimate(plan, place, block);
        let number = visits.made + 1;
        let of = Some((visits.least.max(number), visits.most));
        (self.on_event)(StudyEvent::VisitStarted { cell, number, of, left });
        let started = Instant::now();
        self.visit(cell, block, discarded, &mut current[0])?;
        visits.made = number;
        time_left.add(place, started.elapsed());
        if let SeriesState::Settled(settled) = state(plan, &blocks[..block as usize]) {
            (self.on_event)(StudyEvent::CellSettled(cell, &settled.verdict));
        }
        Ok(())
    }
}

/// Whether the next visit is discarded: the rules discard the first visits that succeed.
fn is_discarded(rules: &Rules, before: &[Block]) -> bool {
    let succeeded = before.iter().filter(|block| block.failure.is_none()).count();
    succeeded < rules.visits_discarded as usize
}

/// Whether a block has all its runs, or has failed.
pub(super) fn is_complete(rules: &Rules, block: &Block, discarded: bool) -> bool {
    let enough = if discarded {
        block.warmups.len() as u32 >= rules.runs_per_visit()
    } else {
        block.trials.len() as u32 >= rules.trials_per_visit
    };
    enough || block.failure.is_some()
}

/// The state of a cell after these blocks, each of which is complete or has no runs.
fn state(plan: &StudyPlan, blocks: &[Block]) -> SeriesState {
    let metric = plan.rules.metric;
    let visit = |block: &Block| Visit {
        trials: if block.failure.is_some() {
            Vec::new()
        } else {
            block.trials.iter().map(|record| metric.of_record(record).unwrap_or(f64::NAN)).collect()
        },
        failure: block.failure.clone(),
    };
    series_state(&plan.rules, &blocks.iter().map(visit).collect::<Vec<_>>())
}

fn cell_result(plan: &StudyPlan, cell: &Cell, blocks: &[Block]) -> CellResult {
    if let Some(reason) = &cell.absent {
        return result::absent_cell(plan, cell, reason);
    }
    let failures = blocks.iter().filter_map(|block| block.failure.clone()).collect();
    let succeeded = blocks.iter().filter(|block| block.failure.is_none());
    let trials: Vec<&Record> = succeeded.flat_map(|block| &block.trials).collect();
    match state(plan, blocks) {
        SeriesState::Open => {
            let verdict = "not finished".to_owned();
            result::cell_result(plan, cell, CellStatus::Open, verdict, None, (trials, failures))
        }
        SeriesState::Settled(settled) => {
            let counted = settled.counted.iter().filter_map(|&place| trials.get(place).copied()).collect();
            let (status, verdict, interval) = (settled.status, settled.verdict, settled.interval);
            result::cell_result(plan, cell, status, verdict, interval, (counted, failures))
        }
    }
}
