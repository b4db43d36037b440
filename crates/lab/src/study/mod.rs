//! Studies of the lab: one configuration per boot, all that the file names.

mod file;
mod found;
mod outcome;
mod table;

pub use file::{Study, StudyError, shipped};
pub use found::{Costs, Distribution, Group, Mean, costs, distribution, groups};
pub use outcome::Outcome;
pub use table::summary;

use serde::{Deserialize, Serialize};

use crate::boot::{Job, START_US};

/// One boot of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its name, fit for a folder.
    pub id: String,
    /// The kernel.
    pub kernel: String,
    /// CPUs.
    pub cpus: u32,
    /// The scheduler and what is set about it: `goodness:version=24`; `kernel` is the kernel's own.
    pub scheduler: String,
    /// What varies besides, and its value.
    pub varied: Vec<(String, String)>,
    /// Seed.
    pub seed: u32,
    /// What is run under the scheduler, one after another: commands of klatch.
    pub commands: Vec<Vec<String>>,
}

/// The kernel's own scheduler.
pub(crate) const KERNELS_OWN: &str = "kernel";

/// Where `klatch sched run` leaves what the scheduler counted.
pub(crate) const SCHEDULER_FILE: &str = "scheduler.json";

/// All boots of a study.
pub fn configurations(study: &Study) -> Vec<Configuration> {
    let mut varied: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, values) in &study.vary {
        let with = |chosen: &Vec<(String, String)>| {
            let chosen = chosen.clone();
            values.iter().map(move |value| {
                let mut chosen = chosen.clone();
                chosen.push((name.clone(), value.to_string()));
                chosen
            })
        };
        varied = varied.iter().flat_map(with).collect();
    }
    let mut all = Vec::new();
    for kernel in &study.kernels {
        for &cpus in &study.cpus {
            for scheduler in &study.schedulers {
                for chosen in &varied {
                    for &seed in &study.seeds {
                        all.push(configuration(study, kernel, cpus, scheduler, chosen, seed));
                    }
                }
            }
        }
    }
    all
}

fn configuration(
    study: &Study,
    kernel: &str,
    cpus: u32,
    scheduler: &str,
    varied: &[(String, String)],
    seed: u32,
) -> Configuration {
    let fill = |command: &String| {
        let seed = ("seed".to_owned(), seed.to_string());
        let all = varied.iter().chain([&seed]);
        let filled = all
            .fold(command.clone(), |command, (name, value)| command.replace(&format!("{{{name}}}"), value));
        filled.split_whitespace().map(str::to_owned).collect()
    };
    let mut id = vec![format!("linux-{kernel}"), format!("{cpus}-cpus"), scheduler.replace([':', ','], "-")];
    id.extend(varied.iter().map(|(name, value)| format!("{name}-{}", value.replace([' ', '/'], "-"))));
    id.push(format!("seed-{seed}"));
    Configuration {
        id: id.join("_"),
        kernel: kernel.to_owned(),
        cpus,
        scheduler: scheduler.to_owned(),
        varied: varied.to_vec(),
        seed,
        commands: study.commands.iter().map(fill).collect(),
    }
}

impl Configuration {
    /// What the emulated machine does for it. Each command finds the scheduler freshly loaded.
    pub fn job(&self) -> Job {
        let commands = self.commands.iter().map(|command| self.under_scheduler(command)).collect();
        // Boots take less; a seed shifts all that comes after.
        Job { commands, start_us: START_US + u64::from(self.seed) * 1_733 }
    }

    fn under_scheduler(&self, command: &[String]) -> Vec<String> {
        let mut whole = Vec::new();
        if self.scheduler != KERNELS_OWN {
            let (name, knobs) = self.scheduler.split_once(':').unwrap_or((&self.scheduler, ""));
            whole.extend(["sched", "run", name, "--out", SCHEDULER_FILE].map(str::to_owned));
            for knob in knobs.split(',').filter(|knob| !knob.is_empty()) {
                whole.extend(["--knob".to_owned(), knob.to_owned()]);
            }
            whole.extend(["--", "/klatch"].map(str::to_owned));
        }
        whole.extend_from_slice(command);
        whole
    }
}
