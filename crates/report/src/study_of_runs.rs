//! Treats runs without a finished study as a study: runs with equal settings form a cell.

use std::collections::{BTreeMap, BTreeSet};

use klatch_record::settings::{Scope, Setting};
use klatch_record::{
    CellResult, CellStatus, Condition, Estimate, Judgement, MESSAGES_PER_S, METRICS, Metric, Record,
    Requirement, ResultKind, Role, STUDY_SCHEMA_NAME, Status, StudyAxis, StudyResult, Warning, Workload,
    WorkloadKind, conditions,
};
use klatch_stats::mean_interval;

use crate::read::{Run, Source};

/// Confidence of intervals without run rules that set another.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A study result made of the runs of a source, and the cell of each run.
pub(crate) fn study_of_runs(source: &Source) -> (StudyResult, Vec<String>) {
    let is_search = source.is_unfinished_search();
    let place = |run: &Run| match is_search {
        true => BTreeMap::from([("platform".to_owned(), run.record.platform.name.clone())]),
        false => place(run),
    };
    let mut places: Vec<BTreeMap<String, String>> = source.runs.iter().map(place).collect();
    let mut axes = axes(&places);
    if !is_search {
        axes.extend(axes_of_conditions(source, &mut places, &axes));
    }
    let id = |at: &BTreeMap<String, String>| id(at, &axes);
    let of_run: Vec<String> = places.iter().map(id).collect();
    let mut ids: Vec<String> = Vec::new();
    of_run.iter().for_each(|id| {
        if !ids.contains(id) {
            ids.push(id.clone())
        }
    });
    // A failed visit belongs to the cell of the other runs in its folder; without any, it forms a cell of its own.
    let cell_of = |folder: &String| {
        let run = source.runs.iter().position(|run| run.cell.as_ref() == Some(folder));
        run.map_or_else(|| folder.clone(), |run| of_run[run].clone())
    };
    let failures: Vec<(String, &String)> =
        source.failures.iter().map(|(folder, cause)| (cell_of(folder), cause)).collect();
    for (id, _) in &failures {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    let unfinished = source.study_file.as_deref();
    let cell = |id: &String| {
        let first = of_run.iter().position(|of| of == id);
        let at = axes.iter().map(|axis| {
            let value = first.map_or_else(|| id.clone(), |first| value(&places[first], axis).to_owned());
            (axis.name.clone(), value)
        });
        let runs = source.runs.iter().zip(&of_run).filter(|(_, of)| *of == id).map(|(run, _)| &run.record);
        // The steps of a search have different rates or sizes, of which there is no mean.
        let runs = runs.filter(|_| !is_search);
        let failures = failures.iter().filter(|(of, _)| of == id).map(|(_, cause)| (*cause).clone());
        cell(id, at.collect(), runs.collect(), failures.collect(), unfinished.is_some())
    };
    let cells: Vec<CellResult> = ids.iter().map(cell).collect();
    let name = match (unfinished, source.runs.first()) {
        (Some(_), _) => source.path.file_name().map_or("a study", |name| name.to_str().unwrap_or("a study")),
        (None, Some(run)) => &run.record.platform.name,
        (None, None) => "nothing",
    };
    let question = unfinished.and_then(|file| file.parse::<toml::Table>().ok());
    let question = question.and_then(|file| Some(file.get("question")?.as_str()?.to_owned()));
    let first = source.runs.first().map(|run| &run.record);
    let result = StudyResult {
        kind: ResultKind::Measured,
        schema: STUDY_SCHEMA_NAME.to_owned(),
        name: name.to_owned(),
        question: question.unwrap_or_default(),
        klatch: first.map_or_else(unknown, |record| record.klatch.clone()),
        started_at: first.map_or_else(String::new, |record| record.started_at.clone()),
        ended_at: source.runs.last().map_or_else(String::new, |run| run.record.started_at.clone()),
        seed: 0,
        options: BTreeMap::new(),
        rules: match unfinished {
            Some(_) => "not finished; the study can be resumed".to_owned(),
            None => "runs as they were started by hand; all valid trials count".to_owned(),
        },
        metric: MESSAGES_PER_S.to_owned(),
        first_trials: None,
        axes,
        cells,
        pairs: Vec::new(),
    };
    (result, of_run)
}

/// The value of a run on an axis; empty if its workload does not have the axis.
fn value<'a>(at: &'a BTreeMap<String, String>, axis: &StudyAxis) -> &'a str {
    at.get(&axis.name).map_or("", String::as_str)
}

/// The name of the cell of a run.
fn id(at: &BTreeMap<String, String>, axes: &[StudyAxis]) -> String {
    let parts: Vec<&str> = axes.iter().map(|axis| value(at, axis)).collect();
    parts.join(", ")
}

/// An axis for each condition in which runs differ that would be in one cell without it. Adds the values to
/// the places.
fn axes_of_conditions(
    source: &Source,
    places: &mut [BTreeMap<String, String>],
    axes: &[StudyAxis],
) -> Vec<StudyAxis> {
    let conditions: Vec<BTreeMap<String, String>> =
        source.runs.iter().map(|run| named_conditions(&run.record)).collect();
    let ids: Vec<String> = places.iter().map(|at| id(at, axes)).collect();
    let differs_in_a_cell = |name: &&String| {
        let mut of_cell: BTreeMap<&str, Option<&String>> = BTreeMap::new();
        let values = ids.iter().zip(conditions.iter().map(|one| one.get(*name)));
        values.into_iter().any(|(id, value)| *of_cell.entry(id).or_insert(value) != value)
    };
    let all: BTreeSet<&String> = conditions.iter().flat_map(BTreeMap::keys).collect();
    let axis = |name: &String| {
        let mut values = Vec::new();
        for (at, one) in places.iter_mut().zip(&conditions) {
            let value = one.get(name).cloned().unwrap_or_else(|| "none".to_owned());
            if !values.contains(&value) {
                values.push(value.clone());
            }
            at.insert(name.clone(), value);
        }
        StudyAxis { name: name.clone(), values }
    };
    all.into_iter().filter(differs_in_a_cell).map(axis).collect()
}

/// The conditions of a run, by name.
fn named_conditions(record: &Record) -> BTreeMap<String, String> {
    // A series may have several seeds, and commands show what other conditions say.
    let is_own =
        |condition: &Condition| condition.path() != "options.seed" && !condition.path().ends_with("command");
    let conditions = conditions(record).into_iter().filter(|(condition, _)| is_own(condition));
    conditions.map(|(condition, value)| (condition.name(), value)).collect()
}

fn unknown() -> klatch_record::Build {
    klatch_record::Build { version: env!("CARGO_PKG_VERSION").to_owned(), ..klatch_record::Build::default() }
}

/// The values of a run on all possible axes.
fn place(run: &Run) -> BTreeMap<String, String> {
    let Record { platform, crowd, workload, environment, .. } = &run.record;
    let set = |knobs: &BTreeMap<String, String>| {
        knobs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let all = [
        ("platform", platform.name.clone()),
        ("knobs", set(&platform.knobs)),
        ("crowd", crowd.kind.name().to_owned()),
        ("crowd.knobs", set(&crowd.knobs)),
        ("processes", platform.servers.to_string()),
        ("cpus", environment.cpus.to_string()),
        ("kernel", environment.kernel.clone()),
    ];
    all.into_iter().chain(workload_place(workload)).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The values of a workload on its axes: all settings but those that divide the parties among crowds.
fn workload_place(workload: &Workload) -> impl Iterator<Item = (&'static str, String)> {
    let settings = workload.kind().settings().iter().filter(|setting| setting.scope != Scope::Share);
    let value = |setting: &Setting| setting.value_of(workload).unwrap_or_else(|| "none".to_owned());
    settings.map(move |setting| (setting.name, value(setting)))
}

/// The names of all axes, in their order.
fn order() -> Vec<&'static str> {
    let settings = WorkloadKind::ALL.into_iter().flat_map(WorkloadKind::settings).map(|setting| setting.name);
    let mut order = vec!["platform", "knobs", "crowd", "crowd.knobs"];
    for name in settings.chain(["processes", "cpus", "kernel"]) {
        if !order.contains(&name) {
            order.push(name);
        }
    }
    order
}

/// The platform axis, and every axis on which the runs differ.
fn axes(places: &[BTreeMap<String, String>]) -> Vec<StudyAxis> {
    let axis = |name: &&str| {
        let mut values: Vec<String> = Vec::new();
        for value in places.iter().map(|place| place.get(*name).cloned().unwrap_or_default()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let given = values.iter().any(|value| !value.is_empty());
        let wanted = given && (values.len() > 1 || *name == "platform");
        wanted.then(|| StudyAxis { name: (*name).to_owned(), values })
    };
    let mut axes: Vec<StudyAxis> = order().iter().filter_map(axis).collect();
    // Numeric values are sorted, whatever the order of the runs.
    for axis in &mut axes {
        if axis.values.iter().all(|value| value.parse::<f64>().is_ok()) {
            axis.values.sort_by(|a, b| a.parse::<f64>().unwrap_or(0.0).total_cmp(&b.parse().unwrap_or(0.0)));
        }
    }
    axes
}

fn cell(
    id: &str,
    at: BTreeMap<String, String>,
    runs: Vec<&Record>,
    mut failures: Vec<String>,
    unfinished: bool,
) -> CellResult {
    let trials: Vec<&Record> = runs.into_iter().filter(|record| record.role == Role::Trial).collect();
    let (counted, spoilt): (Vec<&Record>, Vec<&Record>) =
        trials.iter().partition(|record| record.verdict.status == Status::Valid);
    failures.extend(spoilt.iter().map(|record| record.verdict.messages()));
    let status = match (counted.is_empty(), unfinished) {
        (_, true) => CellStatus::Open,
        (true, false) => CellStatus::Failed,
        (false, false) => CellStatus::Complete,
    };
    let number = counted.len() as u32;
    let verdict = match status {
        CellStatus::Open => format!("not finished: {number} valid trials so far"),
        CellStatus::Failed => "no valid trial".to_owned(),
        _ => format!("complete: {number} valid trial{}", if number == 1 { "" } else { "s" }),
    };
    let estimates = estimates(&counted);
    CellResult {
        requirements: requirements(&trials, &estimates),
        id: id.to_owned(),
        at,
        status,
        verdict,
        trials: number,
        estimates,
        failures,
        warnings: warnings(&counted),
        search: None,
    }
}

fn estimates(counted: &[&Record]) -> BTreeMap<String, Estimate> {
    let estimate = |metric: &klatch_record::Metric| {
        let values: Option<Vec<f64>> = counted.iter().map(|record| metric.of_record(record)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        let interval = mean_interval(&values, CONFIDENCE).ok();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
        Some((metric.name.to_owned(), Estimate { mean, low, high, values }))
    };
    METRICS.iter().filter(|metric| metric.is_estimated()).filter_map(estimate).collect()
}

/// The requirements that these trials were made under, judged by all of them.
fn requirements(trials: &[&Record], estimates: &BTreeMap<String, Estimate>) -> Vec<Judgement> {
    let Some(first) = trials.first() else { return Vec::new() };
    let asked = first.options.iter().flat_map(|options| &options.require);
    let sum = |metric: &Metric| Ok(trials.iter().filter_map(|record| metric.of_record(record)).sum());
    let judge = |text: &String| {
        let requirement = text.parse::<Requirement>().ok()?;
        Some(requirement.judge(first.workload.kind(), estimates, sum))
    };
    asked.filter_map(judge).collect()
}

fn warnings(counted: &[&Record]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in counted.iter().flat_map(|record| &record.warnings) {
        if warnings.iter().all(|other| other.kind != warning.kind) {
            warnings.push(warning.clone());
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use klatch_record::samples::record;
    use klatch_record::{RrWorkload, SchedulerInForce};

    use super::*;

    fn source(records: Vec<Record>) -> Source {
        let run = |record| Run { record, file: "trial-1.json".into(), cell: None };
        Source { runs: records.into_iter().map(run).collect(), ..Source::empty("results".into()) }
    }

    #[test]
    fn steps_of_an_unfinished_search_are_no_cells() {
        let mut source = source(vec![record(1, 1, 1.0), record(1, 2, 2.0)]);
        let Workload::Chat(chat) = &mut source.runs[1].record.workload else { panic!("it is a chat") };
        chat.rooms = 37;
        assert_eq!(study_of_runs(&source).0.cells.len(), 2);
        source.study_file = Some("question = 'How many?'\n[search]\nkind = 'rooms'\n".to_owned());
        let (result, of_run) = study_of_runs(&source);
        assert_eq!((result.cells.len(), of_run[0] == of_run[1]), (1, true));
        assert!(result.cells[0].status == CellStatus::Open && result.cells[0].estimates.is_empty());
        let answer = crate::report(&source).answer;
        assert_eq!(answer, "No answer yet: the search has made 2 runs and is not finished.");
    }

    #[test]
    fn runs_under_different_conditions_are_different_cells() {
        let plain = record(1, 1, 1.0);
        let mut scheduled = record(1, 2, 1.0);
        scheduled.environment.scheduler =
            Some(SchedulerInForce { name: "o1".into(), program_sha256: None, lost: None, counts: [].into() });
        let (result, of_run) = study_of_runs(&source(vec![plain.clone(), scheduled, plain.clone()]));
        assert_eq!(of_run, ["x, none", "x, o1", "x, none"]);
        let names: Vec<&str> = result.axes.iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!(names, ["platform", "schedulers"]);
        // Another platform has other conditions, and is a cell by its name already.
        let mut other = record(1, 3, 1.0);
        other.platform.name = "y".into();
        other.platform.class = None;
        assert_eq!(study_of_runs(&source(vec![plain, other])).1, ["x", "y"]);
    }

    #[test]
    fn runs_with_other_settings_of_the_workload_are_different_cells() {
        let mut pausing = record(1, 2, 1.0);
        let Workload::Chat(chat) = &mut pausing.workload else { panic!("the sample is chat") };
        chat.pause_s = 0.5;
        assert_eq!(study_of_runs(&source(vec![record(1, 1, 1.0), pausing])).1, ["x, 0", "x, 0.5"]);
    }

    #[test]
    fn runs_of_different_workloads_are_different_cells() {
        let chat = record(1, 1, 1.0);
        let rr = Record { workload: Workload::Rr(RrWorkload::default()), ..record(1, 2, 1.0) };
        let (result, _) = study_of_runs(&source(vec![chat, rr]));
        assert_eq!(result.cells.len(), 2);
    }
}
