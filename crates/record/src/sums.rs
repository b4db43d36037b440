//! Sums of counts that other programs wrote.

use std::collections::BTreeMap;

use thiserror::Error;

/// The times of histograms, in errors.
pub(crate) const TIMES: &str = "counts of times";

/// A sum of counts is larger than its type, which no run reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the {what} add up to more than {bits} bits hold: is a record damaged?")]
pub struct SumError {
    what: &'static str,
    bits: u32,
}

/// The sum of `counts`; `what` names them in the plural.
///
/// # Errors
/// It does not fit into 64 bits.
pub fn sum(what: &'static str, counts: impl IntoIterator<Item = u64>) -> Result<u64, SumError> {
    let mut counts = counts.into_iter();
    counts.try_fold(0_u64, u64::checked_add).ok_or(SumError { what, bits: u64::BITS })
}

/// The sum of `counts`, or the largest number, for display.
pub fn saturating_sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// The same as [`sum`] of numbers of 32 bits.
///
/// # Errors
/// It does not fit into 32 bits.
pub(crate) fn sum_u32(what: &'static str, counts: impl IntoIterator<Item = u32>) -> Result<u32, SumError> {
    let mut counts = counts.into_iter();
    counts.try_fold(0_u32, u32::checked_add).ok_or(SumError { what, bits: u32::BITS })
}

/// Adds pairs (value, how often).
///
/// # Errors
/// A value is there more often than 64 bits count.
pub(crate) fn add_counts(
    sums: &mut BTreeMap<u64, u64>,
    counts: impl IntoIterator<Item = (u64, u64)>,
) -> Result<(), SumError> {
    for (value, count) in counts {
        let of_value = sums.entry(value).or_default();
        *of_value = sum(TIMES, [*of_value, count])?;
    }
    Ok(())
}

/// A time in whole ns, so that sums do not depend on their order. Less than nothing is 0, more than 584 years the most.
pub(crate) fn whole_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_does_not_fit_names_what_was_added() {
        assert_eq!(sum("replies", [u64::MAX, 0]), Ok(u64::MAX));
        assert_eq!(sum_u32("rooms", []), Ok(0));
        let told = |error: SumError| error.to_string();
        let replies = sum("replies", [u64::MAX, 1]).map_err(told);
        assert_eq!(replies, Err("the replies add up to more than 64 bits hold: is a record damaged?".into()));
        let rooms = sum_u32("rooms", [1, u32::MAX]).map_err(told);
        assert_eq!(rooms, Err("the rooms add up to more than 32 bits hold: is a record damaged?".into()));
    }
}
