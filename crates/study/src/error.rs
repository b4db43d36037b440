//! Errors of a study that is carried out.

use std::path::PathBuf;

use klatch_record::SaveError;
use klatch_runner::RunError;
use thiserror::Error;

/// A study that ended before its last cell. The records of finished runs are stored, and the study can be resumed.
#[derive(Debug, Error)]
pub enum StudyRunError {
    /// A run failed in a way that would also fail the next cell.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The study's folder cannot be read or locked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SaveError> for StudyRunError {
    fn from(error: SaveError) -> StudyRunError {
        StudyRunError::Run(error.into())
    }
}

/// The folder of a study cannot be used to resume it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file in the folder cannot be read.
    #[error("cannot read {path}: {cause}", path = path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the file system or of the JSON parser.
        cause: String,
    },
    /// The study file has changed since the study began.
    #[error("{path} differs from the study file; resume the study with that file, or start a new one", path = path.display())]
    Changed {
        /// The copy of the study file in the folder.
        path: PathBuf,
    },
    /// Another process holds the lock of the folder.
    #[error("another klatch is carrying out the study in {folder}", folder = folder.display())]
    Busy {
        /// Folder of the study.
        folder: PathBuf,
    },
}
