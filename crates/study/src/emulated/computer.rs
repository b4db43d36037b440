//! Boots the emulated machine for the trials of a study.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use klatch_lab::{Boot, Image, Job, LabError, boot, outcome, outcome_without_answer};
use klatch_record::lab::{Configuration, Outcome};

use crate::computed::Computer;

/// Boots the emulated machine once for each trial.
pub struct Emulated {
    /// Path of the image of a pinned kernel, by the kernel's name.
    pub kernel: fn(&str) -> Result<PathBuf, LabError>,
    /// Root file system.
    pub image: Image,
    /// Memory of the machine, MB.
    pub memory_mb: u32,
    /// Arguments of the counters' plugin; `None` if nothing is counted.
    pub counters: Option<String>,
    /// Longest duration of a boot, in the host's time.
    pub limit: Duration,
    /// Whether each trial boots a second time, and counts only if both gave the same output.
    pub twice: bool,
    /// Names of the numbers that the study shows.
    pub show: Vec<String>,
    /// Set to true to stop all machines at once.
    pub interrupted: Arc<AtomicBool>,
}

impl Computer for Emulated {
    type Job = Configuration;
    type Trial = Outcome;
    type Error = LabError;

    fn compute(&self, cell: &Configuration, seed: u32, folder: &Path) -> Result<Outcome, LabError> {
        let kernel = (self.kernel)(&cell.kernel)?;
        let one = cell.with_seed(seed);
        let machine = Boot {
            kernel: &kernel,
            image: self.image.clone(),
            cpus: one.cpus,
            memory_mb: self.memory_mb,
            seed: one.seed,
            job: Job::new(&one, self.counters.is_some()),
            counters: self.counters.clone(),
            limit: self.limit,
            interrupted: &self.interrupted,
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
            if self.twice && boot(&machine)? != *answer {
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
