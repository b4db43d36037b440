//! What every instrument is.

use std::path::PathBuf;

use klatch_record::{Cost, Found, InstrumentName, Support};
use thiserror::Error;

use crate::Kernel;
use crate::bpf::{Looked, Windows};

/// The processes of this machine that are watched.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// The servers.
    pub servers: Vec<u32>,
    /// The crowds.
    pub crowds: Vec<u32>,
}

/// Where bulky findings go: `<folder>/<stem>.<more>`.
#[derive(Clone, Debug)]
pub struct Files {
    /// The folder of the record.
    pub folder: PathBuf,
    /// The record's own name without its ending.
    pub stem: String,
}

impl Files {
    /// The name of a file, and where it is.
    pub(crate) fn named(&self, ending: &str) -> (String, PathBuf) {
        let name = format!("{}.{ending}", self.stem);
        (name.clone(), self.folder.join(name))
    }
}

/// Why an instrument could not watch, or what it saw could not be read.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct InstrumentError(pub(crate) String);

/// One way to look at a run.
pub(crate) trait Instrument: Sync {
    /// Which.
    fn name(&self) -> InstrumentName;

    /// What it shows, in a line.
    fn shows(&self) -> &'static str;

    /// How it can work on this kernel, found out by trying.
    fn probe(&self, kernel: &Kernel) -> Support;

    /// Begins to watch; programs at places that are passed thousands of times a second go into the `windows`. What it makes for that may end with the process, by whatever signal, and leaves nothing.
    ///
    /// # Errors
    /// It cannot watch although [`Instrument::probe`] said that it could.
    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        files: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError>;
}

/// An instrument that watches.
pub(crate) trait Watching {
    /// Stops watching. Nothing is read yet, so that no instrument sees the work of another.
    fn stop(&mut self);

    /// What was seen, while the processes are still there. What came by windows is scaled up.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&mut self, files: &Files, looked: &Looked) -> Result<Seen, InstrumentError>;
}

/// What an instrument has seen.
pub(crate) struct Seen {
    /// Its observations.
    pub(crate) found: Found,
    /// What it cost.
    pub(crate) cost: Option<Cost>,
    /// The part of the time in which it looked, where it did so by windows.
    pub(crate) share_of_time: Option<f64>,
    /// The files it wrote, by name.
    pub(crate) files: Vec<String>,
}
