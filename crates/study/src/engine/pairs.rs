//! Studies of duets: in each block every pair of cells gets one start, in random order.

use std::time::Instant;

use klatch_record::{
    CellResult, CellStatus, DuetStart, PairResult, Record, Requirement, StudyResult, error_chain,
};
use klatch_runner::Plan;
use klatch_runner::duet::{DuetError, PairExecutor, PairOutcome, compare_starts};

use super::order::order;
use super::store::{Block, Store, StoredStart};
use super::{StudyEvent, result};
use crate::error::StudyRunError;
use crate::plan::{Pair, StudyPlan};
use crate::series::StopRule;

/// Carries out a study of duets, or the part of it that `store` does not hold yet.
///
/// # Errors
/// The study was interrupted, or a result cannot be written. Finished starts are stored, and the study can be resumed.
pub fn run_pairs(
    plan: &StudyPlan,
    store: &Store,
    executor: &mut dyn PairExecutor,
    mut on_event: impl FnMut(StudyEvent<'_>),
) -> Result<StudyResult, StudyRunError> {
    let pairs = plan.pairs();
    let starts = starts(plan);
    let (mut made, mut left) = (0, starts * pairs.len() as u32);
    let began = Instant::now();
    for block in 1..=starts {
        for place in order(plan.seed, block, pairs.len()) {
            let pair = &pairs[place];
            left -= 1;
            if store.start(&pair.b.id, block)?.is_some() {
                continue;
            }
            let time_left = (made > 0).then(|| began.elapsed() / made * (left + 1));
            let all = starts * pairs.len() as u32;
            let (number, of) = (all - left, Some((all, all)));
            on_event(StudyEvent::VisitStarted { cell: pair.b, number, of, left: time_left });
            let start = make_start(plan, store, executor, pair, block, &mut on_event)?;
            made += 1;
            if let StoredStart::Failed(cause) = &start {
                on_event(StudyEvent::VisitFailed(pair.b, cause));
            }
        }
    }
    let pairs = pairs.iter().map(|pair| pair_result(plan, store, pair)).collect::<Result<_, _>>()?;
    let cells = plan.cells.iter().map(|cell| {
        if let Some(reason) = &cell.absent {
            return Ok(result::absent_cell(plan, cell, reason));
        }
        let blocks = store.blocks(&cell.id)?;
        Ok(cell_result(plan, cell, &blocks))
    });
    let cells = cells.collect::<Result<Vec<CellResult>, StudyRunError>>()?;
    let result = StudyResult { pairs, ..result::study_result(plan, store, cells) };
    store.save_result(&result)?;
    Ok(result)
}

/// Starts of each pair.
fn starts(plan: &StudyPlan) -> u32 {
    match plan.rules.stop {
        StopRule::Trials(starts) => starts,
        StopRule::Agree { .. } | StopRule::Converged { .. } => {
            unreachable!("duets have a fixed number of starts")
        }
    }
}

fn make_start(
    plan: &StudyPlan,
    store: &Store,
    executor: &mut dyn PairExecutor,
    pair: &Pair<'_>,
    block: u32,
    on_event: &mut dyn FnMut(StudyEvent<'_>),
) -> Result<StoredStart, StudyRunError> {
    let folders = [store.block_folder(&pair.a.id, block)?, store.block_folder(&pair.b.id, block)?];
    let side = |plan: &Plan, seed| Plan { seed, ..plan.clone() };
    let seed = plan.seed ^ u64::from(block);
    let sides = [side(&pair.a.plan, seed), side(&pair.b.plan, seed)];
    let duet = plan.duet(sides);
    let start =
        match executor.start(&duet, block, folders, &mut |progress| on_event(StudyEvent::Duet(progress))) {
            Ok(PairOutcome::Complete(start)) => StoredStart::Complete(start),
            Ok(PairOutcome::Failed(side, reasons)) => {
                let cell = if side == 0 { pair.a } else { pair.b };
                StoredStart::Failed(format!("{}: {reasons}", cell.id))
            }
            Err(DuetError::Run(error)) if error.ends_a_study() => return Err((*error).into()),
            Err(error) => StoredStart::Failed(error_chain(&error)),
        };
    store.save_start(&pair.b.id, block, &start)?;
    Ok(start)
}

fn pair_result(plan: &StudyPlan, store: &Store, pair: &Pair<'_>) -> Result<PairResult, StudyRunError> {
    let (mut complete, mut failures): (Vec<DuetStart>, _) = (Vec::new(), Vec::new());
    for block in 1..=starts(plan) {
        match store.start(&pair.b.id, block)? {
            Some(StoredStart::Complete(start)) => complete.push(start),
            Some(StoredStart::Failed(cause)) => failures.push(cause),
            None => {}
        }
    }
    let metrics = compare_starts(&complete, plan.rules.confidence);
    let judge = |one: &Requirement| one.judge_duet(&metrics, [&pair.a.id, &pair.b.id]);
    Ok(PairResult {
        requirements: plan.requirements.iter().map(judge).collect(),
        a: pair.a.id.clone(),
        b: pair.b.id.clone(),
        starts: complete.len() as u32,
        slices: complete.iter().map(|start| start.pairs.len() as u64).sum(),
        confidence: plan.rules.confidence,
        metrics,
        failures,
    })
}

/// The estimates of a cell from the records of its starts. They give the level, and the pairs give the differences.
fn cell_result(plan: &StudyPlan, cell: &crate::plan::Cell, blocks: &[Block]) -> CellResult {
    let trials: Vec<&Record> = blocks.iter().flat_map(|block| &block.trials).collect();
    let (status, verdict) = match trials.len() {
        0 => (CellStatus::Failed, "no start succeeded".to_owned()),
        1 => (CellStatus::Complete, "one start".to_owned()),
        starts => (CellStatus::Complete, format!("{starts} starts")),
    };
    result::cell_result(plan, cell, status, verdict, None, (trials, Vec::new()))
}
