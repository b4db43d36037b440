//! The confidence interval of a mean.

use crate::StatsError;
use crate::error::enough;
use crate::summary::{mean, variance};
use crate::t::t_two_sided;

/// An estimate, and where the true value is with this confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The point estimate, in the unit of the sample.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How often such an interval holds the true value, above 0 and below 1.
    pub confidence: f64,
}

impl Interval {
    /// Half its width, in the unit of the estimate.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half its width as a part of the estimate: 0.05 is ±5 %.
    pub fn relative_half_width(&self) -> f64 {
        self.half_width() / self.estimate.abs()
    }

    /// Whether a value is in it.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether the estimate is as narrow as wanted: within ±5 % for 0.05.
    pub fn is_within(&self, part: f64) -> bool {
        self.relative_half_width() <= part
    }

    /// The interval of a ratio, from the interval of its logarithm.
    pub(crate) fn exp(self) -> Interval {
        Interval { estimate: self.estimate.exp(), low: self.low.exp(), high: self.high.exp(), ..self }
    }
}

/// Student's interval of the mean: mean ± t · sd / √n with n - 1 degrees of freedom (Student 1908; NIST/SEMATECH
/// e-Handbook 1.3.5.2).
///
/// # Errors
/// Fewer than two numbers, one that is not finite, or a confidence that is none.
pub fn mean_interval(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    enough(values, 2)?;
    let n = values.len() as f64;
    let (estimate, error) = (mean(values), (variance(values) / n).sqrt());
    let reach = t_two_sided(confidence, n - 1.0)? * error;
    Ok(Interval { estimate, low: estimate - reach, high: estimate + reach, confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_converge_as_soon_as_the_interval_is_narrow() {
        let wide = mean_interval(&[100.0, 110.0, 90.0], 0.95).unwrap();
        let narrow = mean_interval(&[100.0, 101.0, 99.0], 0.95).unwrap();
        assert!(!wide.is_within(0.05) && narrow.is_within(0.05), "{wide:?} {narrow:?}");
        assert!(narrow.contains(101.0) && !narrow.contains(103.0));
    }

    #[test]
    fn one_trial_has_no_interval() {
        assert_eq!(mean_interval(&[1.0], 0.95), Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(mean_interval(&[1.0, 2.0], 1.0), Err(StatsError::Confidence(1.0)));
    }
}
