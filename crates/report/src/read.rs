//! What a report is made of, from files: the folder of a study, folders of runs, or single records.

use std::path::{Path, PathBuf};

use klatch_record::{FLOOR_SCHEMA_NAME, FloorResult, Record, SCHEMA_NAME, STUDY_SCHEMA_NAME, StudyResult};
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why no report can be made.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not there, or cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Missing {
        /// What was to be read.
        path: PathBuf,
        /// Why it cannot be.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{path} is no result of Klatch: {cause}", path = path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// A folder without results.
    #[error("{path} holds no record; name a folder that `klatch run`, `klatch study` or `klatch lab run` has left, or records in it",
        path = path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
}

/// The results of one study, or of runs that somebody put together.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was read from.
    pub path: PathBuf,
    /// What came of the study; `None` of single runs, and of a study that is not finished.
    pub result: Option<StudyResult>,
    /// The study file.
    pub study_file: Option<String>,
    /// Every run, in the order in which they began.
    pub runs: Vec<Run>,
    /// Visits that failed, with their cells, where the result does not tell.
    pub failures: Vec<(String, String)>,
}

/// A record and where it was.
#[derive(Clone, Debug)]
pub struct Run {
    /// The record.
    pub record: Record,
    /// The file.
    pub file: PathBuf,
    /// The cell of a study that it belongs to.
    pub cell: Option<String>,
}

/// Reads all results at or below a path.
///
/// # Errors
/// It is not there, is no result, or holds none.
pub fn read(path: &Path) -> Result<Source, ReadError> {
    let mut source = Source {
        path: path.to_owned(),
        result: None,
        study_file: std::fs::read_to_string(path.join("study.toml")).ok(),
        runs: Vec::new(),
        failures: Vec::new(),
    };
    if path.is_dir() {
        below(path, path, &mut source)?;
        let begun = path.join("begun.json").is_file();
        if source.runs.is_empty() && source.result.is_none() && !begun {
            return Err(ReadError::Empty { path: path.to_owned() });
        }
    } else if !file(path, path, &mut source)? {
        let cause = format!("its `schema` is neither {SCHEMA_NAME} nor {STUDY_SCHEMA_NAME}");
        return Err(ReadError::Other { path: path.to_owned(), cause });
    }
    source.runs.sort_by(|a, b| (&a.record.started_at, &a.file).cmp(&(&b.record.started_at, &b.file)));
    Ok(source)
}

/// Reads a history of `klatch floor`; `None` if a file is something else.
///
/// # Errors
/// It is not there, or a line of it is no result.
pub fn read_floor(path: &Path) -> Result<Option<Vec<FloorResult>>, ReadError> {
    if path.extension().is_none_or(|extension| extension != "jsonl") {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReadError::Missing { path: path.to_owned(), source })?;
    let sitting = |line: &str| {
        let result: FloorResult = parsed(path, line)?;
        match result.schema == FLOOR_SCHEMA_NAME {
            true => Ok(result),
            false => {
                let cause = format!("the `schema` of a line is not {FLOOR_SCHEMA_NAME}");
                Err(ReadError::Other { path: path.to_owned(), cause })
            }
        }
    };
    text.lines().map(sitting).collect::<Result<_, _>>().map(Some)
}

/// All results in a folder and the folders below; links are not followed, as `latest` is one.
fn below(top: &Path, folder: &Path, source: &mut Source) -> Result<(), ReadError> {
    let wrong = |error| ReadError::Missing { path: folder.to_owned(), source: error };
    let mut entries =
        std::fs::read_dir(folder).map_err(wrong)?.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() {
            below(top, &path, source)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            file(top, &path, source)?;
        }
    }
    Ok(())
}

/// Takes in a file; whether it was a result.
fn file(top: &Path, path: &Path, source: &mut Source) -> Result<bool, ReadError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ReadError::Missing { path: path.to_owned(), source: error })?;
    let head: Head = parsed(path, &text)?;
    let schema = head.schema.as_ref().and_then(|schema| schema.as_str());
    let cell = cell_of(top, path);
    match (schema, head.cause) {
        (Some(SCHEMA_NAME), _) => {
            source.runs.push(Run { record: parsed(path, &text)?, file: path.to_owned(), cell });
        }
        // Of a study within the folder, the records are taken one by one.
        (Some(STUDY_SCHEMA_NAME), _) if path.parent() == Some(top) || path == top => {
            source.result = Some(parsed(path, &text)?);
        }
        (None, Some(cause)) if cell.is_some() => source.failures.extend(cell.map(|cell| (cell, cause))),
        _ => return Ok(false),
    }
    Ok(true)
}

/// What tells files apart.
#[derive(serde::Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
    cause: Option<String>,
}

fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ReadError> {
    klatch_record::read_json(text)
        .map_err(|error| ReadError::Other { path: path.to_owned(), cause: error.to_string() })
}

/// The cell's folder: the one below `cells`.
fn cell_of(top: &Path, path: &Path) -> Option<String> {
    let mut parts = path.strip_prefix(top).ok()?.components().map(|part| part.as_os_str().to_string_lossy());
    parts.find(|part| part == "cells")?;
    let cell = parts.next()?.into_owned();
    // The record itself is not a cell.
    parts.next().map(|_| cell)
}
