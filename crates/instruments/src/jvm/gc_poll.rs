//! Single pauses for garbage collection. The counters hold start and end of the last one only, so a thread polls them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use klatch_record::observed::Distribution;

use klatch_host::machine::{JvmCounters, counter_bytes, counter_offset};

/// Of two collections within this time, only the later one is recorded.
const PERIOD: Duration = Duration::from_millis(10);

/// What the name of a collector begins with whose times are also those of its work beside the program.
const NO_PAUSES: &str = "Shenandoah";

/// A thread that polls the counters of some JVMs until it is dropped.
pub(super) struct GcPoll {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Vec<f64>>>,
}

impl GcPoll {
    /// Starts polling these counter files.
    pub(super) fn start(files: Vec<File>) -> std::io::Result<GcPoll> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("jvm".to_owned()).spawn(move || {
            let mut pauses_ms = Vec::new();
            let mut jvms: Vec<Jvm> = files.into_iter().filter_map(Jvm::new).collect();
            loop {
                let last = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                jvms.iter_mut().for_each(|jvm| jvm.poll(&mut pauses_ms));
                if last {
                    return pauses_ms;
                }
            }
        })?;
        Ok(GcPoll { stop: Some(stop), thread: Some(thread) })
    }

    /// Stops polling. Returns the pauses since the start, in ms; `None` if there was none.
    pub(super) fn end(&mut self) -> Option<Distribution> {
        self.stop = None;
        let mut pauses_ms = self.thread.take()?.join().ok()?;
        pauses_ms.sort_by(f64::total_cmp);
        let max = *pauses_ms.last()?;
        let at = |share: f64| pauses_ms[((pauses_ms.len() as f64 * share) as usize).min(pauses_ms.len() - 1)];
        let mean = pauses_ms.iter().sum::<f64>() / pauses_ms.len() as f64;
        Some(Distribution {
            count: pauses_ms.len() as u64,
            mean,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max,
        })
    }
}

impl Drop for GcPoll {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The counter file of one JVM, with the offsets of its collectors' times.
struct Jvm {
    file: File,
    ticks_per_s: f64,
    collectors: Vec<Collector>,
}

struct Collector {
    /// Offsets of the start and end time of the last collection, in bytes.
    offsets: [u64; 2],
    /// End of the last recorded collection, in ticks.
    end: u64,
}

impl Jvm {
    fn new(file: File) -> Option<Jvm> {
        let bytes = counter_bytes(&file)?;
        let counters = JvmCounters::parse(&bytes)?;
        let offset = |ordinal, name| counter_offset(&bytes, &format!("sun.gc.collector.{ordinal}.{name}"));
        let collector = |ordinal| {
            let offsets = [offset(ordinal, "lastEntryTime")? as u64, offset(ordinal, "lastExitTime")? as u64];
            Some(Collector { offsets, end: 0 })
        };
        let stopping = counters.collectors().filter(|(_, name)| !name.starts_with(NO_PAUSES));
        let collectors = stopping.filter_map(|(ordinal, _)| collector(ordinal)).collect();
        let ticks_per_s = 1.0 / counters.seconds(1);
        let mut jvm = Jvm { file, ticks_per_s, collectors };
        // Skips the collections before the run.
        jvm.poll(&mut Vec::new());
        Some(jvm)
    }

    /// Adds the last pause of each collector if it is new.
    fn poll(&mut self, pauses_ms: &mut Vec<f64>) {
        for collector in &mut self.collectors {
            let number = |offset| {
                let mut bytes = [0; 8];
                self.file.read_exact_at(&mut bytes, offset).ok()?;
                Some(u64::from_le_bytes(bytes))
            };
            let [Some(begin), Some(end)] = collector.offsets.map(number) else { continue };
            // During a collection, the end is still that of the previous one.
            if end >= begin && end != collector.end {
                collector.end = end;
                pauses_ms.push((end - begin) as f64 / self.ticks_per_s * 1e3);
            }
        }
    }
}
