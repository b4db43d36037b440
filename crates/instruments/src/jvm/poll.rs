//! Pauses for garbage collection one by one: the JVM tells begin and end of the last, so they are read often.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use klatch_record::observed::Distribution;

use super::counters::Counters;

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
            let mut ends = BTreeMap::new();
            loop {
                let last = stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
                for (file, path) in files.iter().enumerate() {
                    let counters = std::fs::read(path).ok().and_then(|bytes| Counters::parse(&bytes));
                    if let Some(counters) = counters {
                        (0..COLLECTORS_MAX)
                            .for_each(|number| look(&counters, (file, number), &mut ends, &mut pauses_ms));
                    }
                }
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

/// Notes the last pause of one collector if it is a new one.
fn look(
    counters: &Counters,
    collector: (usize, usize),
    ends: &mut BTreeMap<(usize, usize), u64>,
    pauses_ms: &mut Vec<f64>,
) {
    let number = |name: &str| counters.number(&format!("sun.gc.collector.{}.{name}", collector.1));
    let (begin, end) = (number("lastEntryTime"), number("lastExitTime"));
    // While one goes on, the end is that of the one before.
    if end < begin {
        return;
    }
    let before = ends.insert(collector, end);
    if before.is_some_and(|before| before != end) {
        pauses_ms.push(counters.seconds(end - begin) * 1e3);
    }
}
