//! Latencies by interval of the run. The number of intervals is bounded, however long the run takes.

use std::collections::BTreeMap;

use klatch_record::IntervalCounts;

/// Initial width of an interval in ms.
const FIRST_MS: u64 = 25;
/// With more intervals than this, their width doubles.
const INTERVALS_MAX: u64 = 128;

/// Counts by the lowest value of the bucket, ns.
pub(crate) type Counts = BTreeMap<u64, u64>;

pub(crate) struct Timeline {
    interval_ms: u64,
    intervals: Vec<Counts>,
    /// What was added and has not been taken yet.
    new_latencies: Counts,
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline { interval_ms: FIRST_MS, intervals: Vec::new(), new_latencies: Counts::new() }
    }

    /// Advances to the interval that contains this time after the gate. Returns the end of that interval, ns after the gate.
    pub(crate) fn advance_to(&mut self, since_gate_ns: u64) -> u64 {
        while since_gate_ns / self.interval_ns() >= INTERVALS_MAX {
            self.widen();
        }
        let index = since_gate_ns / self.interval_ns();
        self.intervals.resize_with(index as usize + 1, Counts::new);
        (index + 1) * self.interval_ns()
    }

    /// Adds deliveries of one latency to the current interval.
    pub(crate) fn add(&mut self, latency_ns: u64, count: u64) {
        let lowest = to_a_sixteenth(latency_ns);
        if let Some(interval) = self.intervals.last_mut() {
            *interval.entry(lowest).or_default() += count;
            *self.new_latencies.entry(lowest).or_default() += count;
        }
    }

    /// What was added since the last call; `None` if nothing was.
    pub(crate) fn take_new_latencies(&mut self) -> Option<Counts> {
        (!self.new_latencies.is_empty()).then(|| std::mem::take(&mut self.new_latencies))
    }

    pub(crate) fn counts(self) -> IntervalCounts {
        let latency_ns = self.intervals.into_iter().map(|counts| counts.into_iter().collect()).collect();
        IntervalCounts { interval_ms: self.interval_ms, latency_ns }
    }

    fn interval_ns(&self) -> u64 {
        self.interval_ms * 1_000_000
    }

    fn widen(&mut self) {
        self.interval_ms *= 2;
        for index in 0..self.intervals.len() {
            let counts = std::mem::take(&mut self.intervals[index]);
            add_to(&mut self.intervals[index / 2], counts);
        }
        self.intervals.truncate(self.intervals.len().div_ceil(2));
    }
}

/// Adds counts to others.
pub(crate) fn add_to(all: &mut Counts, some: impl IntoIterator<Item = (u64, u64)>) {
    some.into_iter().for_each(|(ns, count)| *all.entry(ns).or_default() += count);
}

/// The value with its five highest bits: the lower bound of its bucket.
fn to_a_sixteenth(ns: u64) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(5);
    ns >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_a_sixteenth_wide() {
        for (ns, lowest) in [(0, 0), (31, 31), (33, 32), (1_000, 992), (u64::MAX, 31 << 59)] {
            assert_eq!(to_a_sixteenth(ns), lowest);
        }
    }

    #[test]
    fn a_moment_without_deliveries_is_an_empty_interval() {
        let mut timeline = Timeline::new();
        assert_eq!(timeline.advance_to(1_000_000), 25_000_000);
        timeline.add(1_000, 2);
        assert_eq!(timeline.advance_to(60_000_000), 75_000_000);
        timeline.add(40_000_000, 1);
        assert_eq!(
            timeline.take_new_latencies().map(|new_latencies| new_latencies.values().sum()),
            Some(3_u64)
        );
        assert_eq!(timeline.take_new_latencies(), None);
        let counts = timeline.counts();
        assert_eq!(counts.latency_ns, [vec![(992, 2)], vec![], vec![(to_a_sixteenth(40_000_000), 1)]]);
    }

    proptest! {
        #[test]
        fn every_delivery_is_in_the_interval_of_its_time(
            mut moments_ms in proptest::collection::vec(0_u64..200_000, 1..400),
        ) {
            moments_ms.sort_unstable();
            let mut timeline = Timeline::new();
            for moment in &moments_ms {
                timeline.advance_to(moment * 1_000_000);
                timeline.add(1_024, 1);
            }
            let counts = timeline.counts();
            prop_assert!(counts.latency_ns.len() <= INTERVALS_MAX as usize);
            let last = (counts.latency_ns.len() as u64 - 1) * counts.interval_ms;
            prop_assert!(counts.interval_ms == FIRST_MS || last >= FIRST_MS * INTERVALS_MAX / 2);
            for (index, counted) in counts.latency_ns.iter().enumerate() {
                let expected = moments_ms.iter().filter(|moment| *moment / counts.interval_ms == index as u64).count();
                prop_assert_eq!(counted.iter().map(|(_, count)| *count).sum::<u64>(), expected as u64);
            }
        }
    }
}
