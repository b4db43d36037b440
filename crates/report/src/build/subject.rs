//! The cells of a report, and the runs of each.

use klatch_record::{
    CellResult, CellStatus, Class, Estimate, Record, ResultKind, Role, Status, StudyAxis, StudyResult,
};
use klatch_stats::Sample;

use super::grid::Grid;
use crate::read::{Run, Source};
use crate::study_of_runs::study_of_runs;

/// Cells and runs, and which run belongs to which cell.
pub(super) struct Subject {
    /// The results of the cells.
    pub(super) result: StudyResult,
    /// All runs in the order of their start.
    pub(super) runs: Vec<Run>,
    /// The cell of each run, as an index into the result's cells.
    pub(super) cell_of: Vec<Option<usize>>,
    /// The layout of the cells in charts.
    pub(super) grid: Grid,
}

/// Name of the additional axis when two studies are side by side.
const SIDE: &str = "side";

impl Subject {
    pub(super) fn new(source: &Source) -> Subject {
        let (result, of_run) = match &source.result {
            Some(result) => {
                let cell = |run: &Run| run.cell.clone().unwrap_or_default();
                (result.clone(), source.runs.iter().map(cell).collect())
            }
            None => study_of_runs(source),
        };
        Subject::with(result, source.runs.clone(), &of_run)
    }

    /// Two sources side by side: every cell occurs once for each, with its name.
    pub(super) fn side_by_side(names: [&str; 2], a: &Source, b: &Source) -> Subject {
        let (a, b) = (Subject::new(a), Subject::new(b));
        let mut result = a.result.clone();
        let (mut runs, mut cells) = (Vec::new(), Vec::new());
        result.cells.clear();
        for (name, side) in names.into_iter().zip([a, b]) {
            for axis in &side.result.axes {
                match result.axes.iter_mut().find(|other| other.name == axis.name) {
                    Some(known) => {
                        let new = axis.values.iter().filter(|value| !known.values.contains(value));
                        let new: Vec<String> = new.cloned().collect();
                        known.values.extend(new);
                    }
                    None => result.axes.push(axis.clone()),
                }
            }
            let prefixed = |id: &str| format!("{name}: {id}");
            let of_run = side
                .cell_of
                .iter()
                .map(|cell| cell.map_or_else(String::new, |cell| prefixed(&side.result.cells[cell].id)));
            cells.extend(of_run);
            for mut cell in side.result.cells {
                cell.id = prefixed(&cell.id);
                // A name that begins with the platform says both.
                let platform = cell.at.get("platform").cloned().unwrap_or_default();
                let rest = name.strip_prefix(platform.as_str()).filter(|_| !platform.is_empty());
                let says_both = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
                let axis = if says_both { "platform" } else { SIDE };
                cell.at.insert(axis.to_owned(), name.to_owned());
                result.cells.push(cell);
            }
            runs.extend(side.runs);
            if side.result.name != result.name {
                result.name = format!("{} and {}", result.name, side.result.name);
            }
            if side.result.rules != result.rules {
                result.rules = format!("{}: {}. {}: {}", names[0], result.rules, names[1], side.result.rules);
            }
        }
        result.axes.push(StudyAxis { name: SIDE.to_owned(), values: names.map(str::to_owned).into() });
        Subject::with(result, runs, &cells)
    }

    fn with(result: StudyResult, runs: Vec<Run>, of_run: &[String]) -> Subject {
        let place = |id: &String| result.cells.iter().position(|cell| cell.id == *id);
        let mut placed: Vec<(Run, Option<usize>)> = runs.into_iter().zip(of_run.iter().map(place)).collect();
        placed.sort_by(|a, b| a.0.record.started_at.cmp(&b.0.record.started_at));
        let (runs, cell_of) = placed.into_iter().unzip();
        let grid = Grid::new(&result);
        Subject { result, runs, cell_of, grid }
    }

    /// Whether the numbers are those of the simulator.
    pub(super) fn is_simulated(&self) -> bool {
        self.result.kind == ResultKind::Simulated
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, &CellResult)> {
        self.result.cells.iter().enumerate()
    }

    /// All runs of a cell, in the order of their start.
    pub(super) fn runs_of(&self, cell: usize) -> impl Iterator<Item = &Run> {
        self.runs.iter().zip(&self.cell_of).filter(move |(_, of)| **of == Some(cell)).map(|(run, _)| run)
    }

    /// The valid trials of a cell.
    pub(super) fn trials_of(&self, cell: usize) -> impl Iterator<Item = &Record> {
        let good = move |record: &&Record| {
            record.role == Role::Trial
                && record.verdict.status == Status::Valid
                && self.is_of_estimate(cell, record)
        };
        self.runs_of(cell).map(|run| &run.record).filter(good)
    }

    /// Whether a run has what its cell is estimated for: in a search, the highest value that held.
    pub(super) fn is_of_estimate(&self, cell: usize, record: &Record) -> bool {
        let Some(search) = &self.result.cells[cell].search else { return true };
        let workload = &record.workload;
        let value = workload.rate_per_s().unwrap_or_else(|| workload.parties().into());
        let held = search.steps.iter().filter(|step| step.held).map(|step| step.value);
        held.reduce(f64::max) == Some(value)
    }

    /// At most `most` of the cells for which `has` is true, evenly spaced.
    pub(super) fn evenly(&self, most: usize, has: impl Fn(usize) -> bool) -> Vec<usize> {
        let all: Vec<usize> = (0..self.result.cells.len()).filter(|place| has(*place)).collect();
        let step = all.len().div_ceil(most).max(1);
        let mut selected: Vec<usize> = all.iter().rev().step_by(step).copied().collect();
        selected.reverse();
        selected
    }

    /// The values of an estimate as a sample for comparisons.
    pub(super) fn sample<'a>(&self, cell: usize, estimate: &'a Estimate) -> Sample<'a> {
        let stopped = matches!(
            self.result.cells[cell].status,
            CellStatus::Converged | CellStatus::NotConverged | CellStatus::Open
        );
        match self.result.first_trials.filter(|_| stopped) {
            Some(first) => Sample::stopped(&estimate.values, first as usize),
            None => Sample::from(&estimate.values),
        }
    }

    /// The class of the server of a cell; `None` if unknown.
    pub(super) fn class_of(&self, cell: usize) -> Option<Class> {
        self.runs_of(cell).find_map(|run| run.record.platform.class)
    }

    /// Whether the cells have servers of both classes.
    pub(super) fn is_mixed(&self) -> bool {
        let has = |class| (0..self.result.cells.len()).any(|cell| self.class_of(cell) == Some(class));
        has(Class::Classic) && has(Class::Open)
    }
}

/// The class as a word; empty if unknown.
pub(super) fn class_name(class: Option<Class>) -> &'static str {
    class.map_or("", Class::name)
}
