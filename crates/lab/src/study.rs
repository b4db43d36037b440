//! Study files of the lab: loads them by name or path, and checks them.

use std::path::Path;

use klatch_instruments::counters::Hardware;
use klatch_record::lab::{KERNEL_SCHEDULER, Study};
use thiserror::Error;

use crate::boot::Boot;
use crate::kernels::Kernel;

/// A study of the lab that cannot be loaded.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Neither a shipped study nor a file has this name.
    #[error("there is no study {name} of the lab, and no such file; the studies are {names}")]
    Unknown {
        /// The name on the command line.
        name: String,
        /// Names of the shipped studies, separated by commas.
        names: String,
    },
    /// The file exists and cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// Path of the file.
        name: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a valid study.
    #[error("{name}: {cause}")]
    Invalid {
        /// Name of the study.
        name: String,
        /// The first problem in it.
        cause: String,
    },
}

/// The studies that are part of the program: name and text.
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    &[
        ("goodness-cost", include_str!("../../../studies/lab/goodness-cost.toml")),
        ("goodness-lines", include_str!("../../../studies/lab/goodness-lines.toml")),
        ("goodness-colour", include_str!("../../../studies/lab/goodness-colour.toml")),
        ("goodness-cpus", include_str!("../../../studies/lab/goodness-cpus.toml")),
        ("runqueue-history", include_str!("../../../studies/lab/runqueue-history.toml")),
        ("schedulers", include_str!("../../../studies/lab/schedulers.toml")),
        ("classic", include_str!("../../../studies/lab/classic.toml")),
        ("yield-policy", include_str!("../../../studies/lab/yield-policy.toml")),
        ("trade-schedulers", include_str!("../../../studies/lab/trade-schedulers.toml")),
        ("survive", include_str!("../../../studies/lab/survive.toml")),
        ("survive-smp", include_str!("../../../studies/lab/survive-smp.toml")),
    ]
}

/// Loads a shipped study by name, or a study file by path.
///
/// # Errors
/// See [`StudyError`].
pub fn load_study(name: &str) -> Result<Study, StudyError> {
    if let Some((name, text)) = shipped().iter().find(|(shipped, _)| *shipped == name) {
        return parse_study(name, text);
    }
    match std::fs::read_to_string(name) {
        Ok(text) => {
            let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
            parse_study(&stem, &text)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let names = shipped().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            Err(StudyError::Unknown { name: name.to_owned(), names })
        }
        Err(source) => Err(StudyError::Read { name: name.to_owned(), source }),
    }
}

fn parse_study(name: &str, text: &str) -> Result<Study, StudyError> {
    let invalid = |cause: String| StudyError::Invalid { name: name.to_owned(), cause };
    let study: Study = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
    check(&study).map_err(invalid)?;
    Ok(Study { name: name.to_owned(), text: text.to_owned(), ..study })
}

/// Checks what the types cannot: names of schedulers and kernels, ranges, and that every list has a value.
fn check(study: &Study) -> Result<(), String> {
    for scheduler in study.schedulers.iter().filter(|one| *one != KERNEL_SCHEDULER) {
        let name = scheduler.split(':').next().unwrap_or_default();
        klatch_schedulers::find(name).map_err(|error| error.to_string())?;
    }
    if let Some(kernel) = study.kernels.iter().find(|name| Kernel::find(name).is_none()) {
        let names = Kernel::all().iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
        return Err(format!("there is no kernel {kernel} in the lab; there are {names}"));
    }
    if let Some(caches) = study.counters.as_deref().filter(|caches| *caches != Boot::INSTRUCTIONS) {
        Hardware::load(caches).map_err(|error| error.to_string())?;
    }
    if let Some(cpus) = study.cpus.iter().find(|cpus| !(1..=64).contains(*cpus)) {
        return Err(format!("cpus must be 1..=64, got {cpus}"));
    }
    if let Some(name) = study.vary.keys().find(|name| !uses(study, name)) {
        return Err(format!("{name} varies, and the command has no {{{name}}}"));
    }
    let empty = [
        (study.schedulers.is_empty(), "schedulers"),
        (study.kernels.is_empty(), "kernels"),
        (study.cpus.is_empty(), "cpus"),
        (study.seeds.is_empty(), "seeds"),
        (study.commands.is_empty(), "command"),
        (study.vary.values().any(Vec::is_empty), "vary"),
    ];
    match empty.iter().find(|(is_empty, _)| *is_empty) {
        Some((_, what)) => Err(format!("{what} has no value, so there is nothing to run")),
        None => Ok(()),
    }
}

/// Whether a command contains `{name}`.
fn uses(study: &Study, name: &str) -> bool {
    let placeholder = format!("{{{name}}}");
    study.commands.iter().any(|command| command.contains(&placeholder))
}

#[cfg(test)]
mod tests {
    use klatch_record::lab::DEFAULT_KERNEL;

    use super::*;
    use crate::job::Job;

    const SMALL: &str = "question = '?'\nschedulers = ['fifo', 'o1:yield=2,warm_us=0']\nseeds = [1, 2]\n\
                         command = 'probe yield --tasks {tasks}'\nshow = []\n[vary]\ntasks = [5, 10]\n";

    #[test]
    fn every_shipped_study_is_valid() {
        for (name, _) in shipped() {
            let study = load_study(name).unwrap();
            assert!(!study.configurations().is_empty() && !study.show.is_empty(), "{name}");
        }
        assert_eq!(DEFAULT_KERNEL, Kernel::all()[0].name);
    }

    #[test]
    fn every_study_of_the_folder_is_shipped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/lab");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        let mut shipped: Vec<&str> = shipped().iter().map(|(name, _)| *name).collect();
        names.sort();
        shipped.sort_unstable();
        assert_eq!(names, shipped);
    }

    #[test]
    fn every_combination_is_a_boot_of_its_own() {
        let all = parse_study("small", SMALL).unwrap().configurations();
        assert_eq!(all.len(), 8);
        assert_eq!(all[0].id, "linux-6.18_1-cpus_fifo_tasks-5_seed-1");
        assert_eq!(all[7].commands, [["probe", "yield", "--tasks", "10"]]);
        let job = Job::new(&all[7], false);
        assert_eq!(
            job.commands[0].join(" "),
            "sched run o1 --out scheduler.json --knob yield=2 --knob warm_us=0 -- /klatch probe yield --tasks 10"
        );
        assert_ne!(job.start_us, Job::new(&all[6], false).start_us);
    }

    #[test]
    fn several_commands_are_one_boot_and_each_loads_the_scheduler_again() {
        let several =
            SMALL.replace("'probe yield --tasks {tasks}'", "['probe forks', 'probe yield --tasks {tasks}']");
        let all = parse_study("small", &several).unwrap().configurations();
        assert_eq!(all.len(), 8);
        let commands: Vec<String> =
            Job::new(&all[0], false).commands.iter().map(|command| command.join(" ")).collect();
        let under = "sched run fifo --out scheduler.json -- /klatch probe";
        assert_eq!(commands, [format!("{under} forks"), format!("{under} yield --tasks 5")]);
    }

    #[test]
    fn an_invalid_study_is_refused_with_its_problem() {
        let error =
            |from: &str, to: &str| parse_study("x", &SMALL.replace(from, to)).unwrap_err().to_string();
        assert!(error("'fifo'", "'cfs'").contains("there is no scheduler cfs"));
        assert!(error("{tasks}", "5").contains("tasks varies, and the command has no {tasks}"));
        assert!(error("[5, 10]", "[]").contains("vary has no value"));
        assert!(error("show = []", "show = []\ncpus = [65]").contains("cpus must be 1..=64, got 65"));
        assert!(load_study("nothing-of-the-kind").unwrap_err().to_string().contains("goodness-cost"));
    }
}
