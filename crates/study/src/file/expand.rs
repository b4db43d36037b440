//! Expands a study file into cells: every combination of all axes, each checked against this machine.

use std::collections::BTreeMap;

use klatch_platforms::{KnobError, PlatformError, TRANSPORT_KNOB};
use klatch_record::{StudyAxis, Transport, WorkloadError, WorkloadKind, error_chain};
use klatch_runner::{Plan, RunError, check_plan};
use toml::Spanned;

use super::dimensions::{Dimension, dimensions, platform_dimensions};
use super::draft::Draft;
use super::search::search;
use super::source::{Source, StudyFileError};
use super::workload::WorkloadTable;
use super::{PlatformChoice, StudyFile, name_of};
use crate::plan::{Cell, StudyBase, StudyPlan};
use crate::series::Rules;

/// A study with more cells is refused as a mistake.
const CELLS_MAX: usize = 10_000;
const PLATFORM: &str = "platform";

/// Expands a study file.
///
/// # Errors
/// A cell is impossible on every machine, or needs more than this machine has; the error has a position in the file. A
/// platform that is not installed only makes its cells absent.
pub(crate) fn expand(source: &Source<'_>, base: &StudyBase, seed: u64) -> Result<StudyPlan, StudyFileError> {
    let file = StudyFile::parse(source)?;
    if file.question.trim().is_empty() {
        return Err(source.error_at(0..0, "the question is empty: state in words what the study answers"));
    }
    if file.platforms.get_ref().is_empty() {
        return Err(source.error_at(file.platforms.span(), "platforms is empty, so there is nothing to run"));
    }
    let workload = WorkloadTable::of(&file, source)?;
    let cpus_here = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let common = dimensions(&file, &workload, source, cpus_here)?;
    let mut cells: Vec<Cell> = Vec::new();
    let mut unused = Vec::new();
    for choice in file.platforms.get_ref() {
        for (mut draft, spans) in drafts(base, workload.kind, choice, &common, source)? {
            unused.append(&mut draft.unused);
            if workload.is_classic {
                draft.make_classic().map_err(|error| source.error_at(choice.span(), error))?;
            }
            let at = draft.at.iter().cloned().collect();
            let plan = draft.plan(base, &file.instruments);
            let absent = absent(&plan, choice, &spans, source)?;
            let cell = Cell { id: String::new(), at, plan, absent };
            if cells.iter().all(|other| other.at != cell.at) {
                cells.push(cell);
            }
        }
    }
    refuse_unused(&unused, &cells, &workload, source)?;
    let axes = axes(&mut cells, &names(&file, &common));
    name_cells(&mut cells, &axes);
    let compared = file.rules.compared_axis(&axes, source)?;
    let rules = file.rules.rules(source)?;
    Ok(StudyPlan {
        compared,
        name: name_of(source.path),
        question: file.question.clone(),
        source: source.text.to_owned(),
        axes,
        cells,
        rules: Rules { metric: rules.metric.in_unit_of(workload.kind), ..rules },
        search: search(file.search, source)?,
        seed,
        options: BTreeMap::new(),
        build: base.build.clone(),
    })
}

/// Refuses a setting that has a meaning in no cell.
fn refuse_unused(
    unused: &[WorkloadError],
    cells: &[Cell],
    workload: &WorkloadTable<'_>,
    source: &Source<'_>,
) -> Result<(), StudyFileError> {
    for error in unused {
        let setting = error.setting();
        if cells.iter().all(|cell| !cell.at.contains_key(setting)) {
            let given = workload.settings().find(|(given, _)| given.name == setting);
            return Err(source.error_at(given.map_or(0..0, |(_, values)| values.span()), error));
        }
    }
    Ok(())
}

/// The position of each axis in the file, for errors.
type Spans = BTreeMap<String, std::ops::Range<usize>>;

fn drafts(
    base: &StudyBase,
    kind: WorkloadKind,
    choice: &Spanned<PlatformChoice>,
    common: &[Dimension],
    source: &Source<'_>,
) -> Result<Vec<(Draft, Spans)>, StudyFileError> {
    let own = platform_dimensions(choice);
    let all: Vec<&Dimension> = own.iter().chain(common).collect();
    let count = all.iter().map(|dimension| dimension.values.len()).try_fold(1usize, usize::checked_mul);
    if count.is_none_or(|count| count > CELLS_MAX) {
        return Err(source.error_at(
            choice.span(),
            format!("the axes make more than {CELLS_MAX} cells; shorten the lists"),
        ));
    }
    let mut first = Draft::new(base, &choice.get_ref().name, kind);
    let label = choice.get_ref().label.clone().unwrap_or_else(|| choice.get_ref().name.clone());
    first.at.push((PLATFORM.to_owned(), label));
    let mut drafts = vec![first];
    for dimension in &all {
        let with = |draft: &Draft| -> Vec<Draft> {
            let one = |(value, change): &(String, _)| {
                let mut draft = draft.clone();
                draft.apply(change);
                draft.at.push((dimension.name.clone(), value.clone()));
                draft
            };
            dimension.values.iter().map(one).collect()
        };
        drafts = drafts.iter().flat_map(with).collect();
    }
    let spans: Spans = all.iter().map(|dimension| (dimension.name.clone(), dimension.span.clone())).collect();
    let finish = |draft: Draft| match draft.finish() {
        Ok(draft) => Ok((draft, spans.clone())),
        Err(error) => {
            let span = spans.get(error.setting()).cloned().unwrap_or_else(|| choice.span());
            Err(source.error_at(span, error))
        }
    };
    drafts.into_iter().map(finish).collect()
}

/// Why a plan cannot be carried out now, although it could be later.
///
/// # Errors
/// The plan is impossible on every machine, or needs more than this machine has.
fn absent(
    plan: &Plan,
    choice: &Spanned<PlatformChoice>,
    spans: &Spans,
    source: &Source<'_>,
) -> Result<Option<String>, StudyFileError> {
    let span = |axis: &str| {
        let in_crowd = || spans.get(&format!("crowd.{axis}"));
        spans.get(axis).or_else(in_crowd).cloned().unwrap_or_else(|| choice.span())
    };
    Ok(match check_plan(plan) {
        Ok(_) => None,
        Err(RunError::Workload(error)) => return Err(source.error_at(span(error.setting()), error)),
        Err(error @ RunError::Needs(_)) => return Err(source.error_at(span("rooms"), error)),
        Err(RunError::Scheduler(error)) => Some(error_chain(&error)),
        Err(RunError::Platform(error)) => match *error {
            // A platform that is not installed can be installed later; any other error is in the file.
            error @ (PlatformError::Java { .. }
            | PlatformError::Program { .. }
            | PlatformError::Source { .. }) => Some(error_chain(&error)),
            // Not every platform of a study has each transport of its axis.
            PlatformError::Knob(error) if is_missing_transport(&error) => Some(error.to_string()),
            PlatformError::Knob(error) => {
                return Err(source.error_at(span(error.knob().unwrap_or_default()), error));
            }
            error => return Err(source.error_at(choice.span(), error)),
        },
        Err(error) => return Err(source.error_at(choice.span(), error)),
    })
}

/// Whether the platform lacks a transport that others have.
fn is_missing_transport(error: &KnobError) -> bool {
    let KnobError::Value { name, value, .. } = error else { return false };
    name == TRANSPORT_KNOB && value.parse::<Transport>().is_ok()
}

/// The names of all possible axes, in the order of tables: the platform, platforms' own knobs, and common dimensions.
fn names<'a>(file: &'a StudyFile, common: &'a [Dimension]) -> Vec<&'a str> {
    let own = file.platforms.get_ref().iter().flat_map(|choice| choice.get_ref().knobs.keys());
    let common = common.iter().map(|dimension| dimension.name.as_str());
    std::iter::once(PLATFORM).chain(own.map(String::as_str)).chain(common).collect()
}

/// The platform and all axes with more than one value. Other axes are removed from the cells.
fn axes(cells: &mut [Cell], names: &[&str]) -> Vec<StudyAxis> {
    let mut axes: Vec<StudyAxis> = Vec::new();
    for (name, value) in cells.iter().flat_map(|cell| &cell.at) {
        match axes.iter_mut().find(|axis| axis.name == *name) {
            Some(axis) if axis.values.contains(value) => {}
            Some(axis) => axis.values.push(value.clone()),
            None => axes.push(StudyAxis { name: name.clone(), values: vec![value.clone()] }),
        }
    }
    // A knob that only some cells have distinguishes them, even with one value.
    let everywhere = |name: &str| cells.iter().all(|cell| cell.at.contains_key(name));
    axes.retain(|axis| axis.name == PLATFORM || axis.values.len() > 1 || !everywhere(&axis.name));
    axes.sort_by_key(|axis| names.iter().position(|name| *name == axis.name));
    for cell in cells {
        cell.at.retain(|name, _| axes.iter().any(|axis| axis.name == *name));
    }
    axes
}

/// Gives each cell a unique name that is valid for a folder.
fn name_cells(cells: &mut [Cell], axes: &[StudyAxis]) {
    let mut taken = std::collections::BTreeSet::new();
    for cell in cells {
        let part = |axis: &StudyAxis| {
            let value = cell.at.get(&axis.name)?;
            Some(if axis.name == PLATFORM { value.clone() } else { format!("{}-{value}", axis.name) })
        };
        let name = axes.iter().filter_map(part).collect::<Vec<_>>().join("_");
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
        let name: String = name.chars().map(|letter| if is_valid(letter) { letter } else { '-' }).collect();
        let free = |name: &String| !taken.contains(name);
        let numbered = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
        cell.id = numbered.into_iter().find(free).expect("there are more numbers than cells");
        taken.insert(cell.id.clone());
    }
}
