//! What can go wrong with counters.

use std::path::PathBuf;

use thiserror::Error;

/// The counters cannot be used.
#[derive(Debug, Error)]
pub enum CountersError {
    /// The plugin refused a request.
    #[error("the counters of the machine: {0}")]
    Plugin(String),
    /// A file of the kernel cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The kernel does not show a field or a symbol that the counters need.
    #[error(
        "the counters follow tasks by {0}, which this kernel does not show; klatch lab exec --kernel chooses another"
    )]
    Kernel(String),
}

/// A description of caches that does not exist, cannot be read, or is not valid.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct HardwareError(pub(crate) String);
