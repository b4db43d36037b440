//! The folder of a study: `study.toml`, `cells/<cell>/block-<n>/<run>.json` or `cells/<cell>/seed-<n>/trial.json`, and `result.json`
//! at the end. Every record is written as soon as its run has ended, so that an interrupted study can be resumed.

use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_record::{
    BEGUN, BOOT, DuetStart, FAILURE, Record, Role, START_OF_PAIR, StudyResult, create_folder, save,
    save_json, save_text,
};
use klatch_runner::{RunError, make_folder, next_stem, now, point_latest_at};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{StoreError, StudyRunError};

const STUDY: &str = "study.toml";
const RESULT: &str = "result.json";

/// The folder of a study in progress. It is locked, so that no other process can carry out the study.
pub struct Store {
    folder: PathBuf,
    start: Start,
    _lock: Lock,
}

/// Facts that were fixed at the start of the study.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Start {
    started_at: String,
    seed: u64,
}

struct Lock(File);

impl Drop for Lock {
    /// Unlocks explicitly. A child between fork and exec also has the file open, so closing it here is not enough.
    fn drop(&mut self) {
        // On failure the lock ends when every process has closed the file.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// The stored runs of one block of a cell.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) warmups: Vec<Record>,
    pub(crate) trials: Vec<Record>,
    /// Why the visit failed, if it did.
    pub(crate) failure: Option<String>,
}

/// One start of a pair in a study of duets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredStart {
    Complete(DuetStart),
    /// It failed for this reason.
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct Failure {
    cause: String,
}

impl Store {
    /// Creates and locks a new folder below `out` for the study file `source`.
    ///
    /// # Errors
    /// The folder cannot be created or written.
    pub fn begin(out: &Path, name: &str, source: &str, seed: u64) -> Result<Store, StudyRunError> {
        let in_out = |source| RunError::Folder { out: out.to_owned(), source };
        let folder = make_folder(out, name, Timestamp::now()).map_err(in_out)?;
        save_text(source, &folder.join(STUDY))?;
        let start = Start { started_at: now(), seed };
        save_json(&start, &folder.join(BEGUN))?;
        Store::lock(folder, start)
    }

    /// Locks the folder of an interrupted study with the study file `source`.
    ///
    /// # Errors
    /// The study file has changed, another process holds the lock, or the folder cannot be read.
    pub fn resume(folder: &Path, source: &str) -> Result<Store, StudyRunError> {
        let path = folder.join(STUDY);
        let read = |path: &Path| {
            let wrong = |cause| StoreError::Read { path: path.to_owned(), cause };
            std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
        };
        if read(&path)? != source {
            return Err(StoreError::Changed { path }.into());
        }
        let path = folder.join(BEGUN);
        let start = serde_json::from_str(&read(&path)?)
            .map_err(|error| StoreError::Read { path, cause: error.to_string() })?;
        Store::lock(folder.to_owned(), start)
    }

    /// The newest folder below `out` that holds the study of this name.
    pub fn newest(out: &Path, name: &str) -> Option<PathBuf> {
        let folders = std::fs::read_dir(out).ok()?.flatten().map(|entry| entry.path());
        let named = |folder: &PathBuf| {
            // The name is `<time>-<name>`, with a number if two studies began in the same second.
            let text = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let rest = text.split_once("Z-").map_or("", |(_, rest)| rest);
            let number = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            rest == name || number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        folders.filter(|folder| folder.join(BEGUN).is_file()).filter(named).max()
    }

    fn lock(folder: PathBuf, start: Start) -> Result<Store, StudyRunError> {
        let wrong = |cause: String| StoreError::Read { path: folder.clone(), cause };
        let file = File::open(folder.join(BEGUN)).map_err(|error| wrong(error.to_string()))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Store { folder, start, _lock: Lock(file) }),
            Err(Errno::WOULDBLOCK) => Err(StoreError::Busy { folder }.into()),
            Err(error) => Err(wrong(error.to_string()).into()),
        }
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Start time of the study, RFC 3339 in UTC.
    pub(crate) fn started_at(&self) -> &str {
        &self.start.started_at
    }

    /// The seed that the study was started with.
    pub fn seed(&self) -> u64 {
        self.start.seed
    }

    /// All blocks of a cell up to the last one with a file; block 1 is at index 0.
    pub(crate) fn blocks(&self, cell: &str) -> Result<Vec<Block>, StudyRunError> {
        let mut blocks = Vec::new();
        let all = self.folder.join("cells").join(cell);
        for folder in entries(&all) {
            let Some(number) = number_of(&folder, "block-") else { continue };
            if blocks.len() < number {
                blocks.resize_with(number, Block::default);
            }
            let block = &mut blocks[number - 1];
            for path in entries(&folder) {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if name == FAILURE {
                    block.failure = Some(read_json::<Failure>(&path)?.cause);
                } else if name.ends_with(".json") {
                    let record: Record = read_json(&path)?;
                    match record.role {
                        Role::WarmUp => block.warmups.push(record),
                        Role::Trial => block.trials.push(record),
                    }
                }
            }
            block.trials.sort_by_key(|record| record.number);
        }
        Ok(blocks)
    }

    /// Writes a record of a block.
    pub(crate) fn save_record(&self, cell: &str, block: u32, record: &Record) -> Result<(), RunError> {
        let folder = self.block_folder(cell, block)?;
        let stem = next_stem(&folder, record.role);
        save(record, &folder.join(stem + ".json"))?;
        point_latest_at(&self.folder);
        Ok(())
    }

    /// Writes why a block of a cell failed.
    pub(crate) fn save_failure(&self, cell: &str, block: u32, cause: &str) -> Result<(), RunError> {
        let failure = Failure { cause: cause.to_owned() };
        Ok(save_json(&failure, &self.block_folder(cell, block)?.join(FAILURE))?)
    }

    /// Start `number` of the pair with this name; `None` if it was not made yet.
    pub(crate) fn start(&self, pair: &str, number: u32) -> Result<Option<StoredStart>, StudyRunError> {
        let path = self.start_file(pair, number);
        if path.is_file() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// Writes one start of a pair.
    pub(crate) fn save_start(
        &self,
        pair: &str,
        number: u32,
        start: &StoredStart,
    ) -> Result<(), StudyRunError> {
        let path = self.start_file(pair, number);
        let folder = path.parent().expect("the file is in a folder");
        create_folder(folder).map_err(|source| RunError::Folder { out: self.folder.clone(), source })?;
        Ok(self.save(start, &path)?)
    }

    fn start_file(&self, pair: &str, number: u32) -> PathBuf {
        self.folder.join("pairs").join(pair).join(format!("{START_OF_PAIR}{number:03}.json"))
    }

    /// A stored trial of a computed cell; `None` if it was not computed yet.
    pub(crate) fn trial<T: DeserializeOwned>(
        &self,
        cell: &str,
        seed: u32,
    ) -> Result<Option<T>, StudyRunError> {
        let path = self.trial_file(cell, seed);
        if path.is_file() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// Writes a trial of a computed cell.
    pub(crate) fn save_trial(&self, cell: &str, seed: u32, trial: &impl Serialize) -> Result<(), RunError> {
        self.save(trial, &self.trial_file(cell, seed))
    }

    /// Writes something measured or computed.
    fn save(&self, what: &impl Serialize, path: &Path) -> Result<(), RunError> {
        save_json(what, path)?;
        point_latest_at(&self.folder);
        Ok(())
    }

    /// The folder of a trial of a computed cell, which is created if necessary.
    pub(crate) fn trial_folder(&self, cell: &str, seed: u32) -> Result<PathBuf, RunError> {
        let file = self.trial_file(cell, seed);
        let folder = file.parent().expect("the file is in a folder").to_owned();
        let in_out = |source| RunError::Folder { out: self.folder.clone(), source };
        create_folder(&folder).map_err(in_out)?;
        Ok(folder)
    }

    fn trial_file(&self, cell: &str, seed: u32) -> PathBuf {
        self.folder.join("cells").join(cell).join(format!("seed-{seed}")).join(BOOT)
    }

    /// Writes the result of the study.
    pub(crate) fn save_result(&self, result: &StudyResult) -> Result<(), StudyRunError> {
        Ok(save_json(result, &self.folder.join(RESULT))?)
    }

    /// The folder of a block, which is created if necessary.
    pub(crate) fn block_folder(&self, cell: &str, block: u32) -> Result<PathBuf, RunError> {
        let folder = self.folder.join("cells").join(cell).join(format!("block-{block:03}"));
        let in_out = |source| RunError::Folder { out: self.folder.clone(), source };
        create_folder(&folder).map_err(in_out)?;
        Ok(folder)
    }
}

/// The paths in a folder, sorted by name; empty if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn number_of(folder: &Path, prefix: &str) -> Option<usize> {
    folder.file_name()?.to_str()?.strip_prefix(prefix)?.parse().ok().filter(|&number| number > 0)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StudyRunError> {
    let wrong = |cause: String| StoreError::Read { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok(serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs, system_calls};

    use super::*;

    /// Run under strace by the test below.
    #[test]
    #[ignore = "another test starts it"]
    fn begins_a_study() {
        let out = tempfile::tempdir().unwrap();
        let store = Store::begin(out.path(), "x", "name = \"x\"", 7).unwrap();
        assert_eq!(std::fs::read_to_string(store.folder().join(STUDY)).unwrap(), "name = \"x\"");
    }

    #[test]
    fn the_study_file_gets_its_name_when_it_is_whole_and_before_the_study_has_begun() {
        needs!(Need::Program("strace", "strace"));
        let calls = system_calls("engine::store::tests::begins_a_study", "openat,rename,renameat,renameat2");
        let place = |what: &[&str]| calls.iter().position(|call| what.iter().all(|part| call.contains(part)));
        let named = place(&["rename", "/study.toml\") "]).unwrap_or_else(|| panic!("{calls:#?}"));
        let begun = place(&["rename", "/begun.json\") "]).unwrap();
        assert!(named < begun, "{calls:#?}");
        assert_eq!(place(&["/study.toml\"", "O_CREAT"]), None, "{calls:#?}");
    }
}
