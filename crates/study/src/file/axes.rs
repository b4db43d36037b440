//! From the tables of a study file to axes: names, values, and what each value changes.

use std::ops::Range;

use klatch_platforms::Setting;
use klatch_runner::CrowdKind;
use klatch_schedulers::Wish;
use toml::Spanned;

use super::draft::Change;
use super::place::{Source, StudyFileError};
use super::{Axis, PlatformChoice, Scalar, StudyFile, Values};

/// The scheduler that the kernel has itself.
const KERNELS_OWN: &str = "kernel";

/// Something that a study sets or varies.
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
    pub(crate) values: Vec<(String, Change)>,
}

/// All axes but the platforms, in the order of the file's tables; `cpus_here` is what this machine has.
pub(crate) fn dimensions(
    file: &StudyFile,
    source: &Source<'_>,
    cpus_here: u32,
) -> Result<Vec<Dimension>, StudyFileError> {
    let mut all = Vec::new();
    let workload = &file.workload;
    numbers(&mut all, "rooms", &workload.rooms, Change::Rooms);
    numbers(&mut all, "users", &workload.users, Change::Users);
    numbers(&mut all, "count", &workload.count, Change::Count);
    numbers(&mut all, "size", &workload.size, Change::Size);
    numbers(&mut all, "pacing", &workload.pacing, Change::Pacing);
    numbers(&mut all, "window", &workload.window, Change::Window);
    numbers(&mut all, "rate", &workload.rate, Change::Rate);
    numbers(&mut all, "pause", &workload.pause, Change::Pause);
    if let Some(cpus) = &file.cpus {
        all.push(cpus_of(cpus, source, cpus_here)?);
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
        all.push(schedulers_of(schedulers, source)?);
    }
    for dimension in &all {
        if dimension.values.is_empty() {
            let message = format!("{} has no value, so there is nothing to run", dimension.name);
            return Err(source.wrong(dimension.span.clone(), message));
        }
    }
    Ok(all)
}

/// The axes of a platform's own knobs.
pub(crate) fn of_platform(choice: &Spanned<PlatformChoice>) -> Vec<Dimension> {
    let knobs = choice.get_ref().knobs.iter();
    knobs.map(|(name, values)| knob(name, name, values, choice.span(), Change::Server)).collect()
}

fn numbers<T: Copy + std::fmt::Display>(
    all: &mut Vec<Dimension>,
    name: &str,
    values: &Values<T>,
    change: fn(T) -> Change,
) {
    let Some(spanned) = values else { return };
    let values = spanned.get_ref().0.iter().map(|&value| (value.to_string(), change(value)));
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
        "kind" => each(&axis, values, source, "crowd kind must be native, native-threads or java", |value| {
            match value {
                "native" => Some(Change::CrowdKind(CrowdKind::Native)),
                "native-threads" => Some(Change::CrowdKind(CrowdKind::NativeThreads)),
                "java" => Some(Change::CrowdKind(CrowdKind::Java)),
                _ => None,
            }
        }),
        "loops" => counts(&axis, "crowd", name, values, source, |loops| Change::CrowdLoops(loops as usize)),
        "shards" => counts(&axis, "crowd", name, values, source, Change::Shards),
        _ => Ok(knob(&axis, name, values.get_ref(), values.span(), Change::Crowd)),
    }
}

/// An axis of processes or loops.
fn counts(
    axis: &str,
    whose: &str,
    name: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
    change: impl Fn(u32) -> Change,
) -> Result<Dimension, StudyFileError> {
    let rule = format!("{whose} {name} must be 1..=256");
    each(axis, values, source, &rule, |value| {
        value.parse().ok().filter(|count| (1..=256).contains(count)).map(&change)
    })
}

fn each(
    axis: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
    rule: &str,
    change: impl Fn(&str) -> Option<Change>,
) -> Result<Dimension, StudyFileError> {
    let one = |value: &Scalar| {
        let wrong = || source.wrong(values.span(), format!("{rule}, got {}", value.0));
        Ok((value.0.clone(), change(&value.0).ok_or_else(wrong)?))
    };
    let made = values.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: axis.to_owned(), span: values.span(), values: made })
}

fn cpus_of(
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
                return Err(source.wrong(cpus.span(), message));
            }
        }
    }
    let values = counts.into_iter().map(|count| (count.to_string(), Change::Cpus(count))).collect();
    Ok(Dimension { name: "cpus".to_owned(), span: cpus.span(), values })
}

fn schedulers_of(
    schedulers: &Spanned<Axis<Scalar>>,
    source: &Source<'_>,
) -> Result<Dimension, StudyFileError> {
    let one = |value: &Scalar| match value.0.as_str() {
        KERNELS_OWN => Ok((value.0.clone(), Change::Scheduler(None))),
        name => match name.parse::<Wish>() {
            Ok(wish) => Ok((value.0.clone(), Change::Scheduler(Some(wish)))),
            Err(error) => Err(source.wrong(schedulers.span(), error)),
        },
    };
    let values = schedulers.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: "scheduler".to_owned(), span: schedulers.span(), values })
}
