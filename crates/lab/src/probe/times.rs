//! Distributions of times, and the clock and counters of a whole probe.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hdrhistogram::Histogram;
use klatch_instruments::OperationCounts;
use klatch_record::{Latency, LatencyError};

/// Significant digits of a time.
const DIGITS: u8 = 2;

/// Times of one kind, ns.
#[derive(Clone)]
pub(super) struct Times(Histogram<u64>);

impl Times {
    pub(super) fn new() -> Times {
        Times(Histogram::new(DIGITS).expect("two digits are possible"))
    }

    /// Adds the time since `start`, and returns the time now.
    pub(super) fn since(&mut self, start: Instant) -> Instant {
        let now = Instant::now();
        self.add(now.duration_since(start).as_nanos() as u64);
        now
    }

    pub(super) fn add(&mut self, ns: u64) {
        self.add_many(ns, 1);
    }

    pub(super) fn add_many(&mut self, ns: u64, count: u64) {
        // A histogram that grows holds every time.
        let _ = self.0.record_n(ns, count);
    }

    /// Pairs of a time, ns, and how often it was.
    pub(super) fn counts(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
    }

    pub(super) fn latency(&self) -> Result<Option<Latency>, LatencyError> {
        Latency::from_counts_ns(&self.counts())
    }
}

/// Times of one kind that several threads add at their end.
pub(super) struct SharedTimes(Mutex<Times>);

impl SharedTimes {
    pub(super) fn new() -> SharedTimes {
        SharedTimes(Mutex::new(Times::new()))
    }

    pub(super) fn add(&self, times: &Times) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Both have the same digits.
        let _ = all.0.add(&times.0);
    }

    pub(super) fn take(self) -> Times {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock of a whole probe, and the lab's counters if they count its operations.
pub(super) struct Stopwatch {
    started: Instant,
    counts: Option<OperationCounts>,
}

/// What a stopwatch showed when it was stopped.
pub(super) struct Elapsed {
    pub(super) ns: u64,
    pub(super) counts: Option<OperationCounts>,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        let mut counts = OperationCounts::wanted();
        if let Some(counts) = &mut counts {
            counts.open();
        }
        Stopwatch { started: Instant::now(), counts }
    }

    pub(super) fn stop(mut self) -> Elapsed {
        let ns = self.started.elapsed().as_nanos() as u64;
        if let Some(counts) = &mut self.counts {
            counts.close();
        }
        Elapsed { ns, counts: self.counts }
    }
}
