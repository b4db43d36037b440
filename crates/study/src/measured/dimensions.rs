//! The axes in the tables of a study file: their names, their values, and what each value changes.

use std::ops::Range;

use klatch_platforms::Setting;
use klatch_record::lab::KERNEL_SCHEDULER;
use klatch_record::{CONNECTING, Connecting};
use klatch_runner::CrowdKind;
use toml::Spanned;

use super::draft::Change;
use super::workload::WorkloadTable;
use super::{MeasuredFile, PlatformChoice};
use crate::file::{Axis, Scalar, StudyFile, StudyFileError, scheduler};

/// A setting with its values, each with what it changes in a plan.
pub(crate) type Dimension = crate::file::Dimension<Change>;

/// The key of a WebSocket's subprotocol in the table of how the crowd connects.
pub(super) const SUBPROTOCOL: &str = "subprotocol";

/// All dimensions but the platforms, in the order of the tables. `cpus_here` is the number of CPUs of this machine.
pub(crate) fn dimensions(
    file: &MeasuredFile,
    workload: &WorkloadTable<'_>,
    source: &StudyFile,
    cpus_here: u32,
) -> Result<Vec<Dimension>, StudyFileError> {
    let mut all = Vec::new();
    for (setting, values) in workload.settings() {
        let change = |value: &Scalar| (value.0.clone(), Change::Workload(setting.name, value.0.clone()));
        let changes = values.get_ref().0.iter().map(change).collect();
        all.push(Dimension { name: setting.name.to_owned(), span: values.span(), values: changes });
    }
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
    for (name, values) in &file.connecting {
        all.push(connecting(name, values, source)?);
    }
    for (name, values) in &file.sysctls {
        all.push(knob(name, name, values.get_ref(), values.span(), Change::Sysctl));
    }
    if let Some(schedulers) = &file.schedulers {
        all.push(scheduler_specs(schedulers, source)?);
    }
    Ok(all)
}

/// The dimensions of a platform's own knobs.
pub(crate) fn platform_dimensions(choice: &Spanned<PlatformChoice>) -> Vec<Dimension> {
    let knobs = choice.get_ref().knobs.iter();
    knobs.map(|(name, values)| knob(name, name, values, choice.span(), Change::Server)).collect()
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
    source: &StudyFile,
) -> Result<Dimension, StudyFileError> {
    let axis = format!("crowd.{name}");
    match name {
        "kind" => parse_values(
            &axis,
            values,
            source,
            "crowd kind must be native, native-threads or java",
            |value| CrowdKind::ALL.into_iter().find(|kind| kind.name() == value).map(Change::CrowdKind),
        ),
        "loops" => counts(&axis, "crowd", name, values, source, |loops| Change::CrowdLoops(loops as usize)),
        "shards" => counts(&axis, "crowd", name, values, source, Change::Shards),
        _ => Ok(knob(&axis, name, values.get_ref(), values.span(), Change::Crowd)),
    }
}

/// A setting of how the crowd connects. Its values are checked here.
fn connecting(
    name: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &StudyFile,
) -> Result<Dimension, StudyFileError> {
    let setting = CONNECTING.iter().find(|setting| setting.name == name);
    if setting.is_none() && name != SUBPROTOCOL {
        let names = CONNECTING.iter().map(|setting| setting.name).chain([SUBPROTOCOL]);
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(source.error_at(values.span(), format!("connecting has no {name}; it has {names}")));
    }
    let change = |value: &str| match setting {
        Some(setting) => {
            let set = setting.set(&mut Connecting::default(), value);
            set.map(|()| Change::Connecting(setting, value.to_owned()))
        }
        None => value.parse().map(Change::Subprotocol),
    };
    let one = |value: &Scalar| {
        let change = change(&value.0).map_err(|error| source.error_at(values.span(), error))?;
        Ok((value.0.clone(), change))
    };
    let parsed = values.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: name.to_owned(), span: values.span(), values: parsed })
}

/// A dimension of numbers of processes or loops.
fn counts(
    axis: &str,
    owner: &str,
    name: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &StudyFile,
    change: impl Fn(u32) -> Change,
) -> Result<Dimension, StudyFileError> {
    let rule = format!("{owner} {name} must be 1 to 256");
    parse_values(axis, values, source, &rule, |value| {
        value.parse().ok().filter(|count| (1..=256).contains(count)).map(&change)
    })
}

/// A dimension with its values parsed by `change`; `rule` is the message for a value that it rejects.
fn parse_values(
    axis: &str,
    values: &Spanned<Axis<Scalar>>,
    source: &StudyFile,
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
    source: &StudyFile,
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
                    format!("cpus must be 1 to {here} on this machine, or doubling; got {}", value.0);
                return Err(source.error_at(cpus.span(), message));
            }
        }
    }
    let values = counts.into_iter().map(|count| (count.to_string(), Change::Cpus(count))).collect();
    Ok(Dimension { name: "cpus".to_owned(), span: cpus.span(), values })
}

fn scheduler_specs(
    schedulers: &Spanned<Axis<Scalar>>,
    source: &StudyFile,
) -> Result<Dimension, StudyFileError> {
    let one = |value: &Scalar| match value.0.as_str() {
        KERNEL_SCHEDULER => Ok((value.0.clone(), Change::Scheduler(None))),
        name => match scheduler(name) {
            Ok(spec) => Ok((value.0.clone(), Change::Scheduler(Some(spec)))),
            Err(error) => Err(source.error_at(schedulers.span(), error)),
        },
    };
    let values = schedulers.get_ref().0.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Dimension { name: "scheduler".to_owned(), span: schedulers.span(), values })
}
