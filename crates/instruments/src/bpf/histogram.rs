//! `struct histogram` of klatch.bpf.h, as user space reads it.

use klatch_record::observed::Distribution;

/// `BUCKETS` of klatch.bpf.h, four per octave.
const BUCKETS: usize = 128;

/// Counts in four buckets per octave, followed by the number of values and their sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram(Vec<u64>);

impl Histogram {
    /// Length of a histogram in a map, in 64-bit numbers.
    pub(crate) const NUMBERS: usize = BUCKETS + 2;

    /// A histogram from a map; missing numbers are 0.
    pub(crate) fn new(numbers: &[u64]) -> Histogram {
        let mut numbers = numbers.to_vec();
        numbers.resize(Histogram::NUMBERS, 0);
        Histogram(numbers)
    }

    /// Adds all values of another histogram.
    pub(crate) fn add(&mut self, other: &Histogram) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Number of values in all buckets.
    pub(crate) fn count(&self) -> u64 {
        self.0[BUCKETS]
    }

    /// Exact sum of the values.
    pub(crate) fn sum(&self) -> u64 {
        self.0[BUCKETS + 1]
    }

    /// The value below which `share` of all values lie, 0..=1; values count as evenly spread within their bucket.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let rank = share * self.count() as f64;
        let mut below = 0.0;
        for (bucket, &count) in self.0[..BUCKETS].iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if below + count >= rank {
                let (low, high) = (lower_end(bucket), lower_end(bucket + 1));
                return low + (high - low) * (rank - below).max(0.0) / count;
            }
            below += count;
        }
        0.0
    }

    /// Mean, quantiles and maximum, with every value multiplied by `scale`.
    pub(crate) fn distribution(&self, scale: f64) -> Distribution {
        let count = self.count();
        let highest = self.0[..BUCKETS].iter().rposition(|&count| count > 0);
        Distribution {
            count,
            mean: if count == 0 { 0.0 } else { self.sum() as f64 / count as f64 * scale },
            p50: self.quantile(0.5) * scale,
            p90: self.quantile(0.9) * scale,
            p99: self.quantile(0.99) * scale,
            max: highest.map_or(0.0, |bucket| lower_end(bucket + 1) * scale),
        }
    }
}

/// The smallest value in a bucket.
fn lower_end(bucket: usize) -> f64 {
    if bucket < 4 { bucket as f64 } else { (4 + bucket % 4) as f64 * f64::powi(2.0, bucket as i32 / 4 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same function as in klatch.bpf.h.
    fn bucket_of(value: u64) -> usize {
        if value < 4 {
            return value as usize;
        }
        let log = value.ilog2() as usize;
        ((log - 1) * 4 + ((value >> (log - 2)) & 3) as usize).min(BUCKETS - 1)
    }

    fn from_values(values: impl Iterator<Item = u64>) -> Histogram {
        let mut numbers = vec![0; Histogram::NUMBERS];
        for value in values {
            numbers[bucket_of(value)] += 1;
            numbers[BUCKETS] += 1;
            numbers[BUCKETS + 1] += value;
        }
        Histogram::new(&numbers)
    }

    #[test]
    fn bucket_bounds_contain_their_values() {
        for value in (0..5_000).chain([1 << 20, (1 << 30) + 12_345]) {
            let bucket = bucket_of(value);
            assert!((lower_end(bucket)..lower_end(bucket + 1)).contains(&(value as f64)), "{value}");
        }
    }

    #[test]
    fn quantiles_are_within_five_percent() {
        let histogram = from_values(1..=10_000);
        for (share, truth) in [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0)] {
            let estimate = histogram.quantile(share);
            assert!((estimate - truth).abs() / truth < 0.05, "{share}: {estimate}");
        }
        let distribution = histogram.distribution(0.001);
        assert_eq!((distribution.count, distribution.mean), (10_000, 5.0005));
        assert!((10.0..12.5).contains(&distribution.max));
        assert_eq!(from_values(std::iter::empty()).distribution(1.0), Distribution::default());
    }
}
