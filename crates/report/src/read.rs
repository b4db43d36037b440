//! Reads the sources of a report: the folder of a study, folders of runs, records, one after another or each in a file.

use std::path::{Path, PathBuf};

use klatch_record::{
    BEGUN, Document, Documents, Record, SCHEMA_NAME, SENSITIVITY, STUDY_SCHEMA_NAME, Sensitivity, Skipped,
    StudyResult, same_record,
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
    /// Several paths, of which one holds another result than runs.
    #[error(
        "only runs become one report of several files or folders; name one study or duet, or two folders"
    )]
    NotRuns,
    /// Results of two kinds, such as measured and simulated ones.
    #[error("{one} and {other} are not of one kind: measured, emulated and simulated results share no table",
        one = one.display(), other = other.display())]
    OtherKind {
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
    /// Files in the folder that are no results.
    pub skipped: Vec<Skipped>,
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

/// Reads the runs in a file, in a folder and its subfolders, or from standard input (`-`).
///
/// # Errors
/// The path is missing or unreadable, a file that was named is no result, or there is no result at all.
pub fn read(path: &Path) -> Result<Source, ReadError> {
    runs(path, documents(path)?)
}

pub(crate) fn documents(path: &Path) -> Result<Documents, ReadError> {
    Documents::read(path).map_err(|source| ReadError::Missing { path: path.to_owned(), source })
}

pub(crate) fn runs(path: &Path, mut documents: Documents) -> Result<Source, ReadError> {
    let study_file = std::fs::read_to_string(path.join("study.toml")).ok();
    let mut source = Source { study_file, ..Source::empty(path.to_owned()) };
    let is_folder = path.is_dir();
    for document in std::mem::take(&mut documents.all) {
        match (source.add(path, &document), is_folder) {
            (Ok(true), _) | (Ok(false), true) => {}
            (Ok(false), false) => {
                documents.skip(&document, "it is neither a record nor the result of a study");
            }
            (Err(error), _) => documents.skip(&document, error),
        }
    }
    let begun = path.join(BEGUN).is_file();
    if source.runs.is_empty() && source.result.is_none() && !begun {
        return Err(match documents.skipped.into_iter().next() {
            Some(Skipped { place: path, cause }) => ReadError::Other { path, cause },
            None => ReadError::Empty { path: path.to_owned() },
        });
    }
    source.skipped = documents.skipped;
    source.runs.sort_by(|a, b| (&a.record.started_at, &a.file).cmp(&(&b.record.started_at, &b.file)));
    match same_record(source.runs.iter().map(|run| &run.record)) {
        None => Ok(source),
        Some((one, other)) => {
            let file = |at: usize| source.runs[at].file.clone();
            Err(ReadError::Twice { one: file(one), other: file(other) })
        }
    }
}

impl Source {
    /// No results, from this file or folder.
    pub fn empty(path: PathBuf) -> Source {
        let (runs, failures, skipped) = (Vec::new(), Vec::new(), Vec::new());
        Source { path, result: None, study_file: None, runs, sensitivity: None, failures, skipped }
    }

    /// Whether it is a search that has not ended. Its runs are steps at rates or sizes that it tried.
    pub(crate) fn is_unfinished_search(&self) -> bool {
        let file = self.study_file.as_ref().filter(|_| self.result.is_none());
        file.and_then(|file| file.parse::<toml::Table>().ok()).is_some_and(|file| file.contains_key("search"))
    }

    /// Adds what a document holds; returns whether it was a result.
    fn add(&mut self, top: &Path, document: &Document) -> Result<bool, serde_json::Error> {
        let cell = cell_of(top, &document.file);
        let is_on_top = document.file.parent() == Some(top) || document.file == top;
        match document.schema.as_deref() {
            Some(SCHEMA_NAME) => {
                self.runs.push(Run { record: document.parse()?, file: document.place(), cell });
            }
            // A study in a subfolder contributes its records only, one by one.
            Some(STUDY_SCHEMA_NAME) if is_on_top => self.result = Some(document.parse()?),
            None if document.file == top.join(SENSITIVITY) => {
                self.sensitivity = Some(document.parse()?);
            }
            None if cell.is_some() => {
                let Failed { cause } = document.parse()?;
                self.failures.extend(cell.zip(cause));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A visit that failed.
#[derive(serde::Deserialize)]
struct Failed {
    cause: Option<String>,
}

pub(crate) fn parsed<T: DeserializeOwned>(document: &Document) -> Result<T, ReadError> {
    let wrong =
        |error: serde_json::Error| ReadError::Other { path: document.place(), cause: error.to_string() };
    document.parse().map_err(wrong)
}

/// The folder below `cells` in a path, which is the cell's name.
fn cell_of(top: &Path, path: &Path) -> Option<String> {
    let mut parts = path.strip_prefix(top).ok()?.components().map(|part| part.as_os_str().to_string_lossy());
    parts.find(|part| part == "cells")?;
    let cell = parts.next()?.into_owned();
    // A record directly in `cells` belongs to no cell.
    parts.next().map(|_| cell)
}
