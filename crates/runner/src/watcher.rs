//! Who watches a run, and when.

use klatch_instruments::{Files, Instruments, Targets, Watch};
use klatch_record::Observation;

/// What is told of a run while it goes on.
pub trait Watcher {
    /// All users have joined, and the gate is about to open.
    fn opens(&mut self, targets: &Targets);

    /// So many messages have been said and delivered.
    fn progress(&mut self, messages: u64);

    /// The last delivery has come; the processes are still there.
    fn closes(&mut self) -> Vec<Observation>;
}

/// Instruments that watch the whole run.
pub(crate) struct Throughout<'a> {
    instruments: &'a Instruments,
    files: &'a Files,
    watch: Option<Watch>,
}

impl<'a> Throughout<'a> {
    pub(crate) fn new(instruments: &'a Instruments, files: &'a Files) -> Throughout<'a> {
        Throughout { instruments, files, watch: None }
    }
}

impl Watcher for Throughout<'_> {
    fn opens(&mut self, targets: &Targets) {
        self.watch = Some(self.instruments.start(targets, self.files));
    }

    fn progress(&mut self, _: u64) {}

    fn closes(&mut self) -> Vec<Observation> {
        self.watch.take().map(Watch::finish).unwrap_or_default()
    }
}
