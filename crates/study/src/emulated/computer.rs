//! Boots the emulated machine for the trials of a study.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use klatch_lab::{
    Architecture, Boot, BootKernel, Counting, Cpus, Image, Job, LabError, Snapshots, boot, machine_image,
    outcome, outcome_without_answer,
};
use klatch_record::lab::{Configuration, Outcome};

use super::expand::topology;
use crate::computed::Computer;

/// Boots the emulated machine once for each trial.
pub struct Emulated {
    /// The kernels, by their names in the study.
    pub kernels: BTreeMap<String, BootKernel>,
    /// Root file system of each architecture, without what a kernel or a scheduler needs.
    pub images: BTreeMap<Architecture, Image>,
    /// Memory of the machine, MB.
    pub memory_mb: u32,
    /// Arguments of the counters' plugin; `None` if nothing is counted.
    pub counters: Option<String>,
    /// What they count.
    pub counting: Option<Counting>,
    /// Longest duration of a boot, in the host's time.
    pub limit: Duration,
    /// Whether the machine of each trial boots anew for a second one, and the trial counts only if both gave the same output.
    pub twice: bool,
    /// Names of the numbers that the study shows.
    pub show: Vec<String>,
    /// Set to true to stop all machines at once.
    pub interrupted: Arc<AtomicBool>,
    /// Receives a line when a snapshot of a machine cannot be used or kept.
    pub notice: fn(&str),
}

impl Computer for Emulated {
    type Job = Configuration;
    type Trial = Outcome;
    type Error = LabError;

    fn compute(&self, cell: &Configuration, seed: u32, folder: &Path) -> Result<Outcome, LabError> {
        let kernel = &self.kernels[&cell.kernel];
        let one = cell.with_seed(seed);
        let image = machine_image(&self.images[&kernel.architecture], kernel, &one.scheduler)?;
        let topology =
            one.machine.as_deref().map(|text| topology(text).map_err(|cause| LabError::Machine { cause }));
        let cpus = topology.transpose()?.unwrap_or(Cpus::Number(one.cpus));
        let machine = Boot {
            kernel: &kernel.image,
            image,
            cpus,
            memory_mb: self.memory_mb,
            seed: one.seed,
            parameters: String::new(),
            job: Job::new(&one, self.counting),
            counters: self.counters.clone(),
            limit: self.limit,
            interrupted: &self.interrupted,
            snapshots: Snapshots::Kept(self.notice),
        };
        let answer = match boot(&machine) {
            Err(error) if !error.is_guest_failure() => return Err(error),
            answer => answer,
        };
        let mut outcome = match &answer {
            Ok(answer) => outcome(one, answer, &self.show),
            Err(why) => outcome_without_answer(one, why.to_string()),
        };
        if let Ok(answer) = &answer {
            let anew = Boot { snapshots: Snapshots::Anew, ..machine };
            if self.twice && boot(&anew)? != *answer {
                outcome.failure = Some("a second boot gave different output".to_owned());
            }
            answer.save_files(folder)?;
        }
        Ok(outcome)
    }

    fn failure<'a>(&self, trial: &'a Outcome) -> Option<&'a str> {
        trial.failure.as_deref()
    }

    fn metrics(&self, trial: &Outcome) -> Vec<(String, f64)> {
        self.show.iter().filter_map(|name| Some((name.clone(), trial.value(name)?))).collect()
    }
}
