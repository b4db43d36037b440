//! Makes the cells of a simulated study: every combination of its axes.

use std::collections::BTreeSet;

use klatch_record::{Build, MESSAGES_PER_S, METRICS, Metric, ResultKind};
use klatch_simulator::{Costs, Hardware, SchedulerSpec, Topology, Workload};

use super::file::{SimulatedFile, Values};
use super::job::SimulatedJob;
use crate::computed::{ComputedPlan, SCHEDULER, axes_and_cells};
use crate::file::{Change, Scalar, StudyFile, StudyFileError};

/// Fewest seeds: the spread of fewer says nothing.
const SEEDS_MIN: u32 = 3;

/// A setting with its values, each with what it changes in a job.
type Dimension = crate::file::Dimension<Change<SimulatedJob>>;

impl StudyFile {
    /// The plan of a simulated study. `host` reads the topology of this machine.
    ///
    /// # Errors
    /// The file is wrong.
    pub fn simulated(
        &self,
        build: Build,
        host: &dyn Fn() -> Result<Topology, String>,
    ) -> Result<ComputedPlan<SimulatedJob>, StudyFileError> {
        expand(self, build, host)
    }
}

fn expand(
    source: &StudyFile,
    build: Build,
    host: &dyn Fn() -> Result<Topology, String>,
) -> Result<ComputedPlan<SimulatedJob>, StudyFileError> {
    let file: SimulatedFile = source.parse()?;
    let (work, mut dimensions) = work(&file, source)?;
    dimensions.extend(file.pinned.as_ref().map(|values| pinned(values, source)).transpose()?);
    dimensions.push(machines(&file, source, host)?);
    dimensions.push(schedulers(&file, source)?);
    let costs = costs(&file, source)?;
    let hardware = Hardware::new(&costs, Topology::flat(1));
    let job = SimulatedJob { scheduler: SchedulerSpec::Fifo, hardware, work, pinned: false, costs };
    let (seeds, within) = seeds(&file, source)?;
    let metric = metric(&file, source)?;
    let (axes, cells) = axes_and_cells(job, &dimensions, source)?;
    Ok(ComputedPlan {
        head: source.head(&file.question, axes, build)?,
        kind: ResultKind::Simulated,
        cells,
        seeds,
        within,
        metric,
    })
}

/// The workload with the settings that have one value, and the dimensions of the others.
fn work(file: &SimulatedFile, source: &StudyFile) -> Result<(Workload, Vec<Dimension>), StudyFileError> {
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
        let mut all: Vec<(String, Change<SimulatedJob>)> = Vec::new();
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
            dimensions.push(dimension(setting, all, values));
        }
    }
    Ok((work, dimensions))
}

fn pinned(values: &Values, source: &StudyFile) -> Result<Dimension, StudyFileError> {
    let mut all: Vec<(String, Change<SimulatedJob>)> = Vec::new();
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
    Ok(dimension("pinned", all, values))
}

/// The machines, by their number of CPUs if each has another one.
fn machines(
    file: &SimulatedFile,
    source: &StudyFile,
    host: &dyn Fn() -> Result<Topology, String>,
) -> Result<Dimension, StudyFileError> {
    let values = &file.machine;
    let mut topologies = Vec::new();
    for text in &values.get_ref().0 {
        let topology = match text.0.as_str() {
            "host" => host(),
            path if path.ends_with(".json") => {
                let path = source.folder().join(path);
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
    let value = |(text, topology): (&Scalar, &Topology)| {
        let topology = *topology;
        let name = if by_size { topology.cpus().to_string() } else { text.0.clone() };
        let change: Change<SimulatedJob> = Box::new(move |job| job.hardware.topology = topology);
        (name, change)
    };
    let all = values.get_ref().0.iter().zip(&topologies).map(value).collect();
    Ok(dimension(if by_size { "cpus" } else { "machine" }, all, values))
}

fn schedulers(file: &SimulatedFile, source: &StudyFile) -> Result<Dimension, StudyFileError> {
    let values = &file.schedulers;
    let known = |text: &String| values.get_ref().0.iter().any(|scheduler| scheduler.0 == *text);
    if let Some((text, label)) = file.labels.iter().find(|(text, _)| !known(text)) {
        let message = format!("{text} is labelled and is not one of the schedulers");
        return Err(source.error_at(label.span(), message));
    }
    let mut all: Vec<(String, Change<SimulatedJob>)> = Vec::new();
    for text in &values.get_ref().0 {
        let spec: SchedulerSpec = text.0.parse().map_err(|error| source.error_at(values.span(), error))?;
        let name = file.labels.get(&text.0).map_or(&text.0, |label| label.get_ref());
        all.push((name.clone(), Box::new(move |job| job.scheduler = spec)));
    }
    Ok(dimension(SCHEDULER, all, values))
}

fn dimension(name: &str, values: Vec<(String, Change<SimulatedJob>)>, spanned: &Values) -> Dimension {
    Dimension { name: name.to_owned(), span: spanned.span(), values }
}

fn costs(file: &SimulatedFile, source: &StudyFile) -> Result<Costs, StudyFileError> {
    let Some(path) = &file.costs else { return Ok(Costs::pentium_iii()) };
    let name = path.get_ref();
    let (text, from) = match Costs::text(name) {
        Some(text) => (text.to_owned(), name.clone()),
        None => {
            let whole = source.folder().join(name);
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
fn seeds(file: &SimulatedFile, source: &StudyFile) -> Result<(Vec<u32>, Option<f64>), StudyFileError> {
    let rules = &file.rules;
    let number = *rules.seeds.get_ref();
    let least = match &rules.within_percent {
        Some(_) => 2 * ComputedPlan::<SimulatedJob>::SEEDS_MIN,
        None => SEEDS_MIN,
    };
    if !(least..=1000).contains(&number) {
        let message = format!("seeds must be {least} to 1,000, got {number}");
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

fn metric(file: &SimulatedFile, source: &StudyFile) -> Result<String, StudyFileError> {
    let Some(name) = &file.rules.metric else { return Ok(MESSAGES_PER_S.to_owned()) };
    let known: Vec<&'static Metric> = METRICS.iter().filter(|metric| metric.is_simulated).collect();
    if known.iter().any(|metric| metric.name == name.get_ref()) {
        return Ok(name.get_ref().clone());
    }
    let instead = Metric::instead_of(name.get_ref(), &known);
    Err(source.error_at(name.span(), format!("there is no metric {}; {instead}", name.get_ref())))
}
