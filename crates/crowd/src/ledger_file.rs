//! The file in which the ledgers of workloads `trade` and `orders` go from run to run, and to the audit.

use std::path::{Path, PathBuf};

use klatch_record::{SaveError, save_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why ledgers cannot be read or written.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file cannot be read.
    #[error("cannot read the ledgers in {path}: {source}", path = path.display())]
    Read {
        /// The file of the options.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file has no ledgers.
    #[error("{path} has no ledgers: {source}", path = path.display())]
    NoLedgers {
        /// The file of the options.
        path: PathBuf,
        /// What is wrong with its JSON.
        source: serde_json::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] SaveError),
}

/// Reads the ledgers of earlier runs; none if there is no file yet.
pub(crate) fn read<T: DeserializeOwned + Default>(path: Option<&Path>) -> Result<T, LedgerError> {
    let Some(path) = path else { return Ok(T::default()) };
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|source| LedgerError::NoLedgers { path: path.to_owned(), source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
        Err(source) => Err(LedgerError::Read { path: path.to_owned(), source }),
    }
}

/// Replaces the file with these ledgers.
pub(crate) fn write(path: Option<&Path>, ledgers: &impl Serialize) -> Result<(), LedgerError> {
    path.map_or(Ok(()), |path| Ok(save_json(ledgers, path)?))
}
