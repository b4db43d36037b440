//! Observers of a run, and the instruments that observe a whole run.

use klatch_instruments::{Files, InstrumentError, Instruments, OperationCounts, RunningInstruments, Targets};
use klatch_record::lab::CountedOperations;
use klatch_record::{Observation, Record};

/// Receives the phases of a run while it goes on.
pub(crate) trait RunObserver {
    /// All users have joined, and the gate is about to open.
    fn gate_opening(&mut self, targets: &Targets);

    /// The crowds are about to send: what the parent prepares is done.
    fn operations_begin(&mut self) {}

    /// The crowds have reported the last delivery, and the parent has read nothing yet.
    fn operations_end(&mut self) {}

    /// The last delivery has arrived; all processes still live. Returns the observations of the run.
    fn deliveries_done(&mut self) -> Vec<Observation>;
}

/// Instruments that are active from the opening of the gate to the last delivery.
pub(crate) struct WholeRun<'a> {
    instruments: &'a Instruments,
    files: &'a Files,
    running: Option<RunningInstruments>,
    targets: Targets,
    /// The lab's counters, if they count the operations of this command.
    counts: Option<OperationCounts>,
}

impl<'a> WholeRun<'a> {
    pub(crate) fn new(instruments: &'a Instruments, files: &'a Files) -> WholeRun<'a> {
        let counts = OperationCounts::wanted();
        WholeRun { instruments, files, running: None, targets: Targets::default(), counts }
    }

    /// Saves what the lab's counters counted of the run, if they did.
    ///
    /// # Errors
    /// They failed, or the file cannot be written.
    pub(crate) fn save_counts(&mut self, record: &Record) -> Result<(), InstrumentError> {
        let Some(counts) = self.counts.take() else { return Ok(()) };
        counts.save(match &record.operations {
            Some(operations) => CountedOperations { name: operations.name.clone(), count: operations.count },
            None => CountedOperations { name: "message".to_owned(), count: record.score.total },
        })
    }
}

/// For runs that are not observed.
pub(crate) struct NoObserver;

impl RunObserver for NoObserver {
    fn gate_opening(&mut self, _: &Targets) {}

    fn deliveries_done(&mut self) -> Vec<Observation> {
        Vec::new()
    }
}

impl RunObserver for WholeRun<'_> {
    fn gate_opening(&mut self, targets: &Targets) {
        self.targets = targets.clone();
        self.running = Some(self.instruments.start(targets, self.files));
    }

    fn operations_begin(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.open();
        }
    }

    fn operations_end(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.close();
        }
    }

    fn deliveries_done(&mut self) -> Vec<Observation> {
        if let Some(counts) = &mut self.counts {
            counts.read(&self.targets);
        }
        self.running.take().map(RunningInstruments::finish).unwrap_or_default()
    }
}
