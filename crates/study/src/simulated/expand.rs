//! Makes the cells of a study of the simulator: every combination of its axes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use include_dir::{Dir, include_dir};
use klatch_record::{Build, ResultKind, StudyAxis};
use klatch_simulator::{Costs, Hardware, SchedulerSpec, Topology, Workload};

use super::computer::{METRICS, simulated_metrics};
use super::file::{SimulatedFile, Values};
use super::job::SimulatedJob;
use crate::computed::{ComputedCell, ComputedPlan};
use crate::file::{Source, StudyFileError, name_of};
use crate::load::{LoadError, read_file};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../studies/simulated");

/// A study with more cells is refused as a mistake.
const CELLS_MAX: usize = 10_000;
/// Fewest seeds: the spread of fewer says nothing.
const SEEDS_MIN: u32 = 3;

/// The studies of the simulator that are part of Klatch: name and question.
pub fn shipped_simulated() -> Vec<(&'static str, String)> {
    let question = |text: &str| -> Option<String> {
        Some(text.parse::<toml::Table>().ok()?.get("question")?.as_str()?.to_owned())
    };
    let mut all: Vec<_> = files().map(|(name, text)| (name, question(text).unwrap_or_default())).collect();
    all.sort();
    all
}

fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.files().filter_map(|file| {
        Some((file.path().file_name()?.to_str()?.strip_suffix(".toml")?, file.contents_utf8()?))
    })
}

/// Loads a shipped study of the simulator by name, or a study file by path. `host` reads the topology of this machine.
///
/// # Errors
/// There is no such study, or it is wrong; the error has a position in the file.
pub fn load_simulated(
    name: &str,
    build: Build,
    host: &dyn Fn() -> Result<Topology, String>,
) -> Result<ComputedPlan<SimulatedJob>, LoadError> {
    let path = Path::new(name);
    if let Some((_, text)) = files().find(|(shipped, _)| *shipped == name) {
        return Ok(expand(&Source { path: &path.with_extension("toml"), text }, build, host)?);
    }
    let known = || shipped_simulated().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let text = read_file(path, known)?;
    Ok(expand(&Source { path, text: &text }, build, host)?)
}

/// One value of an axis, and what it changes in a job.
type Change = dyn Fn(&mut SimulatedJob);

struct Dimension {
    name: String,
    values: Vec<(String, Box<Change>)>,
}

pub(super) fn expand(
    source: &Source<'_>,
    build: Build,
    host: &dyn Fn() -> Result<Topology, String>,
) -> Result<ComputedPlan<SimulatedJob>, StudyFileError> {
    let file = SimulatedFile::parse(source)?;
    if file.question.trim().is_empty() {
        return Err(source.error_at(0..0, "the question is empty: state in words what the study answers"));
    }
    let (work, mut dimensions) = work(&file, source)?;
    dimensions.extend(file.pinned.as_ref().map(|values| pinned(values, source)).transpose()?);
    dimensions.push(machines(&file, source, host)?);
    dimensions.push(schedulers(&file, source)?);
    let costs = costs(&file, source)?;
    let hardware = Hardware::new(&costs, Topology::flat(1));
    let job = SimulatedJob { scheduler: SchedulerSpec::Fifo, hardware, work, pinned: false, costs };
    let number: usize = dimensions.iter().map(|dimension| dimension.values.len()).product();
    if number > CELLS_MAX {
        return Err(source.error_at(0..0, format!("{number} cells are too many; {CELLS_MAX} are allowed")));
    }
    let mut cells = vec![(Vec::new(), job)];
    for dimension in &dimensions {
        let with_each = |(at, job): &(Vec<(String, String)>, SimulatedJob)| {
            let (at, job) = (at.clone(), job.clone());
            dimension.values.iter().map(move |(value, change)| {
                let (mut at, mut job) = (at.clone(), job.clone());
                at.push((dimension.name.clone(), value.clone()));
                change(&mut job);
                (at, job)
            })
        };
        cells = cells.iter().flat_map(with_each).collect();
    }
    let (seeds, within) = seeds(&file, source)?;
    let metric = metric(&file, source)?;
    let axes =
        dimensions.iter().filter(|dimension| dimension.values.len() > 1 || dimension.name == "scheduler");
    let axis = |dimension: &Dimension| StudyAxis {
        name: dimension.name.clone(),
        values: dimension.values.iter().map(|(value, _)| value.clone()).collect(),
    };
    Ok(ComputedPlan {
        name: name_of(source.path),
        question: file.question.clone(),
        source: source.text.to_owned(),
        kind: ResultKind::Simulated,
        axes: axes.map(axis).collect(),
        cells: cells.into_iter().map(|(at, job)| cell(at, job)).collect(),
        seeds,
        within,
        metric,
        options: BTreeMap::new(),
        build,
    })
}

fn cell(at: Vec<(String, String)>, job: SimulatedJob) -> ComputedCell<SimulatedJob> {
    let part = |(name, value): &(String, String)| {
        let value = value.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.', "-");
        format!("{name}-{value}")
    };
    let id = at.iter().map(part).collect::<Vec<_>>().join("_");
    ComputedCell { id, at: at.into_iter().collect(), job }
}

/// The workload with the settings that have one value, and the dimensions of the others.
fn work(file: &SimulatedFile, source: &Source<'_>) -> Result<(Workload, Vec<Dimension>), StudyFileError> {
    let Some(kind) = file.work.get("kind") else {
        let message = format!("[work] has no kind; there are {}", Workload::NAMES.join(", "));
        return Err(source.error_at(0..0, message));
    };
    let [name] = kind.get_ref().0.as_slice() else {
        return Err(source.error_at(kind.span(), "a study has one kind of work"));
    };
    let mut work = Workload::named(&name.0).map_err(|error| source.error_at(kind.span(), error))?;
    let mut dimensions = Vec::new();
    for (setting, values) in file.work.iter().filter(|(name, _)| *name != "kind") {
        let mut all: Vec<(String, Box<Change>)> = Vec::new();
        for value in &values.get_ref().0 {
            let number = match value.0.as_str() {
                "on" => "1".to_owned(),
                "off" => "0".to_owned(),
                text => text.to_owned(),
            };
            let changed = work.clone().with(setting, &number);
            let changed = changed.map_err(|error| source.error_at(values.span(), error))?;
            if values.get_ref().0.len() == 1 {
                work = changed;
                continue;
            }
            let setting = setting.clone();
            let change = move |job: &mut SimulatedJob| {
                job.work = job.work.clone().with(&setting, &number).expect("it was accepted before");
            };
            all.push((value.0.clone(), Box::new(change)));
        }
        if values.get_ref().0.len() != 1 {
            dimensions.push(dimension(setting, all, values, source)?);
        }
    }
    Ok((work, dimensions))
}

fn pinned(values: &Values, source: &Source<'_>) -> Result<Dimension, StudyFileError> {
    let mut all: Vec<(String, Box<Change>)> = Vec::new();
    for value in &values.get_ref().0 {
        let pinned = match value.0.as_str() {
            "on" => true,
            "off" => false,
            other => {
                let message = format!("pinned is true or false, not {other}");
                return Err(source.error_at(values.span(), message));
            }
        };
        all.push((value.0.clone(), Box::new(move |job| job.pinned = pinned)));
    }
    dimension("pinned", all, values, source)
}

/// The machines, by their number of CPUs if each has another one.
fn machines(
    file: &SimulatedFile,
    source: &Source<'_>,
    host: &dyn Fn() -> Result<Topology, String>,
) -> Result<Dimension, StudyFileError> {
    let values = &file.machine;
    let mut topologies = Vec::new();
    for text in &values.get_ref().0 {
        let topology = match text.0.as_str() {
            "host" => host(),
            path if path.ends_with(".json") => {
                let path = source.path.parent().unwrap_or(Path::new("")).join(path);
                let read = std::fs::read_to_string(&path);
                let read = read.map_err(|error| format!("cannot read {}: {error}", path.display()));
                read.and_then(|json| Topology::from_lscpu(&json).map_err(|error| error.to_string()))
            }
            line => line.parse().map_err(|error: klatch_simulator::TopologyError| error.to_string()),
        };
        topologies.push(topology.map_err(|message| source.error_at(values.span(), message))?);
    }
    let sizes: BTreeSet<usize> = topologies.iter().map(Topology::cpus).collect();
    let by_size = sizes.len() == topologies.len();
    let value = |(text, topology): (&crate::file::Scalar, &Topology)| {
        let topology = *topology;
        let name = if by_size { topology.cpus().to_string() } else { text.0.clone() };
        let change: Box<Change> = Box::new(move |job| job.hardware.topology = topology);
        (name, change)
    };
    let all = values.get_ref().0.iter().zip(&topologies).map(value).collect();
    dimension(if by_size { "cpus" } else { "machine" }, all, values, source)
}

fn schedulers(file: &SimulatedFile, source: &Source<'_>) -> Result<Dimension, StudyFileError> {
    let values = &file.schedulers;
    let known = |text: &String| values.get_ref().0.iter().any(|scheduler| scheduler.0 == *text);
    if let Some((text, label)) = file.labels.iter().find(|(text, _)| !known(text)) {
        let message = format!("{text} is labelled and is not one of the schedulers");
        return Err(source.error_at(label.span(), message));
    }
    let mut all: Vec<(String, Box<Change>)> = Vec::new();
    for text in &values.get_ref().0 {
        let spec: SchedulerSpec = text.0.parse().map_err(|error| source.error_at(values.span(), error))?;
        let name = file.labels.get(&text.0).map_or(&text.0, |label| label.get_ref());
        all.push((name.clone(), Box::new(move |job| job.scheduler = spec)));
    }
    dimension("scheduler", all, values, source)
}

fn dimension(
    name: &str,
    values: Vec<(String, Box<Change>)>,
    spanned: &Values,
    source: &Source<'_>,
) -> Result<Dimension, StudyFileError> {
    if values.is_empty() {
        let message = format!("{name} has no value, so there is nothing to simulate");
        return Err(source.error_at(spanned.span(), message));
    }
    Ok(Dimension { name: name.to_owned(), values })
}

fn costs(file: &SimulatedFile, source: &Source<'_>) -> Result<Costs, StudyFileError> {
    let Some(path) = &file.costs else { return Ok(Costs::pentium_iii()) };
    let name = path.get_ref();
    let (text, from) = match Costs::text(name) {
        Some(text) => (text.to_owned(), name.clone()),
        None => {
            let whole = source.path.parent().unwrap_or(Path::new("")).join(name);
            let text = std::fs::read_to_string(&whole).map_err(|error| {
                let known = Costs::NAMES.join(" and ");
                let message = format!(
                    "cannot read {}: {error}; without a file there are the costs {known}",
                    whole.display()
                );
                source.error_at(path.span(), message)
            });
            (text?, whole.display().to_string())
        }
    };
    let wrong = |error| format!("{from}: {}", klatch_record::error_chain(&error));
    Costs::parse(&text).map_err(|error| source.error_at(path.span(), wrong(error)))
}

/// The seeds, and the width at which a cell has enough of them.
fn seeds(file: &SimulatedFile, source: &Source<'_>) -> Result<(Vec<u32>, Option<f64>), StudyFileError> {
    let rules = &file.rules;
    let number = *rules.seeds.get_ref();
    let least = match &rules.within_percent {
        Some(_) => 2 * ComputedPlan::<SimulatedJob>::SEEDS_MIN,
        None => SEEDS_MIN,
    };
    if !(least..=1000).contains(&number) {
        let message = format!("seeds must be {least}..=1000, got {number}");
        return Err(source.error_at(rules.seeds.span(), message));
    }
    let within = match &rules.within_percent {
        Some(percent) if !(*percent.get_ref() > 0.0 && *percent.get_ref() < 100.0) => {
            let message = format!("within_percent must be above 0 and below 100, got {}", percent.get_ref());
            return Err(source.error_at(percent.span(), message));
        }
        Some(percent) => Some(percent.get_ref() / 100.0),
        None => None,
    };
    Ok(((1..=number).collect(), within))
}

fn metric(file: &SimulatedFile, source: &Source<'_>) -> Result<String, StudyFileError> {
    let Some(name) = &file.rules.metric else { return Ok(METRICS[0].0.to_owned()) };
    let known: BTreeMap<_, _> = METRICS.into_iter().collect();
    if known.contains_key(name.get_ref().as_str()) {
        return Ok(name.get_ref().clone());
    }
    let message =
        format!("there is no metric {}; there are {}", name.get_ref(), simulated_metrics().join(", "));
    Err(source.error_at(name.span(), message))
}
