//! Why a file of workload `files` cannot be used.

use std::path::PathBuf;

use thiserror::Error;

/// A file of the workload cannot be opened or read.
#[derive(Debug, Error)]
#[error("cannot read {path}: {source}", path = path.display())]
pub struct ReadError {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The error of the system call.
    pub(crate) source: std::io::Error,
}
