//! Finds a study by name or path.

use std::path::{Path, PathBuf};

use klatch_record::instead_of;
use thiserror::Error;

use super::{StudyFile, shipped};

/// Why a study cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file or folder is something else.
    #[error("{path} is no study, which is a file like mine.toml; klatch report and klatch compare read results", path = path.display())]
    NoStudy {
        /// Its path.
        path: PathBuf,
    },
    /// There is neither a shipped study nor a file of this name.
    #[error("no study is called {name}, and there is no such file; {instead}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The study that was meant, or all shipped ones.
        instead: String,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
}

/// Loads the shipped study `name`, or the study file with this path.
///
/// # Errors
/// There is no such study. If the path could be meant as a name, the error lists the names.
pub fn load(name: &str) -> Result<StudyFile, LoadError> {
    let path = Path::new(name);
    if let Some(study) = shipped().into_iter().find(|study| study.name == name) {
        return Ok(study.file());
    }
    let could_be_a_name = path.extension().is_none() && path.components().count() == 1;
    if path.exists() && path.extension().is_none_or(|extension| extension != "toml") {
        return Err(LoadError::NoStudy { path: path.to_owned() });
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(StudyFile::new(path, text)),
        Err(source) if could_be_a_name && source.kind() == std::io::ErrorKind::NotFound => {
            let known: Vec<&str> = shipped().iter().map(|study| study.name).collect();
            Err(LoadError::Unknown {
                name: name.to_owned(),
                instead: instead_of(name, &known, "klatch study lists all"),
            })
        }
        Err(source) => Err(LoadError::Read { path: path.to_owned(), source }),
    }
}
