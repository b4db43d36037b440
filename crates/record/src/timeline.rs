//! Deliveries over the time of a run: their number and latency in each interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::latency::{Latency, LatencyError};
use crate::packed::unpacked;
use crate::sums::{TIMES, sum};

/// Deliveries by the interval of their arrival, as a crowd counts them. A crowd begins with intervals of 25 ms and doubles
/// their width whenever there would be more than 128.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalCounts {
    /// Width of an interval, ms. The first one begins when the gate opens.
    pub interval_ms: u64,
    /// For each interval: lowest value of a bucket in ns, and how often. A bucket is a sixteenth of its value wide.
    pub latency_ns: Vec<Vec<(u64, u64)>>,
}

/// Deliveries over the time of a run. An interval of each shard is counted from the opening of its own gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// Width of an interval, ms. The first one begins when the gate opens; the last one contains the last delivery.
    pub interval_ms: u64,
    /// The intervals, one after the other.
    pub intervals: Vec<Interval>,
}

/// The deliveries of one interval. Times are exact to a sixteenth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Deliveries that were verified in the interval.
    pub deliveries: u64,
    /// Their median latency, µs; `null` for an interval without deliveries.
    pub p50_us: Option<f64>,
    /// The 99th percentile, µs; `null` in an interval without deliveries.
    pub p99_us: Option<f64>,
    /// The largest latency in the interval, µs; `null` in an interval without deliveries.
    pub max_us: Option<f64>,
    /// All latencies in ns, as in [`Latency::histogram`]; empty for an interval without deliveries.
    pub histogram: String,
}

impl IntervalCounts {
    /// Those of several together. `None` where there are none, or where their intervals do not fit into each other.
    pub fn together(all: impl Iterator<Item = IntervalCounts>) -> Option<IntervalCounts> {
        let all: Vec<IntervalCounts> = all.collect();
        let interval_ms = all.iter().map(|one| one.interval_ms).max()?;
        let mut sums: Vec<BTreeMap<u64, u64>> = Vec::new();
        for one in all {
            if interval_ms.checked_rem(one.interval_ms) != Some(0) {
                return None;
            }
            let folded = (interval_ms / one.interval_ms) as usize;
            for (place, counts) in one.latency_ns.into_iter().enumerate() {
                let place = place / folded;
                sums.resize_with(sums.len().max(place + 1), BTreeMap::new);
                counts.into_iter().for_each(|(ns, count)| *sums[place].entry(ns).or_default() += count);
            }
        }
        let latency_ns = sums.into_iter().map(|sum| sum.into_iter().collect()).collect();
        Some(IntervalCounts { interval_ms, latency_ns })
    }
}

impl Timeline {
    /// What a crowd counted, with percentiles.
    ///
    /// # Errors
    /// A time too large to be held.
    pub fn from_counts(counts: &IntervalCounts) -> Result<Timeline, LatencyError> {
        let intervals = counts.latency_ns.iter().map(|counts| Interval::from_counts(counts));
        Ok(Timeline { interval_ms: counts.interval_ms, intervals: intervals.collect::<Result<_, _>>()? })
    }

    /// Those of all together, exactly. `None` where one of them is not known.
    ///
    /// # Errors
    /// A histogram cannot be read, or all have more deliveries than 64 bits count.
    pub fn merge<'a>(
        all: impl Iterator<Item = Option<&'a Timeline>>,
    ) -> Result<Option<Timeline>, LatencyError> {
        let Some(all) = all.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let all = all.into_iter().map(Timeline::counts).collect::<Result<Vec<_>, _>>()?;
        // No interval has more than all of them.
        sum(TIMES, all.iter().flat_map(|one| &one.latency_ns).flatten().map(|(_, count)| *count))?;
        IntervalCounts::together(all.into_iter()).as_ref().map(Timeline::from_counts).transpose()
    }

    fn counts(&self) -> Result<IntervalCounts, LatencyError> {
        let read = |one: &Interval| match one.histogram.as_str() {
            "" => Ok(Vec::new()),
            packed => unpacked(packed),
        };
        let latency_ns = self.intervals.iter().map(read).collect::<Result<_, _>>()?;
        Ok(IntervalCounts { interval_ms: self.interval_ms, latency_ns })
    }
}

impl Interval {
    fn from_counts(counts: &[(u64, u64)]) -> Result<Interval, LatencyError> {
        let latency = Latency::from_counts_ns(counts)?;
        let number = |value: fn(&Latency) -> f64| latency.as_ref().map(value);
        Ok(Interval {
            deliveries: latency.as_ref().map_or(0, |latency| latency.count),
            p50_us: number(|latency| latency.p50_us),
            p99_us: number(|latency| latency.p99_us),
            max_us: number(|latency| latency.max_us),
            histogram: latency.map(|latency| latency.histogram).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(interval_ms: u64, rows: &[&[(u64, u64)]]) -> IntervalCounts {
        IntervalCounts { interval_ms, latency_ns: rows.iter().map(|row| row.to_vec()).collect() }
    }

    #[test]
    fn an_interval_without_deliveries_has_no_percentiles() {
        let timeline = Timeline::from_counts(&counts(25, &[&[(16_000, 99), (2_000_000, 1)], &[]])).unwrap();
        let [busy, idle] = &timeline.intervals[..] else { panic!("{timeline:?}") };
        assert_eq!((busy.deliveries, idle.deliveries), (100, 0));
        assert!((busy.max_us.unwrap() / 2_000.0 - 1.0).abs() < 0.001, "{busy:?}");
        assert_eq!((idle.p50_us, idle.histogram.as_str()), (None, ""));
    }

    #[test]
    fn merged_timelines_have_the_wider_intervals_and_every_delivery() {
        let fine = counts(25, &[&[(16, 1)], &[(16, 2)], &[], &[(64, 4)], &[(32, 1)]]);
        let coarse = counts(50, &[&[(16, 8)]]);
        let wanted = counts(50, &[&[(16, 11)], &[(64, 4)], &[(32, 1)]]);
        assert_eq!(
            IntervalCounts::together([fine.clone(), coarse.clone()].into_iter()),
            Some(wanted.clone())
        );
        let [fine, coarse, wanted] = [fine, coarse, wanted].map(|one| Timeline::from_counts(&one).unwrap());
        let merged = Timeline::merge([Some(&fine), Some(&coarse)].into_iter()).unwrap();
        assert_eq!(merged, Some(wanted));
        assert_eq!(Timeline::merge([Some(&fine), None].into_iter()).unwrap(), None);
    }

    #[test]
    fn intervals_that_do_not_fit_into_each_other_are_not_put_together() {
        for (one, other) in [(25, 40), (0, 25), (0, 0)] {
            let all = [counts(one, &[&[(16, 1)]]), counts(other, &[&[(16, 1)]])];
            assert_eq!(IntervalCounts::together(all.into_iter()), None, "{one} and {other} ms");
        }
    }
}
