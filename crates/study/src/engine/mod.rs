//! Carries out a measured study: visits its cells in blocks of random order until the rules have enough trials of every cell, or
//! searches a limit in each cell. Store, rules and result are those of every kind of study.

mod blocks;
mod lucky_cells;
mod order;
mod pairs;
mod result;
mod search;
mod store;
#[cfg(test)]
mod tests;
mod time_left;
mod visit;

use std::time::Duration;

use klatch_record::StudyResult;
use klatch_runner::duet::DuetProgress;
use klatch_runner::{Executor, VisitEvent};

pub use self::pairs::run_pairs;
pub(crate) use self::result::estimate;
pub use self::store::Store;

use crate::error::StudyRunError;
use crate::plan::{Cell, StudyPlan};

/// A step of a study.
pub enum StudyEvent<'a> {
    /// A visit of a cell starts.
    VisitStarted {
        /// The cell; in a search, with the value that is tried.
        cell: &'a Cell,
        /// Number of this visit in the study, or in the search of this cell, from 1. Earlier ones may be stored.
        number: u32,
        /// The fewest and the most visits of the study, if none fails; `None` in a search.
        of: Option<(u32, u32)>,
        /// Least time until the study ends, estimated from earlier visits; `None` before the first visit has ended.
        left: Option<Duration>,
    },
    /// A step of the visit; the record of a run that ended is stored.
    Visit(VisitEvent<'a>),
    /// How far the start of a duet is.
    Duet(DuetProgress),
    /// A visit has failed for this reason; the study goes on.
    VisitFailed(&'a Cell, &'a str),
    /// A cell has its verdict and needs no more visits.
    CellSettled(&'a Cell, &'a str),
}

/// Carries out the study, or the part of it that `store` does not hold yet.
///
/// # Errors
/// The study was interrupted, or a result cannot be written. Finished runs are stored, and the study can be resumed.
pub fn run_study(
    plan: &StudyPlan,
    store: &Store,
    executor: &mut dyn Executor,
    mut on_event: impl FnMut(StudyEvent<'_>),
) -> Result<StudyResult, StudyRunError> {
    let mut engine = Engine { plan, store, executor, on_event: &mut on_event };
    let cells = match &plan.search {
        Some(search) => search::search_cells(&mut engine, search)?,
        None => engine.measure_cells()?,
    };
    let result = result::study_result(plan, store, cells);
    store.save_result(&result)?;
    Ok(result)
}

/// What every step of a study needs.
struct Engine<'a> {
    plan: &'a StudyPlan,
    store: &'a Store,
    executor: &'a mut dyn Executor,
    on_event: &'a mut dyn FnMut(StudyEvent<'_>),
}
