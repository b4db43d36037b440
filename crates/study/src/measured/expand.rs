//! Expands a study file into cells: every combination of all axes, each checked against this machine.

use std::collections::BTreeMap;

use klatch_platforms::{KnobError, PlatformError};
use klatch_record::{Requirement, WorkloadError, WorkloadKind, error_chain};
use klatch_runner::{Plan, RunError, check_plan};
use toml::Spanned;

use super::dimensions::{Dimension, dimensions, platform_dimensions};
use super::draft::Draft;
use super::search::search;
use super::workload::WorkloadTable;
use super::{MeasuredFile, PlatformChoice};
use crate::file::{Grid, Levels, Scalar, StudyFile, StudyFileError, combinations};
use crate::plan::{Cell, StudyBase, StudyPlan};
use crate::series::Rules;

const PLATFORM: &str = "platform";

/// The plan of a visit before it has a name, and why it cannot run on this machine.
type Visit = (Plan, Option<String>);

impl StudyFile {
    /// The plan of a measured study. `base` is what a study file does not set.
    ///
    /// # Errors
    /// A cell is impossible on every machine, or needs more than this machine has. A platform that is not installed only makes
    /// its cells absent.
    pub fn measured(&self, base: &StudyBase, seed: u64) -> Result<StudyPlan, StudyFileError> {
        expand(self, base, seed)
    }
}

fn expand(source: &StudyFile, base: &StudyBase, seed: u64) -> Result<StudyPlan, StudyFileError> {
    let file: MeasuredFile = source.parse()?;
    if file.platforms.get_ref().is_empty() {
        return Err(source.error_at(file.platforms.span(), "platforms is empty, so there is nothing to run"));
    }
    let workload = WorkloadTable::of(&file, source)?;
    let cpus_here = klatch_host::machine::allowed_cpus().max(1);
    let common = dimensions(&file, &workload, source, cpus_here)?;
    let mut visits: Vec<(Levels, Visit)> = Vec::new();
    let mut unused = Vec::new();
    for choice in file.platforms.get_ref() {
        let (drafts, spans) = drafts(base, workload.kind, choice, &common, source)?;
        for (at, mut draft) in drafts {
            unused.append(&mut draft.unused);
            if workload.is_volanomark {
                draft.make_volanomark().map_err(|error| source.error_at(choice.span(), error))?;
            }
            let instruments = file.instruments.as_ref().map_or(&[][..], |all| all.get_ref());
            let plan = draft.plan(base, instruments);
            let absent = absent(&plan, choice, &spans, source)?;
            if visits.iter().all(|(other, _)| *other != at) {
                visits.push((at, (plan, absent)));
            }
        }
    }
    refuse_unused(&unused, &visits, &workload, source)?;
    let Grid { axes, cells } = Grid::new(visits, &names(&file, &common), PLATFORM);
    let table = match (base.preset, &file.search) {
        (None, _) => file.rules.clone(),
        (Some(preset), None) => file.rules.of_preset(preset),
        (Some(preset), Some(search)) => {
            let message =
                format!("a search has visits of its own, so it cannot have the preset {}", preset.name());
            return Err(source.error_at(search.span(), message));
        }
    };
    let compared = table.compared_axis(&axes, source)?;
    let rules = table.rules(source)?;
    let warmup = rules.duet.warmup.filter(|_| !table.is_duet());
    let cell = |(id, at, (plan, absent)): (_, _, Visit)| {
        let plan = Plan { warmup, ..plan };
        Cell { id, at, plan, absent }
    };
    let mut plan = StudyPlan {
        requirements: Vec::new(),
        compared,
        head: source.head(&file.question, axes, base.build.clone())?,
        cells: cells.into_iter().map(cell).collect(),
        rules: Rules { metric: rules.metric.in_unit_of(workload.kind), ..rules },
        search: search(file.search, source)?,
        seed,
    };
    for (metric, limits) in &file.require {
        for Scalar(limit) in &limits.get_ref().0 {
            let requirement = format!("{metric} {limit}").parse::<Requirement>();
            let added = requirement.and_then(|requirement| plan.require(requirement));
            added.map_err(|error| source.error_at(limits.span(), error))?;
        }
    }
    Ok(plan)
}

/// Refuses a setting that has a meaning in no cell.
fn refuse_unused(
    unused: &[WorkloadError],
    visits: &[(Levels, Visit)],
    workload: &WorkloadTable<'_>,
    source: &StudyFile,
) -> Result<(), StudyFileError> {
    for error in unused {
        let setting = error.setting();
        if visits.iter().all(|(at, _)| !at.contains_key(setting)) {
            let given = workload.settings().find(|(given, _)| given.name == setting);
            return Err(source.error_at(given.map_or(0..0, |(_, values)| values.span()), error));
        }
    }
    Ok(())
}

/// The position of each axis in the file, for errors.
type Spans = BTreeMap<String, std::ops::Range<usize>>;

/// The drafts of a platform with their levels, and the position of each axis.
fn drafts(
    base: &StudyBase,
    kind: WorkloadKind,
    choice: &Spanned<PlatformChoice>,
    common: &[Dimension],
    source: &StudyFile,
) -> Result<(Vec<(Levels, Draft)>, Spans), StudyFileError> {
    let own = platform_dimensions(choice);
    let all: Vec<&Dimension> = own.iter().chain(common).collect();
    let first = Draft::new(base, &choice.get_ref().name, kind);
    let label = choice.get_ref().label.clone().unwrap_or_else(|| choice.get_ref().name.clone());
    let at = Levels::from([(PLATFORM.to_owned(), label)]);
    let drafts = combinations((at, first), &all, Draft::apply, source, choice.span())?;
    let spans: Spans = all.iter().map(|dimension| (dimension.name.clone(), dimension.span.clone())).collect();
    let finish = |(mut at, draft): (Levels, Draft)| match draft.finish(&mut at) {
        Ok(draft) => Ok((at, draft)),
        Err(error) => {
            let span = spans.get(error.setting()).cloned().unwrap_or_else(|| choice.span());
            Err(source.error_at(span, error))
        }
    };
    let finished = drafts.into_iter().map(finish).collect::<Result<_, _>>()?;
    Ok((finished, spans))
}

/// Why a plan cannot run on this machine; `None` if it can.
fn absent(
    plan: &Plan,
    choice: &Spanned<PlatformChoice>,
    spans: &Spans,
    source: &StudyFile,
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
            PlatformError::Knob(error @ KnobError::Transport { .. }) => Some(error.to_string()),
            PlatformError::Knob(error) => {
                return Err(source.error_at(span(error.knob().unwrap_or_default()), error));
            }
            error => return Err(source.error_at(choice.span(), error)),
        },
        Err(error) => return Err(source.error_at(choice.span(), error)),
    })
}

/// The names of all possible axes, in the order of tables: the platform, platforms' own knobs, and common dimensions.
fn names<'a>(file: &'a MeasuredFile, common: &'a [Dimension]) -> Vec<&'a str> {
    let own = file.platforms.get_ref().iter().flat_map(|choice| choice.get_ref().knobs.keys());
    let common = common.iter().map(|dimension| dimension.name.as_str());
    std::iter::once(PLATFORM).chain(own.map(String::as_str)).chain(common).collect()
}
