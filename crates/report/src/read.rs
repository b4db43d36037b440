//! Reads the sources of a report: the folder of a study, folders of runs, or single records.

use std::path::{Path, PathBuf};

use klatch_record::{
    Duet, FLOOR_SCHEMA_NAME, FloorResult, Record, SCHEMA_NAME, STUDY_SCHEMA_NAME, Sensitivity, StudyResult,
};
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The reason why a source cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file or folder is missing or unreadable.
    #[error("cannot read {path}: {source}", path = path.display())]
    Missing {
        /// The path that was to be read.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a result of Klatch.
    #[error("{path} is no result of Klatch: {cause}", path = path.display())]
    Other {
        /// Path of the offending file.
        path: PathBuf,
        /// The reason in words.
        cause: String,
    },
    /// A record is there twice, so it would count twice.
    #[error("{one} and {other} are the same record; remove the copy", one = one.display(), other = other.display())]
    Twice {
        /// Path of one.
        one: PathBuf,
        /// Path of the other.
        other: PathBuf,
    },
    /// The folder has no results.
    #[error("{path} holds no record; name a folder that `klatch run` or `klatch study` has left, or records in it",
        path = path.display())]
    Empty {
        /// Path of the folder.
        path: PathBuf,
    },
}

/// The results of one study, or of any set of runs.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file or folder it was read from.
    pub path: PathBuf,
    /// The result of the study; `None` for single runs and for unfinished studies.
    pub result: Option<StudyResult>,
    /// Content of the study file, TOML.
    pub study_file: Option<String>,
    /// Every run, in the order of their start.
    pub runs: Vec<Run>,
    /// The claims of a simulated study with other costs, if that was computed.
    pub sensitivity: Option<Sensitivity>,
    /// Failed visits with their cells and causes, if there is no study result that has them.
    pub failures: Vec<(String, String)>,
}

/// A record with its file and cell.
#[derive(Clone, Debug)]
pub struct Run {
    /// The result of the run.
    pub record: Record,
    /// Path of the record.
    pub file: PathBuf,
    /// The cell of a study to which the run belongs.
    pub cell: Option<String>,
}

/// Reads all results in a file, or in a folder and its subfolders.
///
/// # Errors
/// A file is missing, unreadable or not a result, or there is no result at all.
pub fn read(path: &Path) -> Result<Source, ReadError> {
    let mut source = Source {
        path: path.to_owned(),
        result: None,
        study_file: std::fs::read_to_string(path.join("study.toml")).ok(),
        runs: Vec::new(),
        sensitivity: None,
        failures: Vec::new(),
    };
    if path.is_dir() {
        let claims = path.join("sensitivity.json");
        if let Ok(text) = std::fs::read_to_string(&claims) {
            source.sensitivity = Some(parsed(&claims, &text)?);
        }
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
    refuse_copies(&source.runs)?;
    Ok(source)
}

/// Refuses runs of which two are the same, in the order of their start.
fn refuse_copies(runs: &[Run]) -> Result<(), ReadError> {
    for (place, run) in runs.iter().enumerate() {
        let later = runs[place + 1..].iter();
        let mut alike = later.take_while(|later| later.record.started_at == run.record.started_at);
        if let Some(copy) = alike.find(|later| later.record == run.record) {
            return Err(ReadError::Twice { one: run.file.clone(), other: copy.file.clone() });
        }
    }
    Ok(())
}

/// Reads a history of `klatch floor`; `None` if the file is something else.
///
/// # Errors
/// The file is missing, or one of its lines is not a result.
pub fn read_floor(path: &Path) -> Result<Option<Vec<FloorResult>>, ReadError> {
    if path.extension().is_none_or(|extension| extension != "jsonl") {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| ReadError::Missing { path: path.to_owned(), source })?;
    let session = |line: &str| {
        let result: FloorResult = parsed(path, line)?;
        match result.schema == FLOOR_SCHEMA_NAME {
            true => Ok(result),
            false => {
                let cause = format!("the `schema` of a line is not {FLOOR_SCHEMA_NAME}");
                Err(ReadError::Other { path: path.to_owned(), cause })
            }
        }
    };
    text.lines().map(session).collect::<Result<_, _>>().map(Some)
}

/// Reads the result of a duet, its file or its folder; `None` if there is none.
///
/// # Errors
/// The file is unreadable, or not a duet.
pub fn read_duet(path: &Path) -> Result<Option<Duet>, ReadError> {
    let file = if path.is_dir() { path.join("duet.json") } else { path.to_owned() };
    if file.file_name().is_none_or(|name| name != "duet.json") || !file.is_file() {
        return Ok(None);
    }
    let text =
        std::fs::read_to_string(&file).map_err(|source| ReadError::Missing { path: file.clone(), source })?;
    parsed(&file, &text).map(Some)
}

/// Reads a folder recursively. Links are not followed, as `latest` is one.
fn below(top: &Path, folder: &Path, source: &mut Source) -> Result<(), ReadError> {
    let wrong = |error| ReadError::Missing { path: folder.to_owned(), source: error };
    let mut entries =
        std::fs::read_dir(folder).map_err(wrong)?.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() {
            below(top, &path, source)?;
        } else if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            file(top, &path, source)?;
        }
    }
    Ok(())
}

/// Reads a file into the source; returns whether it was a result.
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
        // A study in a subfolder contributes its records only, one by one.
        (Some(STUDY_SCHEMA_NAME), _) if path.parent() == Some(top) || path == top => {
            source.result = Some(parsed(path, &text)?);
        }
        (None, Some(cause)) if cell.is_some() => source.failures.extend(cell.map(|cell| (cell, cause))),
        _ => return Ok(false),
    }
    Ok(true)
}

/// The field that distinguishes the kinds of files.
#[derive(serde::Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
    cause: Option<String>,
}

pub(crate) fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ReadError> {
    serde_json::from_str(text)
        .map_err(|error| ReadError::Other { path: path.to_owned(), cause: error.to_string() })
}

/// The folder below `cells` in a path, which is the cell's name.
fn cell_of(top: &Path, path: &Path) -> Option<String> {
    let mut parts = path.strip_prefix(top).ok()?.components().map(|part| part.as_os_str().to_string_lossy());
    parts.find(|part| part == "cells")?;
    let cell = parts.next()?.into_owned();
    // A record directly in `cells` belongs to no cell.
    parts.next().map(|_| cell)
}
