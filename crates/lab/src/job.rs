//! The contract between the host and the emulated machine: the job goes in as a file of QEMU, the answer returns on a port.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use klatch_record::lab::{Configuration, KERNEL_SCHEDULER, LabCounts, Study};
use klatch_schedulers::SchedulerSpec;
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::image::place_of;

/// When the first command starts, µs of the machine's own clock. Booting takes less.
pub const START_US: u64 = 30_000_000;

/// When a machine stops for a snapshot, µs of its own clock: booting takes less, and what follows up to the first command fits in the rest.
pub(crate) const SETTLED_US: u64 = 29_000_000;

/// Name of the job among the files that QEMU has for the machine: JSON, `null` for a machine that stops for a snapshot.
pub(crate) const JOB_FILE: &str = "opt/klatch/job";

/// Name of the files that come with the job: a tar archive.
pub(crate) const DELIVERY_FILE: &str = "opt/klatch/files";

/// The mark at the end of a complete answer.
pub(crate) const END: &str = "\nklatch-lab-end\n";

/// Where `klatch sched run` writes the counters of the scheduler.
pub(crate) const SCHEDULER_FILE: &str = klatch_record::SCHEDULER;

/// Where `klatch lab counted` writes what the counters counted.
pub const COUNTERS_FILE: &str = klatch_record::COUNTERS;

/// The work of the emulated machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Klatch commands with arguments, without `klatch`, or other programs by their absolute paths. They run in order until one fails; if
    /// there are none, a shell runs.
    pub commands: Vec<Vec<String>>,
    /// When the first command starts, µs of the machine's own clock. The machine idles before, so the duration of the boot
    /// makes no difference, but a seed does.
    pub start_us: u64,
}

/// The reply of the emulated machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The commands that ran, in order; the last one may have failed.
    pub steps: Vec<Step>,
    /// Text files that the commands wrote to `/out`, by their path below it.
    pub files: BTreeMap<String, String>,
    /// Their other files, such as traces, in base64.
    pub binary_files: BTreeMap<String, String>,
    /// The machine's own clock when the last command ended, µs.
    pub uptime_us: u64,
}

/// The result of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The command, without `klatch`.
    pub command: Vec<String>,
    /// Exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Standard error; invalid UTF-8 is replaced.
    pub stderr: String,
}

impl Step {
    /// The line of standard error that says why the command failed: the last one that is an error of this program, which may be followed
    /// by its usage; else the last one. `None` if there is none.
    pub fn reason(&self) -> Option<&str> {
        let is_error = |line: &&str| ["klatch: ", "error: "].iter().any(|start| line.starts_with(start));
        self.stderr.lines().rfind(is_error).or_else(|| self.stderr.lines().last())
    }
}

impl Answer {
    /// What the counters of the machine counted; `None` if there were none.
    ///
    /// # Errors
    /// Their file is none of counts.
    pub fn counts(&self) -> Result<Option<LabCounts>, serde_json::Error> {
        self.files.get(COUNTERS_FILE).map(|text| serde_json::from_str(text)).transpose()
    }

    /// Writes all files below `folder`.
    ///
    /// # Errors
    /// A file cannot be written or has a name that leads out of the folder, or a binary one is not in base64.
    pub fn save_files(&self, folder: &Path) -> Result<(), LabError> {
        let failed = |source| LabError::File { what: "write results to", path: folder.to_owned(), source };
        self.write_files(folder).map_err(failed)
    }

    fn write_files(&self, folder: &Path) -> io::Result<()> {
        let write = |name: &str, content: &[u8]| {
            // The names are the machine's, and it runs any program.
            if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(io::Error::other(format!(
                    "the machine names a file {name:?}, which is not used"
                )));
            }
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(path, content)
        };
        self.files.iter().try_for_each(|(name, text)| write(name, text.as_bytes()))?;
        self.binary_files
            .iter()
            .try_for_each(|(name, encoded)| write(name, &BASE64.decode(encoded).map_err(io::Error::other)?))
    }
}

impl Job {
    /// The job of one boot of a study. Each command runs under a freshly loaded scheduler, and is counted while it is loaded.
    pub fn new(configuration: &Configuration, counting: Option<Counting>) -> Job {
        let under_scheduler = |command: &Vec<String>| match counting {
            Some(what) => under_scheduler(&configuration.scheduler, &counted(command.clone(), None, what)),
            None => under_scheduler(&configuration.scheduler, command),
        };
        // The seed shifts the start, and so everything that follows.
        let start_us = START_US + u64::from(configuration.seed) * 1_733;
        Job { commands: configuration.commands.iter().map(under_scheduler).collect(), start_us }
    }
}

/// Where another build of klatch is in the machine. Its processes have the same name.
pub(crate) const OTHER_PROGRAM: &str = "/other/klatch";

/// What the machine's counters count of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// All from its start to its end.
    Whole,
    /// The operations of `run` and `probe`, without what prepares them.
    Operations,
}

impl Counting {
    /// What the counters of a study count; `None` if nothing.
    pub fn of(study: &Study) -> Option<Counting> {
        study
            .counters
            .as_ref()
            .map(|_| if study.per_operation { Counting::Operations } else { Counting::Whole })
    }
}

/// A command that the machine's counters count, of this program or of another one in the machine.
pub fn counted(command: Vec<String>, program: Option<&str>, what: Counting) -> Vec<String> {
    let program = program.into_iter().flat_map(|program| ["--program", program]);
    let operations = (what == Counting::Operations).then_some("--operations");
    let words = ["lab", "counted"].into_iter().chain(program).chain(operations).chain(["--"]);
    words.map(str::to_owned).chain(command).collect()
}

/// A command under a scheduler: one of Klatch with its knobs, or a command that loads one, whose program is in the machine at its place
/// on the host.
pub(crate) fn under_scheduler(scheduler: &str, command: &[String]) -> Vec<String> {
    if scheduler == KERNEL_SCHEDULER {
        return command.to_vec();
    }
    let mut whole = vec!["sched".to_owned(), "run".to_owned()];
    match scheduler.parse() {
        Ok(SchedulerSpec::Program(program)) => {
            let place = program.path().ok().and_then(|path| place_of(&path).ok());
            whole.push(place.map_or(program.clone(), |place| program.at(&place)).to_string());
            whole.extend(["--out", SCHEDULER_FILE].map(str::to_owned));
        }
        _ => {
            let (name, knobs) = scheduler.split_once(':').unwrap_or((scheduler, ""));
            whole.extend([name, "--out", SCHEDULER_FILE].map(str::to_owned));
            for knob in knobs.split(',').filter(|knob| !knob.is_empty()) {
                whole.extend(["--knob".to_owned(), knob.to_owned()]);
            }
        }
    }
    whole.push("--".to_owned());
    if !command.first().is_some_and(|program| program.starts_with('/')) {
        whole.push("/klatch".to_owned());
    }
    whole.extend_from_slice(command);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let files = BTreeMap::from([(name.to_owned(), "text".to_owned())]);
        let answer = Answer { steps: Vec::new(), files, binary_files: BTreeMap::new(), uptime_us: 0 };
        let written = answer.write_files(&inner).map_err(|error| error.to_string());
        // Nothing beside the folder, also after an error.
        assert!(std::fs::read_dir(folder.path()).unwrap().all(|entry| entry.unwrap().path() == inner));
        assert_eq!(written.is_ok(), inner.join(name).is_file());
        written
    }

    #[test]
    fn files_of_the_machine_stay_in_their_folder() {
        written("results/record.json").unwrap();
        let absolute = std::env::temp_dir().join("klatch-escaped").display().to_string();
        for name in ["../escaped", "results/../../escaped", absolute.as_str()] {
            assert!(written(name).unwrap_err().contains("which is not used"), "{name}");
        }
    }
}
