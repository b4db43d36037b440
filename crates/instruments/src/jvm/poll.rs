//! Pauses for garbage collection one by one: the JVM tells begin and end of the last, so they are read often.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use klatch_record::observed::Distribution;

use klatch_machine::{JvmCounters, counter_offset};

/// Of two collections within this time only the later is seen by its length.
const PERIOD: Duration = Duration::from_millis(10);

/// Collectors of a JVM; HotSpot's have at most three.
const COLLECTORS_MAX: usize = 4;

/// A thread that reads until it is asked.
pub(super) struct Poll {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Vec<f64>>>,
}

impl Poll {
    /// Begins to read these files.
    pub(super) fn start(files: Vec<PathBuf>) -> std::io::Result<Poll> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("jvm".to_owned()).spawn(move || {
            let mut pauses_ms = Vec::new();
            let mut jvms: Vec<Jvm> = files.iter().filter_map(|file| Jvm::open(file)).collect();
            loop {
                let last = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                jvms.iter_mut().for_each(|jvm| jvm.look(&mut pauses_ms));
                if last {
                    return pauses_ms;
                }
            }
        })?;
        Ok(Poll { stop: Some(stop), thread: Some(thread) })
    }

    /// All pauses since the start, in ms; `None` if there was none.
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

impl Drop for Poll {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The counters of one JVM, of which those of its collectors are read often: so it is known where they are.
struct Jvm {
    file: File,
    ticks_per_s: f64,
    collectors: Vec<Collector>,
}

struct Collector {
    /// Where the times are at which the last collection began, and ended.
    places: [u64; 2],
    /// When the last one ended that was seen.
    end: u64,
}

impl Jvm {
    fn open(path: &Path) -> Option<Jvm> {
        let bytes = std::fs::read(path).ok()?;
        let place = |number, name| counter_offset(&bytes, &format!("sun.gc.collector.{number}.{name}"));
        let collector = |number| {
            let places = [place(number, "lastEntryTime")? as u64, place(number, "lastExitTime")? as u64];
            Some(Collector { places, end: 0 })
        };
        let collectors = (0..COLLECTORS_MAX).filter_map(collector).collect();
        let ticks_per_s = 1.0 / JvmCounters::parse(&bytes)?.seconds(1);
        let mut jvm = Jvm { file: File::open(path).ok()?, ticks_per_s, collectors };
        // What was before is not told of.
        jvm.look(&mut Vec::new());
        Some(jvm)
    }

    /// Notes the last pause of each collector if it is a new one.
    fn look(&mut self, pauses_ms: &mut Vec<f64>) {
        for collector in &mut self.collectors {
            let number = |place| {
                let mut bytes = [0; 8];
                self.file.read_exact_at(&mut bytes, place).ok()?;
                Some(u64::from_le_bytes(bytes))
            };
            let [Some(begin), Some(end)] = collector.places.map(number) else { continue };
            // While one goes on, the end is that of the one before.
            if end >= begin && end != collector.end {
                collector.end = end;
                pauses_ms.push((end - begin) as f64 / self.ticks_per_s * 1e3);
            }
        }
    }
}
