//! A study of the lab: the file as data, and its boots.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// The kernel of a study that names none.
pub const DEFAULT_KERNEL: &str = "6.18";

/// The value of `schedulers` that stands for the kernel's own scheduler.
pub const KERNEL_SCHEDULER: &str = "kernel";

/// A study of the lab: every list is an axis, and every combination of the axes is a cell. Seeds are its trials.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "EmulatedStudy"))]
pub struct Study {
    /// Name of the file without its extension.
    #[serde(skip)]
    pub name: String,
    /// The question that the study answers.
    pub question: String,
    /// Kernels: pinned ones (`6.18`), those that were fetched from Debian (`6.12`), or files. Cells of a version that is not here are left out.
    #[serde(default = "default_kernels")]
    pub kernels: Vec<String>,
    /// CPUs of the emulated machine, 1 to 64.
    #[serde(default = "one")]
    pub cpus: Vec<u32>,
    /// Machines in place of `cpus`: `8 cpus`, `2 nodes x 2 llcs x 4 cores x 2 threads`.
    #[serde(default)]
    pub machine: Vec<String>,
    /// Schedulers with their knobs (`o1:yield=2`), or [`KERNEL_SCHEDULER`].
    pub schedulers: Vec<String>,
    /// Each seed shifts the start of the commands a little. Repeats with several seeds give an interval.
    #[serde(default = "one")]
    pub seeds: Vec<u32>,
    /// Klatch commands of one boot, in order. `{name}` stands for a value of `vary`, `{seed}` for the seed.
    #[serde(rename = "command", deserialize_with = "one_or_several")]
    #[cfg_attr(feature = "schema", schemars(with = "Commands"))]
    pub commands: Vec<String>,
    /// Values of each `{name}`.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<VariedValue>>,
    /// Whether a command needs Java in the machine.
    #[serde(default)]
    pub java: bool,
    /// Memory of the machine, MB.
    #[serde(default = "default_memory_mb")]
    pub memory_mb: u32,
    /// Caches that the counters model, by preset or file, or `instructions`; without it nothing is counted.
    #[serde(default)]
    pub counters: Option<String>,
    /// Whether the counters count only the operations of `run` and `probe`, from when all users have joined to the last delivery. The report
    /// then has their costs by routine.
    #[serde(default)]
    pub per_operation: bool,
    /// Columns of the table, by the names of `Outcome::value`.
    pub show: Vec<String>,
    /// Whether the report shows the distribution of queue lengths.
    #[serde(default)]
    pub distribution: bool,
    /// Whether the report fits lines to the cost of a decision, and to columns of the counters, by queue length.
    #[serde(default)]
    pub fit: bool,
}

/// A value of `[vary]` in a study file.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum VariedValue {
    /// An integer, printed in decimal.
    Number(i64),
    /// Any text, such as a whole command.
    Text(String),
    /// A text with a name by which tables show it.
    Named {
        /// Its name.
        name: String,
        /// The text that stands in the command.
        value: String,
    },
}

impl VariedValue {
    /// What stands in the command.
    pub fn value(&self) -> String {
        match self {
            VariedValue::Named { value, .. } => value.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for VariedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariedValue::Number(number) => number.fmt(f),
            VariedValue::Text(text) | VariedValue::Named { name: text, .. } => text.fmt(f),
        }
    }
}

/// One boot of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Unique within the study, and valid as the name of a folder; it ends with the seed.
    pub id: String,
    /// Name of a pinned kernel: `6.18`.
    pub kernel: String,
    /// CPUs of the emulated machine.
    pub cpus: u32,
    /// What they share: `2 nodes x 2 llcs x 4 cores x 2 threads`. Without it they are cores of one socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The scheduler with its knobs (`goodness:version=24`), or [`KERNEL_SCHEDULER`].
    pub scheduler: String,
    /// Names of what `vary` sets, and of their values.
    pub varied: Vec<(String, String)>,
    /// Seed of QEMU, and of the moment when the commands start; 0 in a cell without one.
    pub seed: u32,
    /// Klatch commands that run under the scheduler, in order.
    pub commands: Vec<Vec<String>>,
}

impl Study {
    /// A key that sorts boots in the order of the study: by kernel, CPUs, scheduler, varied values and seed.
    pub fn order(&self, boot: &Configuration) -> Vec<Option<usize>> {
        fn place<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
            all.iter().position(|other| other == one)
        }
        let varied = self.vary.iter().map(|(name, values)| {
            let (_, value) = boot.varied.iter().find(|(varied, _)| varied == name)?;
            values.iter().position(|other| other.to_string() == *value)
        });
        let machine = [
            place(&self.kernels, &boot.kernel),
            place(&self.cpus, &boot.cpus),
            boot.machine.as_ref().and_then(|machine| place(&self.machine, machine)),
            place(&self.schedulers, &boot.scheduler),
        ];
        machine.into_iter().chain(varied).chain([place(&self.seeds, &boot.seed)]).collect()
    }
}

impl Configuration {
    /// The boot of this cell with a seed.
    pub fn with_seed(&self, seed: u32) -> Configuration {
        let fill = |word: &String| word.replace("{seed}", &seed.to_string());
        Configuration {
            id: format!("{}_seed-{seed}", self.id),
            seed,
            commands: self.commands.iter().map(|command| command.iter().map(fill).collect()).collect(),
            ..self.clone()
        }
    }
}

/// A command of klatch, or a list of them.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a command of klatch or a list of them is expected")]
enum Commands {
    One(String),
    Several(Vec<String>),
}

fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Commands::deserialize(from)? {
        Commands::One(command) => vec![command],
        Commands::Several(commands) => commands,
    })
}

fn default_kernels() -> Vec<String> {
    vec![DEFAULT_KERNEL.to_owned()]
}

fn one() -> Vec<u32> {
    vec![1]
}

fn default_memory_mb() -> u32 {
    1024
}
