//! Studies whose trials are computed and not measured: boots of the lab, whose clock counts instructions, and runs of the simulator.
//! A trial is a seed. Axes, run rules, folder, resume and result are those of measured studies. The loop is another one: measured trials
//! follow one another in random order, several in a visit, because they share the machine and its drift, and a failed one is
//! repeated. Computed trials depend on their seed alone, so they run side by side, in any order, and would fail again.

mod result;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use klatch_record::{ResultKind, StudyAxis};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file::{Change, Dimension, Grid, Levels, StudyFile, StudyFileError, combinations};
use crate::plan::StudyHead;
use crate::series::{Preset, Rules, StopRule};

pub(crate) use run::in_parallel;
pub use run::{ComputedError, ComputedEvent, ComputedStudy, run_computed};

/// The plan of a computed study.
#[derive(Clone, Debug)]
pub struct ComputedPlan<J> {
    /// What its result repeats.
    pub head: StudyHead,
    /// Whether its trials are emulated or simulated.
    pub kind: ResultKind,
    /// One cell for each combination of the axes.
    pub cells: Vec<ComputedCell<J>>,
    /// The seeds of each cell's trials, in order.
    pub seeds: Vec<u32>,
    /// Half-width of the interval of the metric at which a cell needs no more seeds, relative to the mean; `None` if it gets all.
    pub within: Option<f64>,
    /// The metric of the study's rules and of its answer.
    pub metric: String,
}

/// One combination of the axes.
#[derive(Clone, Debug)]
pub struct ComputedCell<J> {
    /// Its name, which is also the name of its folder.
    pub id: String,
    /// Its value on every axis, by the name of the axis.
    pub at: BTreeMap<String, String>,
    /// What a trial computes.
    pub job: J,
}

/// The axis whose values name a computed cell.
pub(crate) const SCHEDULER: &str = "scheduler";

/// The axes and cells of a computed study: `first` changed by every combination of the dimensions.
pub(crate) fn axes_and_cells<J: Clone>(
    first: J,
    dimensions: &[Dimension<Change<J>>],
    file: &StudyFile,
) -> Result<(Vec<StudyAxis>, Vec<ComputedCell<J>>), StudyFileError> {
    let all: Vec<&Dimension<Change<J>>> = dimensions.iter().collect();
    let change = |job: &mut J, change: &Change<J>| change(job);
    let jobs = combinations((Levels::new(), first), &all, change, file, 0..0)?;
    let names: Vec<&str> = all.iter().map(|dimension| dimension.name.as_str()).collect();
    let Grid { axes, cells } = Grid::new(jobs, &names, SCHEDULER);
    let cells = cells.into_iter().map(|(id, at, job)| ComputedCell { id, at, job });
    Ok((axes, cells.collect()))
}

/// Computes the trials of a study.
pub trait Computer: Sync {
    /// What a trial computes, but for its seed.
    type Job: Sync;
    /// The result of a trial, as it is stored.
    type Trial: Serialize + DeserializeOwned + Send;
    /// Why no trial can be computed any more.
    type Error: Send;

    /// Computes one trial. Files beside its result go into `folder`, which exists.
    ///
    /// # Errors
    /// The next trial would fail as well, or the study was interrupted.
    fn compute(&self, job: &Self::Job, seed: u32, folder: &Path) -> Result<Self::Trial, Self::Error>;

    /// Why the trial does not count; `None` if it does.
    fn failure<'a>(&self, trial: &'a Self::Trial) -> Option<&'a str>;

    /// The numbers of a trial, by name.
    fn metrics(&self, trial: &Self::Trial) -> Vec<(String, f64)>;
}

impl<J> ComputedPlan<J> {
    /// Fewest seeds of a study that stops when its intervals are narrow enough.
    pub const SEEDS_MIN: u32 = 8;

    /// The rules of every cell.
    fn rules(&self) -> Rules {
        let seeds = self.seeds.len() as u32;
        let stop = match self.within {
            Some(within) => StopRule::Converged { within, trials_min: Self::SEEDS_MIN, trials_max: seeds },
            None => StopRule::Trials(seeds),
        };
        Rules { stop, warmups: 0, ..Preset::Converge.rules() }
    }

    /// The rules in words.
    pub fn rules_text(&self) -> String {
        let seeds = self.seeds.len();
        match self.within {
            Some(within) => format!(
                "each cell with {} to {seeds} seeds, until the mean of {} is known to ±{} % at 95 % confidence",
                Self::SEEDS_MIN,
                self.metric,
                within * 100.0
            ),
            None if seeds == 1 => "each cell with one seed".to_owned(),
            None => format!("each cell with {seeds} seeds; intervals of the mean at 95 % confidence"),
        }
    }

    /// The fewest and the most trials.
    pub fn trials(&self) -> (usize, usize) {
        (self.cells.len() * self.seeds_min(), self.cells.len() * self.seeds.len())
    }

    /// The fewest seeds of a cell.
    fn seeds_min(&self) -> usize {
        if self.within.is_some() { Self::SEEDS_MIN as usize } else { self.seeds.len() }
    }
}
