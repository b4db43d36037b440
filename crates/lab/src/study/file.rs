//! Study files of the lab.

use std::path::Path;

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use thiserror::Error;

use crate::kernels::Kernel;
use crate::study::KERNELS_OWN;

/// A study of the lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name: the file's.
    #[serde(skip)]
    pub name: String,
    /// The file itself.
    #[serde(skip)]
    pub text: String,
    /// What it asks.
    pub question: String,
    /// Kernels.
    #[serde(default = "first_kernel")]
    pub kernels: Vec<String>,
    /// Numbers of CPUs.
    #[serde(default = "one")]
    pub cpus: Vec<u32>,
    /// Schedulers and what is set about them.
    pub schedulers: Vec<String>,
    /// Seeds: each shifts the start by a moment, and so makes an error bar.
    #[serde(default = "one")]
    pub seeds: Vec<u32>,
    /// A command of klatch, or several, one after another; `{name}` stands for a value of `[vary]`, `{seed}` for the seed.
    #[serde(rename = "command", deserialize_with = "one_or_several")]
    pub commands: Vec<String>,
    /// What varies.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<Value>>,
    /// Whether a command needs Java.
    #[serde(default)]
    pub java: bool,
    /// Memory of the machine, MB.
    #[serde(default = "memory")]
    pub memory_mb: u32,
    /// What the table shows, see [`crate::Outcome::value`].
    pub show: Vec<String>,
    /// Whether the lengths of the queue are told as a distribution.
    #[serde(default)]
    pub distribution: bool,
    /// Whether a line is laid through the costs of decisions by length of the queue.
    #[serde(default)]
    pub fit: bool,
}

/// A number or a word.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A word.
    Word(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Word(word) => word.fmt(f),
        }
    }
}

fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a command of klatch or a list of them is expected")]
    enum Commands {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Commands::deserialize(from)? {
        Commands::One(command) => vec![command],
        Commands::Several(commands) => commands,
    })
}

fn first_kernel() -> Vec<String> {
    vec![Kernel::all()[0].name.to_owned()]
}

fn one() -> Vec<u32> {
    vec![1]
}

fn memory() -> u32 {
    1024
}

/// Why a study of the lab cannot be had.
#[derive(Debug, Error)]
pub enum StudyError {
    /// There is none of that name, and no such file.
    #[error("there is no study {name} of the lab, and no such file; there are {names}")]
    Unknown {
        /// As it was asked for.
        name: String,
        /// All of them.
        names: String,
    },
    /// The file cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is wrong.
    #[error("{name}: {why}")]
    Wrong {
        /// The file.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// The studies that Klatch brings: name and text.
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    &[
        ("goodness-cost", include_str!("../../../../studies/lab/goodness-cost.toml")),
        ("goodness-cpus", include_str!("../../../../studies/lab/goodness-cpus.toml")),
        ("runqueue-history", include_str!("../../../../studies/lab/runqueue-history.toml")),
        ("schedulers", include_str!("../../../../studies/lab/schedulers.toml")),
        ("classic", include_str!("../../../../studies/lab/classic.toml")),
        ("yield-policy", include_str!("../../../../studies/lab/yield-policy.toml")),
        ("survive", include_str!("../../../../studies/lab/survive.toml")),
        ("survive-smp", include_str!("../../../../studies/lab/survive-smp.toml")),
    ]
}

impl Study {
    /// The study of that name, or in that file.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn load(name: &str) -> Result<Study, StudyError> {
        if let Some((name, text)) = shipped().iter().find(|(known, _)| *known == name) {
            return Study::parse(name, text);
        }
        match std::fs::read_to_string(name) {
            Ok(text) => {
                let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Study::parse(&stem, &text)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let names = shipped().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                Err(StudyError::Unknown { name: name.to_owned(), names })
            }
            Err(source) => Err(StudyError::Read { name: name.to_owned(), source }),
        }
    }

    /// The study of this text.
    ///
    /// # Errors
    /// See [`StudyError`].
    pub fn parse(name: &str, text: &str) -> Result<Study, StudyError> {
        let wrong = |why: String| StudyError::Wrong { name: name.to_owned(), why };
        let study: Study = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        study.check().map_err(wrong)?;
        Ok(Study { name: name.to_owned(), text: text.to_owned(), ..study })
    }

    fn check(&self) -> Result<(), String> {
        for scheduler in self.schedulers.iter().filter(|one| *one != KERNELS_OWN) {
            let name = scheduler.split(':').next().unwrap_or_default();
            klatch_schedulers::find(name).map_err(|error| error.to_string())?;
        }
        if let Some(kernel) = self.kernels.iter().find(|name| Kernel::find(name).is_none()) {
            let names = Kernel::all().iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
            return Err(format!("there is no kernel {kernel} in the lab; there are {names}"));
        }
        if let Some(cpus) = self.cpus.iter().find(|cpus| !(1..=64).contains(*cpus)) {
            return Err(format!("cpus must be 1..=64, got {cpus}"));
        }
        if let Some(name) = self.vary.keys().find(|name| !self.uses(name)) {
            return Err(format!("{name} varies, and the command has no {{{name}}}"));
        }
        let empty = [
            (self.schedulers.is_empty(), "schedulers"),
            (self.kernels.is_empty(), "kernels"),
            (self.cpus.is_empty(), "cpus"),
            (self.seeds.is_empty(), "seeds"),
            (self.commands.is_empty(), "command"),
            (self.vary.values().any(Vec::is_empty), "vary"),
        ];
        match empty.iter().find(|(is_empty, _)| *is_empty) {
            Some((_, what)) => Err(format!("{what} has no value, so there is nothing to run")),
            None => Ok(()),
        }
    }

    fn uses(&self, name: &str) -> bool {
        let place = format!("{{{name}}}");
        self.commands.iter().any(|command| command.contains(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::configurations;

    const SMALL: &str = "question = '?'\nschedulers = ['fifo', 'o1:yield=2,warm_us=0']\nseeds = [1, 2]\n\
                         command = 'probe yield --tasks {tasks}'\nshow = []\n[vary]\ntasks = [5, 10]\n";

    #[test]
    fn every_shipped_study_can_be_read() {
        for (name, _) in shipped() {
            let study = Study::load(name).unwrap();
            assert!(!configurations(&study).is_empty() && !study.show.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_combination_is_a_boot_of_its_own() {
        let all = configurations(&Study::parse("small", SMALL).unwrap());
        assert_eq!(all.len(), 8);
        assert_eq!(all[0].id, "linux-6.18_1-cpus_fifo_tasks-5_seed-1");
        assert_eq!(all[7].commands, [["probe", "yield", "--tasks", "10"]]);
        let job = all[7].job();
        assert_eq!(
            job.commands[0].join(" "),
            "sched run o1 --out scheduler.json --knob yield=2 --knob warm_us=0 -- /klatch probe yield --tasks 10"
        );
        assert_ne!(job.start_us, all[6].job().start_us);
    }

    #[test]
    fn several_commands_are_one_boot_and_each_finds_the_scheduler_anew() {
        let several =
            SMALL.replace("'probe yield --tasks {tasks}'", "['probe forks', 'probe yield --tasks {tasks}']");
        let jobs = configurations(&Study::parse("small", &several).unwrap());
        assert_eq!(jobs.len(), 8);
        let commands: Vec<String> = jobs[0].job().commands.iter().map(|command| command.join(" ")).collect();
        let under = "sched run fifo --out scheduler.json -- /klatch probe";
        assert_eq!(commands, [format!("{under} forks"), format!("{under} yield --tasks 5")]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told =
            |from: &str, to: &str| Study::parse("x", &SMALL.replace(from, to)).unwrap_err().to_string();
        assert!(told("'fifo'", "'cfs'").contains("there is no scheduler cfs"));
        assert!(told("{tasks}", "5").contains("tasks varies, and the command has no {tasks}"));
        assert!(told("[5, 10]", "[]").contains("vary has no value"));
        assert!(told("show = []", "show = []\ncpus = [65]").contains("cpus must be 1..=64, got 65"));
        assert!(Study::load("nothing-of-the-kind").unwrap_err().to_string().contains("goodness-cost"));
    }
}
