//! The interface of all instruments.

use klatch_record::{Cost, InstrumentName, ObservationData, Support};

use crate::bpf::{Coverage, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::kernel::Kernel;
use crate::targets::Targets;

/// A way to observe a run.
pub(crate) trait Instrument: Sync {
    /// Its name on the command line and in records.
    fn name(&self) -> InstrumentName;

    /// One line about its results, for `klatch instruments`.
    fn description(&self) -> &'static str;

    /// Whether it works on this kernel, determined by trying it.
    fn probe(&self, kernel: &Kernel) -> Support;

    /// Starts observing. BPF programs on frequently executed paths are added to `windows`.
    ///
    /// Everything that it creates must end with this process, even if a signal kills the process.
    ///
    /// # Errors
    /// It cannot start although [`Instrument::probe`] reported that it works.
    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        files: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError>;
}

/// An instrument between its start and the reading of its results.
pub(crate) trait RunningInstrument {
    /// Stops observing. Results are read later, so that no instrument observes the work of another.
    fn stop(&mut self);

    /// Reads the results; the observed processes must still exist. Counts from windows are scaled up to the whole run.
    ///
    /// # Errors
    /// The results cannot be read, or a file cannot be written.
    fn read(&mut self, files: &Files, coverage: &Coverage) -> Result<Output, InstrumentError>;
}

/// The results of an instrument.
pub(crate) struct Output {
    /// The observations, as they go into the record.
    pub(crate) data: ObservationData,
    /// Cost of the instrument during the run, if it was measured.
    pub(crate) cost: Option<Cost>,
    /// The share of the run that windows covered, if it uses windows.
    pub(crate) share_of_time: Option<f64>,
    /// Names of the files that it wrote.
    pub(crate) files: Vec<String>,
}
