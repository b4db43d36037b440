//! All instruments, and those of one run.

use klatch_record::{Availability, InstrumentName, Observation, Support};

use crate::ALL;
use crate::bpf::{Coverage, Windows};
use crate::files::Files;
use crate::instrument::{Instrument, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

/// One line about the results of an instrument.
pub fn description(name: InstrumentName) -> &'static str {
    by_name(name).description()
}

/// Whether each instrument works on this kernel, determined by trying it.
pub fn availability(kernel: &Kernel) -> Vec<Availability> {
    availability_of(kernel, &InstrumentName::ALL)
}

/// Whether each of these instruments works on this kernel, determined by trying it.
pub fn availability_of(kernel: &Kernel, names: &[InstrumentName]) -> Vec<Availability> {
    let probe = |instrument: &&dyn Instrument| Availability {
        instrument: instrument.name(),
        support: instrument.probe(kernel),
    };
    ALL.iter().filter(|instrument| names.contains(&instrument.name())).map(probe).collect()
}

fn by_name(name: InstrumentName) -> &'static dyn Instrument {
    *ALL.iter().find(|instrument| instrument.name() == name).expect("every name has its instrument")
}

/// The instruments selected for a run.
pub struct Instruments {
    kernel: Kernel,
    selected: Vec<(InstrumentName, Support)>,
    always_open: bool,
}

impl Instruments {
    /// Selects `names`; `available` is the result of [`availability`] for this kernel.
    pub fn new(kernel: Kernel, names: &[InstrumentName], available: &[Availability]) -> Instruments {
        let selected = available.iter().filter(|entry| names.contains(&entry.instrument));
        let selected = selected.map(|entry| (entry.instrument, entry.support.clone())).collect();
        Instruments { kernel, selected, always_open: false }
    }

    /// Observes the whole run instead of windows: counts become exact, and the cost grows accordingly.
    pub fn without_windows(self) -> Instruments {
        Instruments { always_open: true, ..self }
    }

    /// Names of the selected instruments.
    pub fn names(&self) -> impl Iterator<Item = InstrumentName> {
        self.selected.iter().map(|(name, _)| *name)
    }

    /// Starts all instruments. One that fails is reported in its observation; the run continues without it.
    pub fn start(&self, targets: &Targets, files: &Files) -> RunningInstruments {
        let windows = Windows::new(self.always_open);
        let mut running = RunningInstruments { files: files.clone(), windows, entries: Vec::new() };
        for (name, support) in &self.selected {
            let mut entry = Entry { name: *name, support: support.clone(), running: None, failure: None };
            if support.works() {
                match by_name(*name).start(&self.kernel, targets, files, &mut running.windows) {
                    Ok(started) => entry.running = Some(started),
                    Err(error) => entry.failure = Some(error.to_string()),
                }
            }
            running.entries.push(entry);
        }
        if let Err(error) = running.windows.begin() {
            for entry in &mut running.entries {
                (entry.running, entry.failure) = (None, Some(format!("no thread can be started: {error}")));
            }
        }
        running
    }
}

/// The instruments of a run in progress. They stop when this is dropped.
pub struct RunningInstruments {
    files: Files,
    windows: Windows,
    entries: Vec<Entry>,
}

/// A selected instrument. Without support it is not started.
struct Entry {
    name: InstrumentName,
    support: Support,
    running: Option<Box<dyn RunningInstrument>>,
    failure: Option<String>,
}

impl RunningInstruments {
    /// Why the first instrument that does not work failed, with the remedy if one is known. `None` if all work.
    pub fn failure(&self) -> Option<String> {
        let failure = |entry: &Entry| {
            let unsupported = match &entry.support {
                Support::NotAvailable { why, remedy } => Some(format!("{why}; to change it: {remedy}")),
                Support::Usable { .. } | Support::Fallback { .. } => None,
            };
            let why = entry.failure.clone().or(unsupported)?;
            Some(format!("{} does not work here: {why}", entry.name))
        };
        self.entries.iter().find_map(failure)
    }

    /// Stops all instruments, then reads their results. The observed processes must still exist.
    pub fn finish(mut self) -> Vec<Observation> {
        let coverage = self.windows.end();
        self.entries.iter_mut().filter_map(|entry| entry.running.as_mut()).for_each(|running| running.stop());
        let files = self.files;
        self.entries.into_iter().map(|entry| entry.observation(&files, &coverage)).collect()
    }
}

impl Entry {
    fn observation(self, files: &Files, coverage: &Coverage) -> Observation {
        let mut observation = Observation {
            instrument: self.name,
            support: self.support,
            failure: self.failure,
            cost: None,
            share_of_time: None,
            data: None,
            files: Vec::new(),
        };
        if let Some(mut running) = self.running {
            match running.read(files, coverage) {
                Ok(output) => {
                    observation.cost = output.cost;
                    observation.share_of_time = output.share_of_time;
                    observation.data = Some(output.data);
                    observation.files = output.files;
                }
                Err(error) => observation.failure = Some(error.to_string()),
            }
        }
        observation
    }
}
