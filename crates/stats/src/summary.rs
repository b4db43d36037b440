//! What a few numbers have in common.

use crate::StatsError;
use crate::error::enough;

/// What a few numbers have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values in the sample.
    pub count: usize,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Standard deviation of the sample (n - 1); 0 for one number.
    pub sd: f64,
    /// Smallest value of the sample.
    pub min: f64,
    /// Median of the sample.
    pub median: f64,
    /// Largest value of the sample.
    pub max: f64,
}

/// Summarises at least one number.
///
/// # Errors
/// No number, or one that is not finite.
pub fn summary(values: &[f64]) -> Result<Summary, StatsError> {
    enough(values, 1)?;
    Ok(Summary {
        count: values.len(),
        mean: mean(values),
        sd: variance(values).sqrt(),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        median: median(values)?,
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The middle one, or the mean of the two in the middle.
///
/// # Errors
/// No number, or one that is not finite.
pub fn median(values: &[f64]) -> Result<f64, StatsError> {
    enough(values, 1)?;
    Ok(median_of(&mut values.to_vec()))
}

/// The same of numbers that may be put into another order. At least one number.
pub(crate) fn median_of(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance of the sample; 0 for one number.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_four() {
        let of = summary(&[4.0, 1.0, 2.0, 5.0]).unwrap();
        assert_eq!((of.count, of.mean, of.median, of.min, of.max), (4, 3.0, 3.0, 1.0, 5.0));
        assert!((of.sd - (10.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_number_has_no_scatter_and_none_has_no_mean() {
        assert_eq!(summary(&[7.0]).unwrap().sd, 0.0);
        assert_eq!(summary(&[]), Err(StatsError::TooFew { needed: 1, got: 0 }));
        assert_eq!(median(&[1.0, f64::INFINITY]), Err(StatsError::NotFinite(f64::INFINITY)));
    }
}
