//! Distributions of times, as HDR histograms.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::packed::{packed, unpacked};
use crate::sums::{SumError, TIMES, add_counts, sum};

/// Percentiles of a time, and their histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// How many times were measured.
    pub count: u64,
    /// Arithmetic mean of all deliveries, µs.
    pub mean_us: f64,
    /// Median of all deliveries, µs.
    pub p50_us: f64,
    /// 90th percentile of all deliveries, µs.
    pub p90_us: f64,
    /// 99th percentile of all deliveries, µs.
    pub p99_us: f64,
    /// 99.9th percentile of all deliveries, µs.
    pub p999_us: f64,
    /// The largest, µs (as exact as the histogram: 3 digits).
    pub max_us: f64,
    /// All values in ns: an HDR histogram in its V2 compressed form, Base64. It merges exactly with others.
    pub histogram: String,
}

/// Why counts are no histogram.
#[derive(Debug, Error)]
pub enum LatencyError {
    /// A value cannot be held.
    #[error("a time of {0} ns does not fit into a histogram")]
    Value(u64),
    /// The histogram cannot be packed.
    #[error("cannot pack the histogram: {0}")]
    Pack(String),
    /// There are more times than a number of 64 bits counts.
    #[error(transparent)]
    Sum(#[from] SumError),
    /// A packed histogram cannot be read.
    #[error("cannot unpack a histogram: {0}")]
    Unpack(String),
}

impl Latency {
    /// Makes it of pairs (time in ns, how often). `None` where there are no times.
    ///
    /// # Errors
    /// A time too large to be held, or more times than 64 bits count.
    pub fn from_counts_ns(counts: &[(u64, u64)]) -> Result<Option<Latency>, LatencyError> {
        let histogram = histogram_of(counts)?;
        if histogram.is_empty() {
            return Ok(None);
        }
        let us = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
        Ok(Some(Latency {
            count: histogram.len(),
            mean_us: histogram.mean() / 1e3,
            p50_us: us(0.5),
            p90_us: us(0.9),
            p99_us: us(0.99),
            p999_us: us(0.999),
            max_us: histogram.max() as f64 / 1e3,
            histogram: packed(&histogram)?,
        }))
    }

    /// The times of all of them together, exactly. `None` where there are none.
    ///
    /// # Errors
    /// A histogram cannot be read.
    pub fn merge<'a>(all: impl Iterator<Item = &'a Latency>) -> Result<Option<Latency>, LatencyError> {
        let mut sums = BTreeMap::new();
        for latency in all {
            add_counts(&mut sums, latency.counts_ns()?)?;
        }
        Latency::from_counts_ns(&sums.into_iter().collect::<Vec<_>>())
    }

    /// The histogram, ns.
    ///
    /// # Errors
    /// The packed one cannot be read.
    pub fn histogram_ns(&self) -> Result<Histogram<u64>, LatencyError> {
        histogram_of(&self.counts_ns()?)
    }

    /// Pairs (lowest value of a bucket in ns, how often), sorted. All together are at most `u64::MAX` times.
    ///
    /// # Errors
    /// The histogram cannot be read.
    pub fn counts_ns(&self) -> Result<Vec<(u64, u64)>, LatencyError> {
        unpacked(&self.histogram)
    }
}

fn histogram_of(counts: &[(u64, u64)]) -> Result<Histogram<u64>, LatencyError> {
    sum(TIMES, counts.iter().map(|(_, count)| *count))?;
    let mut histogram = Histogram::new(3).expect("3 digits are possible");
    for &(value, count) in counts {
        histogram.record_n(value, count).map_err(|_| LatencyError::Value(value))?;
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn percentiles_are_those_of_the_counts() {
        let counts: Vec<_> = (1..=1000).map(|value| (value * 1000, 1)).collect();
        let latency = Latency::from_counts_ns(&counts).unwrap().unwrap();
        assert_eq!(latency.count, 1000);
        for (got, wanted) in [(latency.p50_us, 500.0), (latency.p99_us, 990.0), (latency.max_us, 1000.0)] {
            assert!((got / wanted - 1.0).abs() < 0.002, "{got} is not {wanted}");
        }
    }

    #[test]
    fn the_packed_histogram_holds_every_value() {
        let latency = Latency::from_counts_ns(&[(1_000, 3), (2_000_000_000, 1)]).unwrap().unwrap();
        let packed = BASE64.decode(latency.histogram).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut packed.as_slice()).unwrap();
        assert_eq!((back.len(), back.count_at(1_000), back.count_at(2_000_000_000)), (4, 3, 1));
    }

    #[test]
    fn merged_times_are_those_of_all_together() {
        let (few, many) = ([(1_000, 3), (2_000_000_000, 1)], [(500, 1), (1_000, 4), (86_400_000_000_000, 1)]);
        let latency = |counts: &[_]| Latency::from_counts_ns(counts).unwrap();
        let (one, other) = (latency(&few).unwrap(), latency(&many).unwrap());
        let merged = Latency::merge([&one, &other].into_iter()).unwrap();
        assert_eq!(merged, latency(&[few.to_vec(), many.to_vec()].concat()));
        assert_eq!(Latency::merge(std::iter::empty()).unwrap(), None);
        let most = latency(&[(1_000, i64::MAX as u64)]).unwrap();
        let error = Latency::merge([&most, &most, &most].into_iter()).unwrap_err();
        assert!(matches!(error, LatencyError::Sum(_)), "{error}");
        let broken = Latency { histogram: "!".into(), ..one };
        assert!(Latency::merge(std::iter::once(&broken)).is_err());
    }

    #[test]
    fn no_times_make_no_percentiles() {
        assert_eq!(Latency::from_counts_ns(&[]).unwrap(), None);
    }
}
