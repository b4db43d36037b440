//! What an event loop has found so far: counts, latencies, examples of faults.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use klatch_record::{CrowdResult, EXAMPLES_MAX, Fault, FaultKind, IntervalCounts, Stranger};

use crate::timeline::{Counts, Timeline};

/// A day: whatever takes longer counts as this.
const LATENCY_MAX_NS: u64 = 86_400 * 1_000_000_000;

pub(crate) struct Tally {
    /// Of the intervals that have ended.
    latency_ns: Histogram<u32>,
    /// Of the one that goes on: a delivery is counted here alone, so that seeing when it came costs no more.
    current_ns: Histogram<u32>,
    current_ends_ns: u64,
    timeline: Timeline,
    lag_ns: Histogram<u32>,
    strangers: BTreeMap<(u32, Vec<u8>), u64>,
    /// The moment of the last verified delivery; 0 if there was none.
    pub(crate) last_ns: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    counts: [u64; 5],
    faults: Vec<Fault>,
}

impl Tally {
    pub(crate) fn new() -> Tally {
        let histogram = || Histogram::new_with_max(LATENCY_MAX_NS, 3).expect("the bounds are possible");
        Tally {
            latency_ns: histogram(),
            current_ns: histogram(),
            current_ends_ns: 0,
            timeline: Timeline::new(),
            lag_ns: histogram(),
            strangers: BTreeMap::new(),
            last_ns: 0,
            sent: 0,
            received: 0,
            counts: [0; 5],
            faults: Vec::new(),
        }
    }

    /// A verified delivery that arrived at `now_ns`, after the gate had opened at `gate_ns`, and was meant to be sent at
    /// `meant_ns`.
    pub(crate) fn delivery(&mut self, gate_ns: u64, now_ns: u64, meant_ns: u64) {
        if now_ns >= self.current_ends_ns {
            self.end_interval();
            self.current_ends_ns = gate_ns + self.timeline.go_to(now_ns.saturating_sub(gate_ns));
        }
        self.received += 1;
        // Threads that share this may look at the clock in one order and come here in another.
        self.last_ns = self.last_ns.max(now_ns);
        // A text is checked before its time is used, so the difference fits.
        self.current_ns.saturating_record(now_ns.saturating_sub(meant_ns));
    }

    /// Latencies of intervals that have ended since this was called before.
    pub(crate) fn take_fresh(&mut self) -> Option<Counts> {
        self.timeline.take_fresh()
    }

    #[cold]
    fn end_interval(&mut self) {
        for (ns, count) in recorded(&self.current_ns) {
            self.timeline.add(ns, count);
            self.latency_ns.saturating_record_n(ns, count as u32);
        }
        self.current_ns.reset();
    }

    pub(crate) fn lag(&mut self, lag_ns: u64) {
        self.lag_ns.saturating_record(lag_ns);
    }

    pub(crate) fn fault(&mut self, fault: Fault) {
        self.counts[fault.kind as usize] += fault.count;
        if self.faults.len() < EXAMPLES_MAX {
            self.faults.push(fault);
        }
    }

    /// Somebody who is not of the crowd was seen in `room`, or said `messages` there.
    pub(crate) fn stranger(&mut self, room: u32, nick: &[u8], messages: u64) {
        let known =
            self.strangers.len() < EXAMPLES_MAX || self.strangers.contains_key(&(room, nick.to_vec()));
        if known {
            *self.strangers.entry((room, nick.to_vec())).or_default() += messages;
        }
    }

    /// Adds all of this to `result`.
    pub(crate) fn pour_into(mut self, result: &mut CrowdResult) {
        self.end_interval();
        let count = |kind: FaultKind| self.counts[kind as usize];
        result.sent += self.sent;
        result.received += self.received;
        result.lost += count(FaultKind::Lost);
        result.unsent += count(FaultKind::Unsent);
        result.duplicated += count(FaultKind::Duplicated);
        result.reordered += count(FaultKind::Reordered);
        result.corrupted += count(FaultKind::Corrupted);
        result.faults.extend(self.faults);
        result.faults.truncate(EXAMPLES_MAX);
        let named = |((room, nick), messages): ((u32, Vec<u8>), u64)| Stranger {
            room,
            nick: String::from_utf8_lossy(&nick).into_owned(),
            messages,
        };
        result.strangers.extend(self.strangers.into_iter().map(named));
        result.strangers.truncate(EXAMPLES_MAX);
        add(&mut result.latency_ns, &self.latency_ns);
        add(&mut result.send_lag_ns, &self.lag_ns);
        let over_time = result.over_time.take().into_iter().chain([self.timeline.counts()]);
        result.over_time = IntervalCounts::together(over_time);
    }
}

/// Adds a histogram to sorted pairs of (lowest value of a bucket, count).
fn add(pairs: &mut Vec<(u64, u64)>, histogram: &Histogram<u32>) {
    let mut sum: BTreeMap<u64, u64> = pairs.iter().copied().collect();
    recorded(histogram).for_each(|(lowest, count)| *sum.entry(lowest).or_default() += count);
    *pairs = sum.into_iter().collect();
}

/// Lowest value of each bucket that is not empty, and how often.
fn recorded(histogram: &Histogram<u32>) -> impl Iterator<Item = (u64, u64)> {
    histogram.iter_recorded().map(|bucket| {
        (histogram.lowest_equivalent(bucket.value_iterated_to()), u64::from(bucket.count_at_value()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up() {
        let mut result = CrowdResult::default();
        for room in 1..=2 {
            let mut tally = Tally::new();
            tally.delivery(1_000, 5_000, 2_000);
            tally.delivery(1_000, 9_000_000, 1_000_000);
            tally.delivery(1_000, 60_000_000, 59_000_000);
            assert_eq!(tally.take_fresh().map(|fresh| fresh.into_values().sum()), Some(2_u64));
            tally.stranger(room, b"eve", 0);
            tally.stranger(room, b"eve", 1);
            tally.pour_into(&mut result);
        }
        assert_eq!(result.received, 6);
        let [(short, 2), (_, 2), (long, 2)] = result.latency_ns[..] else {
            panic!("{:?}", result.latency_ns)
        };
        assert_eq!((short, long / 8_192), (3_000, 8_000_000 / 8_192), "the lowest values of the buckets");
        let over_time = result.over_time.unwrap().latency_ns;
        let deliveries: Vec<u64> =
            over_time.iter().map(|counts| counts.iter().map(|(_, count)| count).sum()).collect();
        assert_eq!(deliveries, [4, 0, 2]);
        assert_eq!(
            result.strangers.iter().map(|s| (s.room, s.messages)).collect::<Vec<_>>(),
            [(1, 1), (2, 1)]
        );
    }

    #[test]
    fn examples_are_few_and_counts_complete() {
        let mut tally = Tally::new();
        for sequence in 0..100 {
            let kind = FaultKind::Duplicated;
            let (user, speaker, sequence) = (Some(1), Some(2), Some(sequence));
            tally.fault(Fault { kind, room: 1, user, speaker, sequence, count: 1, detail: None });
        }
        let mut result = CrowdResult::default();
        tally.pour_into(&mut result);
        assert_eq!((result.duplicated, result.faults.len(), result.lost), (100, EXAMPLES_MAX, 0));
    }
}
