//! The raw record of what the scheduler did, as IBM's Kernel Trace Facility gave it.

mod file;
mod perfetto;
mod summary;
mod writer;

use std::path::Path;

use klatch_record::{Cost, Found, InstrumentName, Support, observed};
use libbpf_rs::MapHandle;

pub use file::{TraceEvent, TraceFile, TraceFileError, TraceKind};
pub use perfetto::perfetto;
pub use summary::{show, summary};

use crate::bpf::{Bpf, object, said};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;
use writer::{Writer, Written};

const CODE: &[u8] = object!("trace");
const TRACEPOINTS: [&str; 3] = ["sched_switch", "sched_waking", "sched_migrate_task"];

/// What a trace may take on disk, bytes: about a minute of a busy pair of CPUs.
pub const TRACE_BYTES_MAX: u64 = 256 << 20;

/// The instrument.
pub(crate) struct RawTrace;

impl Instrument for RawTrace {
    fn name(&self) -> InstrumentName {
        InstrumentName::Trace
    }

    fn shows(&self) -> &'static str {
        "the raw record of switches, wakings and migrations"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS);
        lack.unwrap_or_else(|| {
            Bpf::probe(CODE, kernel, &[], "BPF at sched_switch, sched_waking, sched_migrate_task")
        })
    }

    fn start(
        &self,
        kernel: &Kernel,
        _: &Targets,
        files: &Files,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let (name, path) = files.named("trace");
        let recorder = Recorder::start(kernel, &path, TRACE_BYTES_MAX)?;
        Ok(Box::new(Watch { recorder, name }))
    }
}

struct Watch {
    recorder: Recorder,
    name: String,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.recorder.bpf.stop();
    }

    fn read(&mut self, _: &Files) -> Result<Seen, InstrumentError> {
        let (trace, cost) = self.recorder.end()?;
        Ok(Seen { found: Found::Trace(trace), cost: Some(cost), files: vec![self.name.clone()] })
    }
}

/// Records a trace from its start to its end.
pub struct Recorder {
    bpf: Bpf,
    writer: Writer,
}

impl Recorder {
    /// Begins to record all programs of the machine into a new file at `path`, at most `bytes_max` of it.
    ///
    /// # Errors
    /// The kernel or the file system refuses.
    pub fn start(kernel: &Kernel, path: &Path, bytes_max: u64) -> Result<Recorder, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        let buffer = MapHandle::try_from(&bpf.map("events")?).map_err(said)?;
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        let writer = Writer::start(buffer, path, bytes_max).map_err(failed)?;
        bpf.attach()?;
        Ok(Recorder { bpf, writer })
    }

    /// Stops, and ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(&mut self) -> Result<(observed::Trace, Cost), InstrumentError> {
        self.bpf.stop();
        let failed = |error| InstrumentError(format!("cannot write the trace: {error}"));
        let Written { kinds, events, beyond, file_bytes } = self.writer.end().map_err(failed)?;
        let lost = self.bpf.numbers("lost", 0)?[0] + beyond;
        Ok((observed::Trace { events, lost, file_bytes, kinds }, self.bpf.cost()))
    }
}
