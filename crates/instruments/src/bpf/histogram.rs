//! The histogram of klatch.bpf.h, read.

use klatch_record::observed::Distribution;

/// Buckets, `BUCKETS` of klatch.bpf.h.
const BUCKETS: usize = 128;

/// Counts of values: four buckets an octave, then how many values and their sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram(Vec<u64>);

impl Histogram {
    /// Numbers in one histogram.
    pub(crate) const NUMBERS: usize = BUCKETS + 2;

    /// From what a program left.
    pub(crate) fn new(numbers: &[u64]) -> Histogram {
        let mut all = numbers.to_vec();
        all.resize(Histogram::NUMBERS, 0);
        Histogram(all)
    }

    /// Adds the values of another.
    pub(crate) fn add(&mut self, other: &Histogram) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// How many values.
    pub(crate) fn count(&self) -> u64 {
        self.0[BUCKETS]
    }

    /// Their sum.
    pub(crate) fn sum(&self) -> u64 {
        self.0[BUCKETS + 1]
    }

    /// The value below which a share of all is, evenly spread within a bucket.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let wanted = share * self.count() as f64;
        let mut below = 0.0;
        for (bucket, &count) in self.0[..BUCKETS].iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = count as f64;
            if below + count >= wanted {
                let (low, high) = (lower_end(bucket), lower_end(bucket + 1));
                return low + (high - low) * (wanted - below).max(0.0) / count;
            }
            below += count;
        }
        0.0
    }

    /// In short, every value times `scale`.
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

/// The least value of a bucket.
fn lower_end(bucket: usize) -> f64 {
    if bucket < 4 { bucket as f64 } else { (4 + bucket % 4) as f64 * f64::powi(2.0, bucket as i32 / 4 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the C does it.
    fn bucket_of(value: u64) -> usize {
        if value < 4 {
            return value as usize;
        }
        let log = value.ilog2() as usize;
        ((log - 1) * 4 + ((value >> (log - 2)) & 3) as usize).min(BUCKETS - 1)
    }

    fn of(values: impl Iterator<Item = u64>) -> Histogram {
        let mut numbers = vec![0; Histogram::NUMBERS];
        for value in values {
            numbers[bucket_of(value)] += 1;
            numbers[BUCKETS] += 1;
            numbers[BUCKETS + 1] += value;
        }
        Histogram::new(&numbers)
    }

    #[test]
    fn every_value_is_within_its_bucket() {
        for value in (0..5_000).chain([1 << 20, (1 << 30) + 12_345]) {
            let bucket = bucket_of(value);
            assert!((lower_end(bucket)..lower_end(bucket + 1)).contains(&(value as f64)), "{value}");
        }
    }

    #[test]
    fn quantiles_are_within_a_bucket_of_the_truth() {
        let histogram = of(1..=10_000);
        for (share, truth) in [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0)] {
            let found = histogram.quantile(share);
            assert!((found - truth).abs() / truth < 0.05, "{share}: {found}");
        }
        let distribution = histogram.distribution(0.001);
        assert_eq!((distribution.count, distribution.mean), (10_000, 5.0005));
        assert!((10.0..12.5).contains(&distribution.max));
        assert_eq!(of(std::iter::empty()).distribution(1.0), Distribution::default());
    }
}
