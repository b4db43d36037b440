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
    /// The kernel does not describe what the counters need.
    #[error("the kernel has no {0}, without which the counters cannot tell tasks apart")]
    Kernel(String),
}

/// A description of caches that cannot be used.
#[derive(Debug, Error)]
pub enum HardwareError {
    /// Neither a preset nor a file has this name.
    #[error("there is no hardware {name}, and no such file; the presets are {presets}")]
    Unknown {
        /// The name on the command line.
        name: String,
        /// Names of the presets, separated by commas.
        presets: String,
    },
    /// The file exists and cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// Path of the file.
        name: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a valid description.
    #[error("{name}: {cause}")]
    Invalid {
        /// Path of the file.
        name: String,
        /// The first problem in it.
        cause: String,
    },
}
