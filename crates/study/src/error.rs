//! Why a study ended early.

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

/// A study's folder that cannot be gone on with.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Something in it cannot be read.
    #[error("cannot read {path}: {cause}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
    /// It was begun with another file.
    #[error("{path} is not what the study says now; resume it with that file, or begin anew", path = path.display())]
    Changed {
        /// The study as it was begun.
        path: PathBuf,
    },
    /// Somebody else is at it.
    #[error("another klatch is carrying out the study in {folder}", folder = folder.display())]
    Busy {
        /// Where.
        folder: PathBuf,
    },
}
