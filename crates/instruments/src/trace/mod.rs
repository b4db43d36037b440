//! The raw record of what the scheduler did, as IBM's Kernel Trace Facility gave it.

mod file;
mod perfetto;
mod rings;
mod summary;
mod writer;

use std::path::Path;

use klatch_record::{Found, InstrumentName, Support, observed};

pub use file::{TraceEvent, TraceFile, TraceFileError, TraceKind};
pub use perfetto::perfetto;
pub use summary::{show, summary};

use crate::bpf::{Bpf, Looked, Windows, object, said};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;
use rings::{Rings, set_room};
use writer::{Writer, Written};

const CODE: &[u8] = object!("trace");
const TRACEPOINTS: [&str; 3] = ["sched_switch", "sched_waking", "sched_migrate_task"];

/// What a trace may take on disk, bytes: about a minute of a busy pair of CPUs.
pub const TRACE_BYTES_MAX: u64 = 256 << 20;

/// Events that wait for the writer, all CPUs together: 12 MB of them.
const WAITING: u32 = 1 << 19;
/// But no CPU has less room than this: a fifth of a second of a busy one.
const WAITING_MIN: u32 = 1 << 15;

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
        _: &mut Windows,
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

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let (trace, cost) = (self.recorder.end()?, self.recorder.bpf.cost(looked));
        Ok(Seen {
            found: Found::Trace(trace),
            cost: Some(cost),
            share_of_time: None,
            files: vec![self.name.clone()],
        })
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
        let cpus = libbpf_rs::num_possible_cpus().map_err(said)? as u32;
        let room = (WAITING / cpus.next_power_of_two()).max(WAITING_MIN);
        Recorder::with_room(kernel, path, bytes_max, cpus, room)
    }

    /// With room for so many events of each CPU, a power of two.
    fn with_room(
        kernel: &Kernel,
        path: &Path,
        bytes_max: u64,
        cpus: u32,
        room: u32,
    ) -> Result<Recorder, InstrumentError> {
        let mut bpf = Bpf::load_with(CODE, kernel, &[], |open| set_room(open, cpus, room))?;
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        let writer = Writer::start(Rings::of(&bpf, cpus, room)?, path, bytes_max).map_err(failed)?;
        bpf.attach()?;
        Ok(Recorder { bpf, writer })
    }

    /// Stops, and ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(&mut self) -> Result<observed::Trace, InstrumentError> {
        self.bpf.stop();
        let failed = |error| InstrumentError(format!("cannot write the trace: {error}"));
        let Written { kinds, events, lost, file_bytes } = self.writer.end().map_err(failed)?;
        Ok(observed::Trace { events, lost, file_bytes, kinds })
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;

    #[test]
    fn what_finds_no_room_is_counted() {
        needs!(Need::Bpf);
        const ROOM: u32 = 16;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.trace");
        let cpus = libbpf_rs::num_possible_cpus().unwrap() as u32;
        let recorder = Recorder::with_room(&Kernel::here(), &path, TRACE_BYTES_MAX, cpus, ROOM);
        let mut recorder = recorder.unwrap();
        // Each wakes the other once a round.
        let (mut ping, mut pong) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let rounds = 2_000;
        let other = std::thread::spawn(move || {
            (0..rounds).for_each(|_| {
                std::io::copy(&mut std::io::Read::take(&mut ping.0, 1), &mut pong.1).map(drop).unwrap()
            });
        });
        for _ in 0..rounds {
            std::io::Write::write_all(&mut ping.1, &[0]).unwrap();
            std::io::Read::read_exact(&mut pong.0, &mut [0]).unwrap();
        }
        other.join().unwrap();
        let trace = recorder.end().unwrap();
        let read = TraceFile::read(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!((read.events.len() as u64, read.lost), (trace.events, Some(trace.lost)));
        assert!(trace.lost > 1_000 && trace.events >= u64::from(ROOM), "{trace:?}");
    }
}
