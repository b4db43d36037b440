//! Counting what BPF programs cost costs something itself, at each run of each. So it is done for a part of the time.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use klatch_record::Cost;

use super::system::count_cost;

/// Counted is for so long …
const ON: Duration = Duration::from_millis(50);
/// … and not for so long, in turn.
const OFF: Duration = Duration::from_millis(950);

/// Counts in a thread of its own until it is asked.
pub(crate) struct Counting {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Duration>>,
    began: Instant,
}

impl Counting {
    /// Begins with counting.
    pub(crate) fn start() -> Counting {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("counting".to_owned()).spawn(move || {
            let mut counted = Duration::ZERO;
            loop {
                let (began, _open) = (Instant::now(), count_cost());
                let goes_on = stopped.recv_timeout(ON) == Err(RecvTimeoutError::Timeout);
                counted += began.elapsed();
                drop(_open);
                if !goes_on || stopped.recv_timeout(OFF) != Err(RecvTimeoutError::Timeout) {
                    return counted;
                }
            }
        });
        Counting { stop: Some(stop), thread: thread.ok(), began: Instant::now() }
    }

    /// Ends it. By what it counted is to be multiplied for the whole time.
    pub(crate) fn end(&mut self) -> f64 {
        self.stop = None;
        let counted = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if counted.is_zero() {
            1.0
        } else {
            (self.began.elapsed().as_secs_f64() / counted.as_secs_f64()).max(1.0)
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.end();
    }
}

/// The cost in the whole time, of what was counted in a part of it.
pub(crate) fn scaled(cost: Cost, factor: f64) -> Cost {
    Cost { cpu_s: cost.cpu_s * factor, runs: (cost.runs as f64 * factor).round() as u64, ..cost }
}
