//! Histograms of times in ns.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

/// One day. Longer latencies are recorded as this.
const LATENCY_MAX_NS: u64 = 86_400 * 1_000_000_000;

pub(crate) fn new_histogram() -> Histogram<u32> {
    Histogram::new_with_max(LATENCY_MAX_NS, 3).expect("the bounds are possible")
}

/// Adds a histogram to sorted pairs of (lowest value of a bucket, count).
pub(crate) fn add(pairs: &mut Vec<(u64, u64)>, histogram: &Histogram<u32>) {
    let mut sum: BTreeMap<u64, u64> = pairs.iter().copied().collect();
    recorded(histogram).for_each(|(value, count)| *sum.entry(value).or_default() += count);
    *pairs = sum.into_iter().collect();
}

/// The lowest value and the count of each bucket that is not empty.
pub(crate) fn recorded(histogram: &Histogram<u32>) -> impl Iterator<Item = (u64, u64)> {
    histogram.iter_recorded().map(|bucket| {
        (histogram.lowest_equivalent(bucket.value_iterated_to()), u64::from(bucket.count_at_value()))
    })
}
