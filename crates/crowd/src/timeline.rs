//! When deliveries came: their latencies by interval, in as many intervals at most however long a run takes.

use std::collections::BTreeMap;

use klatch_record::IntervalCounts;

/// The width that the first intervals have.
const FIRST_MS: u64 = 25;
/// With more than these, they get twice as wide.
const INTERVALS_MAX: u64 = 128;

/// How often each time occurs, by the lowest value of its bucket, ns.
pub(crate) type Counts = BTreeMap<u64, u64>;

pub(crate) struct Timeline {
    interval_ms: u64,
    intervals: Vec<Counts>,
    /// What was added and has not been fetched by whoever watches.
    fresh: Counts,
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline { interval_ms: FIRST_MS, intervals: Vec::new(), fresh: Counts::new() }
    }

    /// Goes on to the interval of the moment so long after the gate opened, and tells when that ends, ns.
    pub(crate) fn go_to(&mut self, since_gate_ns: u64) -> u64 {
        while since_gate_ns / self.interval_ns() >= INTERVALS_MAX {
            self.widen();
        }
        let place = since_gate_ns / self.interval_ns();
        self.intervals.resize_with(place as usize + 1, Counts::new);
        (place + 1) * self.interval_ns()
    }

    /// Adds so many deliveries that took so long to the interval that it is at.
    pub(crate) fn add(&mut self, latency_ns: u64, count: u64) {
        let lowest = to_a_sixteenth(latency_ns);
        if let Some(interval) = self.intervals.last_mut() {
            *interval.entry(lowest).or_default() += count;
            *self.fresh.entry(lowest).or_default() += count;
        }
    }

    /// What was added since this was called before; `None` where that is nothing.
    pub(crate) fn take_fresh(&mut self) -> Option<Counts> {
        (!self.fresh.is_empty()).then(|| std::mem::take(&mut self.fresh))
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
        for place in 0..self.intervals.len() {
            let counts = std::mem::take(&mut self.intervals[place]);
            add_to(&mut self.intervals[place / 2], counts);
        }
        self.intervals.truncate(self.intervals.len().div_ceil(2));
    }
}

/// Adds counts to others.
pub(crate) fn add_to(all: &mut Counts, some: impl IntoIterator<Item = (u64, u64)>) {
    some.into_iter().for_each(|(ns, count)| *all.entry(ns).or_default() += count);
}

/// The value with its five highest bits, which is the lowest of a bucket.
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
        assert_eq!(timeline.go_to(1_000_000), 25_000_000);
        timeline.add(1_000, 2);
        assert_eq!(timeline.go_to(60_000_000), 75_000_000);
        timeline.add(40_000_000, 1);
        assert_eq!(timeline.take_fresh().map(|fresh| fresh.values().sum()), Some(3_u64));
        assert_eq!(timeline.take_fresh(), None);
        let counts = timeline.counts();
        assert_eq!(counts.latency_ns, [vec![(992, 2)], vec![], vec![(to_a_sixteenth(40_000_000), 1)]]);
    }

    proptest! {
        #[test]
        fn however_long_it_takes_each_delivery_is_in_the_interval_of_its_moment(
            mut moments_ms in proptest::collection::vec(0_u64..200_000, 1..400),
        ) {
            moments_ms.sort_unstable();
            let mut timeline = Timeline::new();
            for moment in &moments_ms {
                timeline.go_to(moment * 1_000_000);
                timeline.add(1_024, 1);
            }
            let counts = timeline.counts();
            prop_assert!(counts.latency_ns.len() <= INTERVALS_MAX as usize);
            let last = (counts.latency_ns.len() as u64 - 1) * counts.interval_ms;
            prop_assert!(counts.interval_ms == FIRST_MS || last >= FIRST_MS * INTERVALS_MAX / 2);
            for (place, counted) in counts.latency_ns.iter().enumerate() {
                let here = moments_ms.iter().filter(|moment| *moment / counts.interval_ms == place as u64).count();
                prop_assert_eq!(counted.iter().map(|(_, count)| *count).sum::<u64>(), here as u64);
            }
        }
    }
}
