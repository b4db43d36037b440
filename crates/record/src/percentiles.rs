//! Percentiles of latency that a reader asks for.

use std::fmt;
use std::str::FromStr;

use crate::{Latency, LatencyError};

/// Values beyond a percentile below which it is a matter of chance.
const BEYOND_MIN: f64 = 10.0;
/// Most percentiles in a list.
const LIST_MAX: usize = 20;

/// Percentiles in ascending order, each above 0 and below 100.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles(Vec<f64>);

impl Percentiles {
    /// The percentiles.
    pub fn all(&self) -> &[f64] {
        &self.0
    }
}

impl FromStr for Percentiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Percentiles, String> {
        let one = |word: &str| word.trim().trim_start_matches('p').parse::<f64>().ok();
        let inside = |percentile: &f64| *percentile > 0.0 && *percentile < 100.0;
        let all: Option<Vec<f64>> = text.split(',').map(|word| one(word).filter(inside)).collect();
        let mut all = all
            .filter(|all| all.len() <= LIST_MAX)
            .ok_or("must be up to 20 numbers above 0 and below 100, as in 50,95,99,99.9,99.99")?;
        all.sort_by(f64::total_cmp);
        all.dedup();
        Ok(Percentiles(all))
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(","))
    }
}

/// Number of values that a percentile needs: ten of them are beyond it.
pub fn samples_needed(percentile: f64) -> u64 {
    // 100 - 99.9 is not exactly 0.1.
    (BEYOND_MIN * 100.0 / (100.0 - percentile) - 1e-6).ceil() as u64
}

/// The values at these percentiles of all latencies together, µs, as the percentiles of one record are, and their number. `None` in place
/// of a value that has too few.
///
/// # Errors
/// A histogram cannot be read.
pub fn latencies_at<'a>(
    percentiles: &Percentiles,
    all: impl Iterator<Item = &'a Latency>,
) -> Result<(Vec<Option<f64>>, u64), LatencyError> {
    let Some(merged) = Latency::merge(all)? else { return Ok((vec![None; percentiles.all().len()], 0)) };
    let histogram = merged.histogram_ns()?;
    let value = |percentile: &f64| {
        let ns = histogram.value_at_quantile(percentile / 100.0);
        (merged.count >= samples_needed(*percentile)).then_some(ns as f64 / 1e3)
    };
    Ok((percentiles.all().iter().map(value).collect(), merged.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentiles(text: &str) -> Percentiles {
        text.parse().unwrap()
    }

    #[test]
    fn a_list_is_sorted_and_in_range() {
        assert_eq!(percentiles("99.9, 50,p95,50").to_string(), "50,95,99.9");
        for wrong in ["", "0", "100", "50,,90", "-1", "nan", "fifty"] {
            assert!(wrong.parse::<Percentiles>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let needed: Vec<u64> = [50.0, 90.0, 99.0, 99.9, 99.99].map(samples_needed).into();
        assert_eq!(needed, [20, 100, 1_000, 10_000, 100_000]);
    }

    #[test]
    fn values_are_those_of_all_latencies_together() {
        let of = |counts: &[(u64, u64)]| Latency::from_counts_ns(counts).unwrap().unwrap();
        let (one, other) = (of(&[(1_000_000, 500)]), of(&[(2_000_000, 499), (9_000_000, 1)]));
        let (values, count) = latencies_at(&percentiles("50,99,99.9"), [&one, &other].into_iter()).unwrap();
        assert_eq!(count, 1_000);
        let shown: Vec<Option<i64>> =
            values.iter().map(|us| us.map(|us| (us / 1e3).round() as i64)).collect();
        assert_eq!(shown, [Some(1), Some(2), None], "99.9 % needs 10,000");
        let (values, count) = latencies_at(&percentiles("50"), std::iter::empty()).unwrap();
        assert_eq!((values, count), (vec![None], 0));
    }
}
