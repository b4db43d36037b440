//! Observers of a run, and the instruments that observe a whole run.

use klatch_instruments::{Files, Instruments, RunningInstruments, Targets};
use klatch_record::Observation;

/// Receives the phases of a run while it goes on.
pub(crate) trait RunObserver {
    /// All users have joined, and the gate is about to open.
    fn gate_opening(&mut self, targets: &Targets);

    /// The last delivery has arrived; all processes still live. Returns the observations of the run.
    fn deliveries_done(&mut self) -> Vec<Observation>;
}

/// Instruments that are active from the opening of the gate to the last delivery.
pub(crate) struct WholeRun<'a> {
    instruments: &'a Instruments,
    files: &'a Files,
    running: Option<RunningInstruments>,
}

impl<'a> WholeRun<'a> {
    pub(crate) fn new(instruments: &'a Instruments, files: &'a Files) -> WholeRun<'a> {
        WholeRun { instruments, files, running: None }
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
        self.running = Some(self.instruments.start(targets, self.files));
    }

    fn deliveries_done(&mut self) -> Vec<Observation> {
        self.running.take().map(RunningInstruments::finish).unwrap_or_default()
    }
}
