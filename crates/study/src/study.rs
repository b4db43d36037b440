//! Finds a study by name or file.

use std::path::{Path, PathBuf};

use klatch_runner::Plan;
use thiserror::Error;

use crate::cell::StudyPlan;
use crate::file::{Source, StudyFileError, expand, shipped};

/// A study that cannot be had.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Neither a file nor a name.
    #[error("no study is called {name}, and there is no such file; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// Those that Klatch brings.
        known: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file that cannot be carried out.
    #[error(transparent)]
    File(#[from] StudyFileError),
}

/// The study of this name, or in the file of this path.
///
/// # Errors
/// There is none, or it cannot be carried out on this machine.
pub fn load(name: &str, base: &Plan, seed: u64) -> Result<StudyPlan, StudyError> {
    let path = Path::new(name);
    if let Some(study) = shipped().into_iter().find(|study| study.name == name) {
        return Ok(expand(&Source { path: &path.with_extension("toml"), text: study.text }, base, seed)?);
    }
    let looks_like_a_name = path.extension().is_none() && path.components().count() == 1;
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(expand(&Source { path, text: &text }, base, seed)?),
        Err(source) if looks_like_a_name && source.kind() == std::io::ErrorKind::NotFound => {
            let known = shipped().iter().map(|study| study.name).collect::<Vec<_>>().join(", ");
            Err(StudyError::Unknown { name: name.to_owned(), known })
        }
        Err(source) => Err(StudyError::Read { path: path.to_owned(), source }),
    }
}
