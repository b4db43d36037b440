//! The lab's counts of the operations of a command, without what prepares and ends them.

use std::path::PathBuf;
use std::time::Instant;

use klatch_record::lab::{CountedOperations, LabCounts};
use klatch_record::{own_arguments, save_json};

use crate::counters::Counters;
use crate::error::InstrumentError;
use crate::lab_counts::lab_counts;
use crate::targets::Targets;

/// The variable by which `klatch lab counted` asks its command to count its own operations: the file for the counts.
pub const COUNT_OPERATIONS: &str = "KLATCH_COUNT_OPERATIONS";

/// The counters of the emulated machine, which count while operations go on.
pub struct OperationCounts {
    counters: Counters,
    file: PathBuf,
    started: Option<Instant>,
    elapsed_ns: u64,
    counts: Option<LabCounts>,
    failure: Option<InstrumentError>,
}

impl OperationCounts {
    /// The counters, not yet open; `None` if nobody asks for counts of operations, or this machine has no counters.
    pub fn wanted() -> Option<OperationCounts> {
        let file = PathBuf::from(std::env::var_os(COUNT_OPERATIONS)?);
        let counters = Counters::detect()?;
        Some(OperationCounts { counters, file, started: None, elapsed_ns: 0, counts: None, failure: None })
    }

    /// Counts from here on, from zero. An error is that of [`OperationCounts::save`].
    pub fn open(&mut self) {
        self.counts = None;
        self.failure = self.counters.open().err().map(failed);
        self.started = Some(Instant::now());
    }

    /// Stops counting. An error is that of [`OperationCounts::save`].
    pub fn close(&mut self) {
        if let Some(started) = self.started.take() {
            self.elapsed_ns = started.elapsed().as_nanos() as u64;
            self.failure = self.failure.take().or(self.counters.close().err().map(failed));
        }
    }

    /// Reads what was counted, by the sides of the processes that it was counted of, which must still live. An error is that of
    /// [`OperationCounts::save`].
    pub fn read(&mut self, targets: &Targets) {
        self.close();
        if self.failure.is_none() {
            match self.counts_of(targets) {
                Ok(counts) => self.counts = Some(counts),
                Err(error) => self.failure = Some(error),
            }
        }
    }

    fn counts_of(&self, targets: &Targets) -> Result<LabCounts, InstrumentError> {
        let program = std::env::current_exe().map_err(failed)?;
        let command = own_arguments().split_off(1);
        let counts = lab_counts(&self.counters, command, &program, targets).map_err(failed)?;
        Ok(LabCounts { elapsed_ns: self.elapsed_ns, ..counts })
    }

    /// Saves the counts as those of these operations.
    ///
    /// # Errors
    /// The counters failed, or the file cannot be written.
    pub fn save(mut self, operations: CountedOperations) -> Result<(), InstrumentError> {
        if self.counts.is_none() {
            self.read(&Targets::default());
        }
        match (self.failure, self.counts) {
            (None, Some(counts)) => {
                save_json(&LabCounts { operations: Some(operations), ..counts }, &self.file).map_err(failed)
            }
            (failure, _) => Err(failure.unwrap_or_else(|| failed("nothing was counted"))),
        }
    }
}

fn failed(error: impl std::fmt::Display) -> InstrumentError {
    InstrumentError(error.to_string())
}
