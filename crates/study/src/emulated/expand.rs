//! Makes the cells of a study of the lab: every combination of kernels, CPUs, schedulers and varied values.

use std::collections::BTreeSet;

use klatch_lab::{Architecture, Boot, BootKernel, Cpus};
use klatch_record::lab::{Configuration, KERNEL_SCHEDULER, Study, VariedValue};
use klatch_record::{Build, ResultKind};
use klatch_simulator::TopologyError;

use crate::computed::{ComputedCell, ComputedPlan, SCHEDULER, axes_and_cells};
use crate::file::{Change, Dimension, StudyFile, StudyFileError, scheduler};

/// A study of the lab, ready to run.
pub struct EmulatedStudy {
    /// The file as data.
    pub study: Study,
    /// Its cells. Each becomes a boot by [`Configuration::with_seed`].
    pub plan: ComputedPlan<Configuration>,
}

impl StudyFile {
    /// The study of the lab in this file.
    ///
    /// # Errors
    /// The file is wrong, or names a kernel or scheduler that the lab does not have.
    pub fn emulated(&self, build: Build) -> Result<EmulatedStudy, StudyFileError> {
        expand(self, build)
    }
}

fn expand(file: &StudyFile, build: Build) -> Result<EmulatedStudy, StudyFileError> {
    let study: Study = file.parse()?;
    check(&study, file)?;
    let first = Configuration {
        id: String::new(),
        kernel: String::new(),
        cpus: 1,
        machine: None,
        scheduler: String::new(),
        varied: Vec::new(),
        seed: 0,
        commands: Vec::new(),
    };
    let (axes, mut cells) = axes_and_cells(first, &dimensions(&study, file), file)?;
    for ComputedCell { id, job, .. } in &mut cells {
        job.id.clone_from(id);
        job.commands = commands(&study, &job.varied);
    }
    let plan = ComputedPlan {
        head: file.head(&study.question, axes, build)?,
        kind: ResultKind::Emulated,
        cells,
        seeds: study.seeds.clone(),
        within: None,
        metric: study.show.first().cloned().unwrap_or_default(),
    };
    Ok(EmulatedStudy { study: Study { name: file.name(), ..study }, plan })
}

/// The settings of the machine, then `[vary]`.
fn dimensions(study: &Study, file: &StudyFile) -> Vec<Dimension<Change<Configuration>>> {
    fn dimension<T: ToString + Clone + 'static>(
        (name, key): (&str, &str),
        values: &[T],
        file: &StudyFile,
        change: fn(&mut Configuration, &str, T),
    ) -> Dimension<Change<Configuration>> {
        let with = |value: &T| -> (String, Change<Configuration>) {
            let (name, value) = (name.to_owned(), value.clone());
            (value.to_string(), Box::new(move |job| change(job, &name, value.clone())))
        };
        let values = values.iter().map(with).collect();
        Dimension { name: name.to_owned(), span: file.span_of(key), values }
    }
    let mut all = vec![
        dimension(("kernel", "kernels"), &study.kernels, file, |job, _, kernel| job.kernel = kernel),
        match study.machine.is_empty() {
            true => dimension(("cpus", "cpus"), &study.cpus, file, |job, _, cpus| job.cpus = cpus),
            false => dimension(("machine", "machine"), &study.machine, file, |job, _, machine| {
                // Checked before.
                job.cpus = topology(&machine).map_or(1, |cpus| cpus.number());
                job.machine = Some(machine);
            }),
        },
        dimension((SCHEDULER, "schedulers"), &study.schedulers, file, |job, _, spec| job.scheduler = spec),
    ];
    all.extend(study.vary.iter().map(|(name, values)| {
        dimension((name, "vary"), values, file, |job, name, value| {
            job.varied.push((name.to_owned(), value.to_string()));
        })
    }));
    all
}

/// The CPUs of a machine that a study names.
pub(super) fn topology(text: &str) -> Result<Cpus, String> {
    text.parse().map(Cpus::Topology).map_err(|error: TopologyError| error.to_string())
}

/// The commands with the varied values in place of their names, as words.
fn commands(study: &Study, varied: &[(String, String)]) -> Vec<Vec<String>> {
    let text = |name: &String, shown: &String| {
        let values = study.vary.get(name).into_iter().flatten();
        let found = values.into_iter().find(|value| value.to_string() == *shown);
        found.map_or_else(|| shown.clone(), VariedValue::value)
    };
    let fill = |command: &String| {
        let filled = varied.iter().fold(command.clone(), |command, (name, shown)| {
            command.replace(&placeholder(name), &text(name, shown))
        });
        let words = filled.split_whitespace().map(str::to_owned);
        with_json(words.collect())
    };
    study.commands.iter().map(fill).collect()
}

/// A probe prints its result as JSON, of which the study takes its numbers.
fn with_json(mut command: Vec<String>) -> Vec<String> {
    const JSON: &str = "--json";
    if command.first().is_some_and(|name| name == "probe") && !command.iter().any(|word| word == JSON) {
        command.push(JSON.to_owned());
    }
    command
}

/// What stands in a command for a value of `[vary]`.
fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

/// Checks what the types cannot: names of schedulers, kernels and caches, ranges, and that nothing varies in vain.
fn check(study: &Study, file: &StudyFile) -> Result<(), StudyFileError> {
    let wrong = |key: &str, message: String| Err(file.error_at(file.span_of(key), message));
    for name in study.schedulers.iter().filter(|one| *one != KERNEL_SCHEDULER) {
        if let Err(message) = scheduler(name) {
            return wrong("schedulers", message);
        }
    }
    // A version may be fetched after the study was written; what has another form can only be a mistake.
    let files = study.kernels.iter().filter(|name| !BootKernel::is_version(name));
    if let Some(Err(error)) = files.map(|name| BootKernel::check(name)).find(Result::is_err) {
        return wrong("kernels", error.to_string());
    }
    if let Some(Err(error)) = study.counters.as_deref().map(Boot::counters) {
        return wrong("counters", error.to_string());
    }
    if study.per_operation && study.counters.is_none() {
        return wrong("per_operation", "per_operation counts, so it needs counters".to_owned());
    }
    if let Some(cpus) = study.cpus.iter().find(|cpus| !(1..=64).contains(*cpus)) {
        return wrong("cpus", format!("cpus must be 1 to 64, got {cpus}"));
    }
    if !study.machine.is_empty() && !file.span_of("cpus").is_empty() {
        return wrong("machine", "machine says how many CPUs there are; leave out cpus".to_owned());
    }
    let counts = study.counters.is_some();
    let architectures: BTreeSet<_> =
        study.kernels.iter().map(|name| Architecture::of_kernel_name(name)).collect();
    let machine_error = |text: &String| match topology(text) {
        Ok(cpus) => {
            architectures.iter().find_map(|one| cpus.check(*one, counts).err()).map(|error| error.to_string())
        }
        Err(error) => Some(error),
    };
    if let Some(message) = study.machine.iter().find_map(machine_error) {
        return wrong("machine", message);
    }
    let is_used = |name: &String| study.commands.iter().any(|command| command.contains(&placeholder(name)));
    if let Some(name) = study.vary.keys().find(|name| !is_used(name)) {
        return wrong("vary", format!("{name} varies, and the command has no {{{name}}}"));
    }
    match (study.seeds.is_empty(), study.commands.is_empty()) {
        (true, _) => wrong("seeds", "seeds has no value, so there is nothing to run".to_owned()),
        (_, true) => wrong("command", "command has no value, so there is nothing to run".to_owned()),
        (false, false) => Ok(()),
    }
}
