//! A raw trace of scheduler events, as IBM's Kernel Trace Facility recorded.

mod file;
mod latency;
mod perf;
mod perfetto;
mod replay;
mod rings;
mod summary;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;

use klatch_record::{InstrumentName, ObservationData, Support, observed};
use libbpf_rs::{MapCore, MapFlags};

pub use file::{TraceEvent, TraceFile, TraceFileError, TraceKind};
pub use latency::{QueueWaits, WaitsBy, queue_waits};
pub use perf::{PerfError, PerfScript, read_perf_script};
pub use perfetto::write_perfetto;
pub use replay::replay;
pub use summary::{ThreadSummary, TraceSummary, event_line, summary};

use crate::bpf::{Bpf, Coverage, Windows, object, possible_cpus};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;
use rings::{Rings, set_sizes};
use writer::{Writer, Written};

const CODE: &[u8] = object!("trace");
const TRACEPOINTS: [&str; 4] = ["sched_switch", "sched_waking", "sched_migrate_task", "sched_process_exit"];

/// `ENDED_SLOTS` of trace.bpf.c.
const ENDED_SLOTS: u32 = 8192;

/// The first Linux whose BPF has atomic operations that return a value, by which events get their places in a ring.
const SINCE: &str = "5.12";

/// Default limit of a trace file, in bytes: about a minute of two busy CPUs.
pub const TRACE_BYTES_MAX: u64 = 256 << 20;

/// Events that the rings of all CPUs hold together, 12 MB.
const CAPACITY: u32 = 1 << 19;
/// Least capacity of one ring: the events of a busy CPU in a fifth of a second.
const RING_CAPACITY_MIN: u32 = 1 << 15;

pub(crate) struct SchedulerTrace;

impl Instrument for SchedulerTrace {
    fn name(&self) -> InstrumentName {
        InstrumentName::Trace
    }

    fn description(&self) -> &'static str {
        "the raw record of switches, wakings and migrations"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS).or_else(|| kernel.lacks_same_ids());
        lack.unwrap_or_else(|| {
            Bpf::probe(CODE, kernel, SINCE, "BPF at sched_switch, sched_waking, sched_migrate_task")
        })
    }

    fn start(
        &self,
        kernel: &Kernel,
        _: &Targets,
        files: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let (name, path) = files.name_and_path("trace");
        let recorder = Recorder::start(kernel, &path, TRACE_BYTES_MAX)?;
        Ok(Box::new(RunningTrace { recorder, name }))
    }
}

struct RunningTrace {
    recorder: Recorder,
    name: String,
}

impl RunningInstrument for RunningTrace {
    fn stop(&mut self) {
        self.recorder.bpf.stop();
    }

    fn read(&mut self, _: &Files, coverage: &Coverage) -> Result<Output, InstrumentError> {
        let (trace, cost) = (self.recorder.end()?, self.recorder.bpf.cost(coverage));
        Ok(Output {
            data: ObservationData::Trace(trace),
            cost,
            share_of_time: None,
            files: vec![self.name.clone()],
        })
    }
}

/// A recording in progress. Dropping it stops the recording and leaves an incomplete file.
pub struct Recorder {
    bpf: Bpf,
    writer: Writer,
}

impl Recorder {
    /// Records the scheduler events of the whole machine into a new file of at most `bytes_max` bytes of events.
    ///
    /// # Errors
    /// The kernel refuses the BPF programs, names processes by other ids than this one, or the file cannot be created.
    pub fn start(kernel: &Kernel, path: &Path, bytes_max: u64) -> Result<Recorder, InstrumentError> {
        if let Some(Support::NotAvailable { why, remedy }) = kernel.lacks_same_ids() {
            return Err(InstrumentError(format!("{why}; {remedy}")));
        }
        let cpus = possible_cpus()?;
        let capacity = (CAPACITY / cpus.next_power_of_two()).max(RING_CAPACITY_MIN);
        Recorder::with_ring_capacity(kernel, path, bytes_max, cpus, capacity)
    }

    /// As [`Recorder::start`], with a ring of `capacity` events for each CPU, a power of two.
    fn with_ring_capacity(
        kernel: &Kernel,
        path: &Path,
        bytes_max: u64,
        cpus: u32,
        capacity: u32,
    ) -> Result<Recorder, InstrumentError> {
        let mut bpf = Bpf::load_with(CODE, kernel, &[], |open| set_sizes(open, cpus, capacity))?;
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        let writer = Writer::start(Rings::map(&bpf, cpus, capacity)?, path, bytes_max).map_err(failed)?;
        bpf.attach()?;
        Ok(Recorder { bpf, writer })
    }

    /// Stops recording and completes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(&mut self) -> Result<observed::Trace, InstrumentError> {
        self.bpf.stop();
        let failed = |error| InstrumentError(format!("cannot write the trace: {error}"));
        let ended = self.names_of_ended()?;
        let Written { kinds, events, lost, file_bytes } = self.writer.end(ended).map_err(failed)?;
        Ok(observed::Trace { events, lost, file_bytes, kinds })
    }
}

impl Recorder {
    /// Names of threads that ended during the recording, by their ids. Of two in one slot the later one counts.
    fn names_of_ended(&self) -> Result<BTreeMap<u32, String>, InstrumentError> {
        let map = self.bpf.map("ended")?;
        let mut names = BTreeMap::new();
        for slot in 0..ENDED_SLOTS {
            let bytes = map.lookup(&slot.to_ne_bytes(), MapFlags::ANY);
            let Ok(Some(bytes)) = bytes else { continue };
            let Some((pid, name)) = bytes.split_first_chunk() else { continue };
            let pid = u32::from_ne_bytes(*pid);
            if pid != 0 {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                names.insert(pid, String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;

    #[test]
    fn events_lost_to_a_full_ring_are_counted() {
        needs!(Need::Bpf);
        const RING_CAPACITY: u32 = 16;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.trace");
        let cpus = possible_cpus().unwrap();
        let recorder =
            Recorder::with_ring_capacity(&Kernel::detect(), &path, TRACE_BYTES_MAX, cpus, RING_CAPACITY);
        let mut recorder = recorder.unwrap();
        // Two threads wake each other once per round.
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
        assert!(trace.lost > 1_000 && trace.events >= u64::from(RING_CAPACITY), "{trace:?}");
    }

    #[test]
    fn a_thread_that_ended_before_the_trace_has_its_name() {
        needs!(Need::Bpf);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ended.trace");
        let mut recorder = Recorder::start(&Kernel::detect(), &path, TRACE_BYTES_MAX).unwrap();
        let builder = std::thread::Builder::new().name("ended-early".to_owned());
        let sleep = || (0..5).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(50)));
        builder.spawn(sleep).unwrap().join().unwrap();
        recorder.end().unwrap();
        let read = TraceFile::read(std::fs::File::open(&path).unwrap()).unwrap();
        let thread = read.names.iter().find(|(_, name)| *name == "ended-early").map(|(thread, _)| *thread);
        let is_listed =
            |one: &QueueWaits| Some(&one.name) == thread.map(|id| format!("ended-early:{id}")).as_ref();
        let waits = queue_waits(&read, WaitsBy::Thread);
        assert!(waits.iter().any(|one| is_listed(one) && one.count() >= 5), "{:?} {waits:?}", read.names);
    }

    #[test]
    fn events_of_a_cpu_without_a_ring_are_lost() {
        needs!(Need::Bpf);
        if possible_cpus().unwrap() == 1 {
            return klatch_testing::not_run("all of it", "there is only one CPU");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.trace");
        let recorder =
            Recorder::with_ring_capacity(&Kernel::detect(), &path, TRACE_BYTES_MAX, 1, RING_CAPACITY_MIN);
        let mut recorder = recorder.unwrap();
        // A thread on the last CPU that sleeps, so that the CPU switches.
        std::thread::spawn(|| {
            let mut last = rustix::thread::CpuSet::new();
            last.set(std::thread::available_parallelism().unwrap().get() - 1);
            rustix::thread::sched_setaffinity(None, &last).unwrap();
            (0..20).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(100)));
        })
        .join()
        .unwrap();
        let trace = recorder.end().unwrap();
        assert!(trace.lost >= 20, "{trace:?}");
        let read = TraceFile::read(std::fs::File::open(&path).unwrap()).unwrap();
        assert!(read.events.iter().all(|event| event.cpu == 0) && read.lost == Some(trace.lost), "{trace:?}");
    }
}
