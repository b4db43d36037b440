//! The axes in the tables of a study file: their names, their values, and what each value changes.

use std::ops::Range;

use klatch_platforms::Setting;
use klatch_runner::CrowdKind;
use klatch_schedulers::SchedulerSpec;
use toml::Spanned;

use super::draft::{Change, WorkloadChange};
use super::source::{Source, StudyFileError};
use super::{Axis, PlatformChoice, Scalar, StudyFile, Values};

/// The name of the kernel's own scheduler in study files.
const KERNELS_OWN: &str = "kernel";

/// A setting with one or more values.
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    pub(crate) values: Vec<(String, Change)>,
}

/// All dimensions but the platforms, in the order of the tables. `cpus_here` is the number of CPUs of this machine.
pub(crate) fn dimensions(
    file: &StudyFile,
    source: &Source<'_>,
    cpus_here: u32,
) -> Result<Vec<Dimension>, StudyFileError> {
    let mut all = Vec::new();
    let workload = &file.workload;
    let set = Change::Workload;
    numbers(&mut all, "rooms", &workload.rooms, |rooms| set(WorkloadChange::Rooms(rooms)));
    numbers(&mut all, "users", &workload.users, |users| set(WorkloadChange::Users(users)));
    numbers(&mut all, "count", &workload.count, |count| set(WorkloadChange::Count(count)));
    numbers(&mut all, "connections", &workload.connections, |count| set(WorkloadChange::Connections(count)));
    numbers(&mut all, "depth", &workload.depth, |depth| set(WorkloadChange::Depth(depth)));
    numbers(&mut all, "duration", &workload.duration, |duration| set(WorkloadChange::Duration(duration)));
    numbers(&mut all, "lines", &workload.lines, |lines| set(WorkloadChange::Lines(lines)));
    numbers(&mut all, "line", &workload.line, |line| set(WorkloadChange::Line(line)));
    numbers(&mut all, "directories", &workload.directories, |count| set(WorkloadChange::Directories(count)));
    numbers(&mut all, "readers", &workload.readers, |readers| set(WorkloadChange::Readers(readers)));
    numbers(&mut all, "block", &workload.block, |bytes| set(WorkloadChange::Block(bytes)));
    numbers(&mut all, "order", &workload.order, |order| set(WorkloadChange::Order(order)));
    numbers(&mut all, "files", &workload.files, |files| set(WorkloadChange::Files(files)));
    numbers(&mut all, "file_mib", &workload.file_mib, |mib| set(WorkloadChange::FileMib(mib)));
    numbers(&mut all, "verified", &workload.verified, |verified| set(WorkloadChange::Verified(verified)));
    numbers(&mut all, "traders", &workload.traders, |traders| set(WorkloadChange::Traders(traders)));
    numbers(&mut all, "quotes", &workload.quotes, |quotes| set(WorkloadChange::Quotes(quotes)));
    numbers(&mut all, "mix", &workload.mix, |mix| set(WorkloadChange::Mix(mix)));
    numbers(&mut all, "think", &workload.think, |think| set(WorkloadChange::Think(think)));
    numbers(&mut all, "database", &workload.database, |name: String| set(WorkloadChange::Database(name)));
    numbers(&mut all, "durable", &workload.durable, |durable| set(WorkloadChange::Durable(durable)));
    numbers(&mut all, "injection_rate", &workload.injection_rate, |rate| {
        set(WorkloadChange::InjectionRate(rate))
    });
    numbers(&mut all, "population", &workload.population, |rate| set(WorkloadChange::Population(rate)));
    numbers(&mut all, "ramp", &workload.ramp, |ramp| set(WorkloadChange::Ramp(ramp)));
    numbers(&mut all, "size", &workload.size, |size| set(WorkloadChange::Size(size)));
    numbers(&mut all, "pacing", &workload.pacing, Change::Pacing);
    numbers(&mut all, "window", &workload.window, Change::Window);
    numbers(&mut all, "rate", &workload.rate, Change::Rate);
    numbers(&mut all, "pause", &workload.pause, |pause| set(WorkloadChange::Pause(pause)));
    numbers(&mut all, "churn", &workload.churn, |churn| set(WorkloadChange::Churn(churn)));
    if let Some(cpus) = &file.cpus {
        all.push(cpu_counts(cpus, source, cpus_here)?);
    }
    for (name, values) in &file.server {
        all.push(match name.as_str() {
            "processes" => counts(name, "server", name, values, source, Change::Servers)?,
            _ => knob(name, name, values.get_ref(), values.span(), Change::Server),
        });
    }
    for (name, values) in &file.crowd {
        all.push(crowd(name, values, source)?);
    }
    for (name, values) in &file.sysctls {
        all.push(knob(name, name, values.get_ref(), values.span(), Change::Sysctl));
    }
    if let Some(schedulers) = &file.schedulers {
        all.push(scheduler_specs(schedulers, source)?);
    }
    for dimension in &all {
        if dimension.values.is_empty() {
            let message = format!("{} has no value, so there is nothing to run", dimension.name);
            return Err(source.error_at(dimension.span.clone(), message));
        }
    }
    Ok(all)
}

/// The dimensions of a platform's own knobs.
pub(crate) fn platform_dimensions(choice: &Spanned<PlatformChoice>) -> Vec<Dimension> {
    let knobs = choice.get_ref().knobs.iter();
    knobs.map(|(name, values)| knob(name, name, values, choice.span(), Change::Server)).collect()
}

fn numbers<T: Clone + std::fmt::Display>(
    all: &mut Vec<Dimension>,
    name: &str,
    values: &Values<T>,
    change: impl Fn(T) -> Change,
) {
    let Some(spanned) = values else { return };
    let values = spanned.get_ref().0.iter().map(|value| (value.to_string(), change(value.clone())));
    all.push(Dimension { name: name.to_owned(), span: spanned.span(), values: values.collect() });
}

fn knob(
    axis: &str,
    name: &str,
    values: &Axis<Scalar>,
    span: Range<usize>,
    change: fn(Setting) -> Change,
) -> Dimension {
    let set = |value: &Scalar| Setting { name: name.to_owned(), value: value.0.clone() };
    let values = values.0.iter().map(|value| (value.0.clone(), change(set(value)))).collect();
    Dimension { name: axis.to_owned(), span, values }
}

fn crowd(
    name: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
) -> Result<Dimension, StudyFileError> {
    let axis = format!("crowd.{name}");
    match name {
        "kind" => parse_values(
            &axis,
            values,
            source,
            "crowd kind must be native, native-threads or java",
            |value| match value {
                "native" => Some(Change::CrowdKind(CrowdKind::Native)),
                "native-threads" => Some(Change::CrowdKind(CrowdKind::NativeThreads)),
                "java" => Some(Change::CrowdKind(CrowdKind::Java)),
                _ => None,
            },
        ),
        "loops" => counts(&axis, "crowd", name, values, source, |loops| Change::CrowdLoops(loops as usize)),
        "shards" => counts(&axis, "crowd", name, values, source, Change::Shards),
        _ => Ok(knob(&axis, name, values.get_ref(), values.span(), Change::Crowd)),
    }
}

/// A dimension of numbers of processes or loops.
fn counts(
    axis: &str,
    owner: &str,
    name: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
    change: impl Fn(u32) -> Change,
) -> Result<Dimension, StudyFileError> {
    let rule = format!("{owner} {name} must be 1..=256");
    parse_values(axis, values, source, &rule, |value| {
        value.parse().ok().filter(|count| (1..=256).contains(count)).map(&change)
    })
}

/// A dimension with its values parsed by `change`; `rule` is the message for a value that it rejects.
fn parse_values(
    axis: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
    rule: &str,
    change: impl Fn(&str) -> Option<Change>,
) -> Result<Dimension, StudyFileError> {
    let one = |value: &Scalar| {
        let error = || source.error_at(values.span(), format!("{rule}, got {}", value.0));
        Ok((value.0.clone(), change(&value.0).ok_or_else(error)?))
    };
    let parsed = values.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: axis.to_owned(), span: values.span(), values: parsed })
}

fn cpu_counts(
    cpus: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
    here: u32,
) -> Result<Dimension, StudyFileError> {
    let mut counts: Vec<u32> = Vec::new();
    for value in &cpus.get_ref().0 {
        if value.0 == "doubling" {
            counts.extend(
                std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|&count| count < here),
            );
            counts.push(here);
            continue;
        }
        match value.0.parse() {
            Ok(count) if (1..=here).contains(&count) => counts.push(count),
            _ => {
                let message =
                    format!("cpus must be 1..={here} on this machine, or doubling; got {}", value.0);
                return Err(source.error_at(cpus.span(), message));
            }
        }
    }
    let values = counts.into_iter().map(|count| (count.to_string(), Change::Cpus(count))).collect();
    Ok(Dimension { name: "cpus".to_owned(), span: cpus.span(), values })
}

fn scheduler_specs(
    schedulers: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
) -> Result<Dimension, StudyFileError> {
    let one = |value: &Scalar| match value.0.as_str() {
        KERNELS_OWN => Ok((value.0.clone(), Change::Scheduler(None))),
        name => match name.parse::<SchedulerSpec>() {
            Ok(spec) => Ok((value.0.clone(), Change::Scheduler(Some(spec)))),
            Err(error) => Err(source.error_at(schedulers.span(), error)),
        },
    };
    let values = schedulers.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: "scheduler".to_owned(), span: schedulers.span(), values })
}
