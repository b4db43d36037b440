//! Loads a study by name or from a file.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::file::{Source, StudyFileError, expand, shipped};
use crate::plan::{StudyBase, StudyPlan};

/// Why a study cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// There is neither a shipped study nor a file of this name.
    #[error("no study is called {name}, and there is no such file; there are {known}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names of all shipped studies.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The file is not a valid study for this machine.
    #[error(transparent)]
    File(#[from] StudyFileError),
}

/// Loads the shipped study `name`, or the study file with this path.
///
/// # Errors
/// There is no such study, or it cannot run on this machine.
pub fn load(name: &str, base: &StudyBase, seed: u64) -> Result<StudyPlan, LoadError> {
    let path = Path::new(name);
    if let Some(study) = shipped().into_iter().find(|study| study.name == name) {
        return Ok(expand(&Source { path: &path.with_extension("toml"), text: study.text }, base, seed)?);
    }
    let known = || shipped().iter().map(|study| study.name).collect::<Vec<_>>().join(", ");
    Ok(expand(&Source { path, text: &read_file(path, known)? }, base, seed)?)
}

/// Reads a study file. If it is missing and could be meant as a name, the error lists the `known` ones.
pub(crate) fn read_file(path: &Path, known: impl Fn() -> String) -> Result<String, LoadError> {
    let could_be_a_name = path.extension().is_none() && path.components().count() == 1;
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(source) if could_be_a_name && source.kind() == std::io::ErrorKind::NotFound => {
            Err(LoadError::Unknown { name: path.display().to_string(), known: known() })
        }
        Err(source) => Err(LoadError::Read { path: path.to_owned(), source }),
    }
}
