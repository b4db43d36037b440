//! Counts a command with the counters of the emulated machine that this program runs in.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use klatch_instruments::counters::{Counters, CountersError};
use klatch_instruments::{COUNT_OPERATIONS, Targets, lab_counts};
use klatch_record::lab::LabCounts;
use klatch_record::{SaveError, save_json};
use thiserror::Error;

use crate::job::COUNTERS_FILE;

/// The reason why a command was not counted.
#[derive(Debug, Error)]
pub enum CountError {
    /// The counters cannot be used.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// The command cannot be run.
    #[error("cannot run klatch {command}")]
    Run {
        /// The command, without the program.
        command: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The folder of this process was removed.
    #[error("this folder is gone")]
    Folder(#[source] std::io::Error),
    /// The command has no operations.
    #[error("the command counted no operations; only run and probe have operations to count")]
    NoOperations,
    /// The counts cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
}

/// Runs a command of `program`, and writes what the counters counted to [`COUNTERS_FILE`] in the current folder.
///
/// # Errors
/// See [`CountError`].
pub fn count_whole(
    counters: &Counters,
    program: &Path,
    arguments: Vec<String>,
) -> Result<ExitStatus, CountError> {
    let mut command = command(program, &arguments);
    // Nothing else lies between the counters and the clock, so that both see the same instructions.
    counters.open()?;
    let started = Instant::now();
    let status = command.status();
    let elapsed_ns = started.elapsed().as_nanos() as u64;
    let closed = counters.close()?;
    let status = status.map_err(|source| CountError::Run { command: arguments.join(" "), source })?;
    // A run with such instruments opens the counters itself. Its record has the result.
    if closed {
        let counts = lab_counts(counters, arguments, program, &Targets::default())?;
        save_json(&LabCounts { elapsed_ns, ..counts }, Path::new(COUNTERS_FILE))?;
    }
    Ok(status)
}

/// Runs a command of `program` that counts its operations itself, into [`COUNTERS_FILE`] in the current folder.
///
/// # Errors
/// See [`CountError`].
pub fn count_operations(program: &Path, arguments: &[String]) -> Result<ExitStatus, CountError> {
    let file = std::env::current_dir().map_err(CountError::Folder)?.join(COUNTERS_FILE);
    let status = command(program, arguments).env(COUNT_OPERATIONS, &file).status();
    let status = status.map_err(|source| CountError::Run { command: arguments.join(" "), source })?;
    if status.success() && !file.exists() {
        return Err(CountError::NoOperations);
    }
    Ok(status)
}

fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}
