//! Computes what a study still lacks, several trials at a time.

use std::sync::Mutex;

use klatch_record::{SaveError, StudyResult};

use super::result::{cell_result, cell_state, study_result};
use super::{ComputedCell, ComputedPlan, Computer};
use crate::engine::Store;
use crate::error::StudyRunError;
use crate::series::SeriesState;

/// A step of a computed study.
pub enum ComputedEvent<'a> {
    /// So many trials were stored before.
    Stored(usize),
    /// A trial of this cell is stored, with this seed. The last part is why it does not count.
    Trial(&'a str, u32, Option<&'a str>),
    /// A cell has its verdict.
    Settled(&'a str, &'a str),
}

/// A computed study that has all its trials.
pub struct ComputedStudy<T> {
    /// Its result, as it is stored.
    pub result: StudyResult,
    /// The trials of each cell, in the order of the plan.
    pub trials: Vec<Vec<T>>,
}

/// Why a computed study ended early. Finished trials are stored.
#[derive(Debug, thiserror::Error)]
pub enum ComputedError<E> {
    /// No trial can be computed any more.
    #[error(transparent)]
    Compute(E),
    /// Its folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StudyRunError),
}

impl<E> From<SaveError> for ComputedError<E> {
    fn from(error: SaveError) -> Self {
        ComputedError::Store(error.into())
    }
}

/// Computes the trials that `store` lacks, `jobs` at a time, and stores each at once. The number of jobs does not affect the results.
///
/// # Errors
/// A trial could not be computed or stored. The study can be resumed.
pub fn run_computed<C: Computer>(
    plan: &ComputedPlan<C::Job>,
    store: &Store,
    computer: &C,
    jobs: usize,
    on_event: impl Fn(ComputedEvent<'_>) + Sync,
) -> Result<ComputedStudy<C::Trial>, ComputedError<C::Error>> {
    let mut trials = Vec::with_capacity(plan.cells.len());
    for cell in &plan.cells {
        trials.push(stored(plan, store, cell)?);
    }
    on_event(ComputedEvent::Stored(trials.iter().map(Vec::len).sum()));
    loop {
        let missing = missing(plan, computer, &trials);
        if missing.is_empty() {
            break;
        }
        let compute = |&(place, number): &(usize, usize)| -> Result<_, ComputedError<C::Error>> {
            let (cell, seed) = (&plan.cells[place], plan.seeds[number]);
            let folder = store.trial_folder(&cell.id, seed).map_err(StudyRunError::from)?;
            let trial = computer.compute(&cell.job, seed, &folder).map_err(ComputedError::Compute)?;
            store.save_trial(&cell.id, seed, &trial).map_err(StudyRunError::from)?;
            on_event(ComputedEvent::Trial(&cell.id, seed, computer.failure(&trial)));
            Ok((place, trial))
        };
        let computed = in_parallel(&missing, jobs, compute)?;
        let mut touched = Vec::new();
        for (place, trial) in computed {
            trials[place].push(trial);
            if touched.last() != Some(&place) {
                touched.push(place);
            }
        }
        for place in touched {
            if let SeriesState::Settled(settled) = cell_state(plan, computer, &trials[place]) {
                on_event(ComputedEvent::Settled(&plan.cells[place].id, &settled.verdict));
            }
        }
    }
    let cells =
        plan.cells.iter().zip(&trials).map(|(cell, trials)| cell_result(plan, computer, cell, trials));
    let result = study_result(plan, store, cells.collect());
    store.save_result(&result)?;
    Ok(ComputedStudy { result, trials })
}

/// The stored trials of a cell, up to the first seed that is missing.
fn stored<J, T: serde::de::DeserializeOwned>(
    plan: &ComputedPlan<J>,
    store: &Store,
    cell: &ComputedCell<J>,
) -> Result<Vec<T>, StudyRunError> {
    let mut trials = Vec::new();
    for &seed in &plan.seeds {
        match store.trial(&cell.id, seed)? {
            Some(trial) => trials.push(trial),
            None => break,
        }
    }
    Ok(trials)
}

/// The next trials of all cells that need some: the place of each cell and the number of its seed.
fn missing<C: Computer>(
    plan: &ComputedPlan<C::Job>,
    computer: &C,
    trials: &[Vec<C::Trial>],
) -> Vec<(usize, usize)> {
    let least = plan.seeds_min();
    let open = (0..plan.cells.len())
        .filter(|&place| cell_state(plan, computer, &trials[place]) == SeriesState::Open);
    open.flat_map(|place| {
        let done = trials[place].len();
        (done..least.max(done + 1).min(plan.seeds.len())).map(move |number| (place, number))
    })
    .collect()
}

/// Calls `work` for all items on several threads. Returns the results in the order of the items. After an error no other item begins.
pub(crate) fn in_parallel<I: Sync, T: Send, E: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let waiting = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::with_capacity(items.len()));
    // Nothing panics while one of the two is locked.
    let next = || waiting.lock().ok()?.next();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while let Some((number, item)) = next() {
                    let result = work(item);
                    if result.is_err() {
                        while next().is_some() {}
                    }
                    if let Ok(mut done) = done.lock() {
                        done.push((number, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
