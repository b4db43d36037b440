//! A study's folder: `study.toml`, `cells/<cell>/block-<n>/<run>.json`, and `result.json` at the end. Every record is
//! there as soon as its run has ended, so a study can go on after whatever happened to it.

use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_record::{Record, Role, StudyResult, save, save_json};
use klatch_runner::{RunError, make_folder, next_stem, now};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{StoreError, StudyRunError};

const STUDY: &str = "study.toml";
const BEGUN: &str = "begun.json";
const FAILURE: &str = "failure.json";
const RESULT: &str = "result.json";

/// The folder of a study that is being carried out. Nobody else can carry it out meanwhile.
pub struct Store {
    folder: PathBuf,
    begun: Begun,
    _lock: Lock,
}

/// What was fixed when the study was begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Begun {
    started_at: String,
    seed: u64,
}

/// A file that is locked.
struct Lock(File);

impl Drop for Lock {
    /// A process that is being started has the file open, too, until its program begins: closing it here is not enough.
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked when all have closed it.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// What is there of a block of a cell.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) warmups: Vec<Record>,
    pub(crate) trials: Vec<Record>,
    pub(crate) failure: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    cause: String,
}

impl Store {
    /// Begins a study in a new folder below `out`.
    ///
    /// # Errors
    /// The folder cannot be made or written to.
    pub fn begin(out: &Path, name: &str, source: &str, seed: u64) -> Result<Store, StudyRunError> {
        let in_out = |source| RunError::Folder { out: out.to_owned(), source };
        let folder = make_folder(out, name, Timestamp::now()).map_err(in_out)?;
        std::fs::write(folder.join(STUDY), source).map_err(in_out)?;
        let begun = Begun { started_at: now(), seed };
        save_json(&begun, &folder.join(BEGUN))?;
        Store::lock(folder, begun)
    }

    /// Goes on with the study in `folder`, which must be the one that `source` describes.
    ///
    /// # Errors
    /// It is another study, or somebody carries it out now, or it cannot be read.
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
        let begun = serde_json::from_str(&read(&path)?)
            .map_err(|error| StoreError::Read { path, cause: error.to_string() })?;
        Store::lock(folder.to_owned(), begun)
    }

    /// The newest folder below `out` that holds the study of this name.
    pub fn newest(out: &Path, name: &str) -> Option<PathBuf> {
        let folders = std::fs::read_dir(out).ok()?.flatten().map(|entry| entry.path());
        let named = |folder: &PathBuf| {
            // `<time>-<name>`, and a number if two were begun in one second.
            let text = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let rest = text.split_once("Z-").map_or("", |(_, rest)| rest);
            let number = rest.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            rest == name || number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        folders.filter(|folder| folder.join(BEGUN).is_file()).filter(named).max()
    }

    fn lock(folder: PathBuf, begun: Begun) -> Result<Store, StudyRunError> {
        let wrong = |cause: String| StoreError::Read { path: folder.clone(), cause };
        let file = File::open(folder.join(BEGUN)).map_err(|error| wrong(error.to_string()))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Store { folder, begun, _lock: Lock(file) }),
            Err(Errno::WOULDBLOCK) => Err(StoreError::Busy { folder }.into()),
            Err(error) => Err(wrong(error.to_string()).into()),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// When it was begun.
    pub(crate) fn started_at(&self) -> &str {
        &self.begun.started_at
    }

    /// The seed that it was begun with.
    pub fn seed(&self) -> u64 {
        self.begun.seed
    }

    /// All blocks of a cell, the first at place 0, up to the last of which there is anything.
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

    /// Keeps a record of a block.
    pub(crate) fn keep(&self, cell: &str, block: u32, record: &Record) -> Result<(), RunError> {
        let folder = self.block(cell, block)?;
        let stem = next_stem(&folder, record.role);
        Ok(save(record, &folder.join(stem + ".json"))?)
    }

    /// Keeps why a block of a cell failed.
    pub(crate) fn fail(&self, cell: &str, block: u32, cause: &str) -> Result<(), RunError> {
        let failure = Failure { cause: cause.to_owned() };
        Ok(save_json(&failure, &self.block(cell, block)?.join(FAILURE))?)
    }

    /// Keeps what came of the study.
    pub(crate) fn finish(&self, result: &StudyResult) -> Result<(), StudyRunError> {
        Ok(save_json(result, &self.folder.join(RESULT))?)
    }

    /// The folder of a block.
    pub(crate) fn block(&self, cell: &str, block: u32) -> Result<PathBuf, RunError> {
        let folder = self.folder.join("cells").join(cell).join(format!("block-{block:03}"));
        let in_out = |source| RunError::Folder { out: self.folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(in_out)?;
        Ok(folder)
    }
}

/// What is in a folder, by name; nothing if it is not there.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn number_of(folder: &Path, prefix: &str) -> Option<usize> {
    folder.file_name()?.to_str()?.strip_prefix(prefix)?.parse().ok().filter(|&number| number > 0)
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StudyRunError> {
    let wrong = |cause: String| StoreError::Read { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok(serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?)
}
