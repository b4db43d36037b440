//! The lab's counts of the operations of a command, without what prepares and ends them.

use std::path::PathBuf;
use std::time::Instant;

use klatch_record::lab::{CountedOperations, LabCounts};
use klatch_record::save_json;

use crate::counters::{Counters, CountersError};
use crate::error::InstrumentError;
use crate::lab_counts::lab_counts;

/// The variable by which `klatch lab counted` asks its command to count its own operations: the file for the counts.
pub const COUNT_OPERATIONS: &str = "KLATCH_COUNT_OPERATIONS";

/// The counters of the emulated machine, which count while operations go on.
pub struct OperationCounts {
    counters: Counters,
    file: PathBuf,
    started: Option<Instant>,
    elapsed_ns: u64,
    failure: Option<CountersError>,
}

impl OperationCounts {
    /// The counters, not yet open; `None` if nobody asks for counts of operations, or this machine has no counters.
    pub fn wanted() -> Option<OperationCounts> {
        let file = PathBuf::from(std::env::var_os(COUNT_OPERATIONS)?);
        let counters = Counters::detect()?;
        Some(OperationCounts { counters, file, started: None, elapsed_ns: 0, failure: None })
    }

    /// Counts from here on, from zero. An error is that of [`OperationCounts::save`].
    pub fn open(&mut self) {
        self.failure = self.counters.open().err();
        self.started = Some(Instant::now());
    }

    /// Stops counting. An error is that of [`OperationCounts::save`].
    pub fn close(&mut self) {
        if let Some(started) = self.started.take() {
            self.elapsed_ns = started.elapsed().as_nanos() as u64;
            self.failure = self.failure.take().or(self.counters.close().err());
        }
    }

    /// Saves the counts as those of these operations.
    ///
    /// # Errors
    /// The counters failed, or the file cannot be written.
    pub fn save(mut self, operations: CountedOperations) -> Result<(), InstrumentError> {
        self.close();
        let failed = |error: &dyn std::fmt::Display| InstrumentError(error.to_string());
        if let Some(error) = self.failure {
            return Err(failed(&error));
        }
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let command = std::env::args().skip(1).collect();
        let counts = lab_counts(&self.counters, command, &program).map_err(|error| failed(&error))?;
        let counts = LabCounts { elapsed_ns: self.elapsed_ns, operations: Some(operations), ..counts };
        save_json(&counts, &self.file).map_err(|error| failed(&error))
    }
}
