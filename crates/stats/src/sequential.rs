//! A stopping rule that may look after every trial and still keeps the confidence of the interval it reports.
//!
//! Student's interval loses its confidence when it decides when to stop: series stop where the scatter happens to look
//! small. The interval here takes its scatter from a fixed number of first trials, and Stein (1945, Annals of
//! Mathematical Statistics 16(3)) has shown why that is enough: the mean of normal trials is independent of all
//! estimates of their scatter, so `(mean - μ) · √n / sd_first` has Student's distribution with `first - 1` degrees of
//! freedom whatever the scatter said about `n`. Where all trials scatter more than the first ones did, the wider of
//! the two intervals is reported, which can only miss less often.
//!
//! What remains is luck: a series whose scatter came out too small converges where it should not. So convergence asks
//! for more than a narrow interval: the interval with the scatter at the upper end of what these trials allow (Kupper
//! and Hafner 1989, The American Statistician 43(2), on tolerance probabilities) must be as narrow as wanted.
//! `tests/coverage.rs` simulates the whole rule; `docs/reference/method.md` has the numbers.

use crate::error::enough;
use crate::summary::{mean, variance};
use crate::t::{chi_squared_quantile, t_two_sided};
use crate::{Interval, StatsError};

/// The probability that the true scatter is above the one that convergence allows for.
const LUCK: f64 = 0.10;

/// When a series of trials is enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    first: usize,
    within: f64,
    confidence: f64,
    /// For each number of trials from `first` to the most, the half-width that convergence looks at, in standard
    /// deviations of all trials.
    cautious: Vec<f64>,
    /// The quantile of Student's distribution for the scatter of the first trials.
    t_first: f64,
}

/// What a look at the trials so far says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// More trials are needed.
    Open,
    /// The mean is known as narrowly as wanted, with an allowance for a scatter that came out too small.
    Converged(Interval),
    /// It is not after as many trials as were allowed. The interval keeps its confidence all the same.
    Exhausted(Interval),
}

impl Sequential {
    /// With fewer first trials, or fewer than twice as many at most, the intervals keep their confidence, but more than
    /// 7 in 100 of those that converge may miss where few converge.
    pub const FIRST_MIN: usize = 8;

    /// A rule that first looks after `first` trials and gives up after `most`, and wants half the interval's width to
    /// be at most `within` of the mean: 0.05 is ±5 %.
    ///
    /// # Errors
    /// Fewer than two first trials, or a confidence that is none.
    pub fn new(first: usize, most: usize, within: f64, confidence: f64) -> Result<Sequential, StatsError> {
        if first < 2 {
            return Err(StatsError::TooFew { needed: 2, got: first });
        }
        let cautious = |n: usize| {
            let (n, degrees) = (n as f64, n as f64 - 1.0);
            let upper = (degrees / chi_squared_quantile(LUCK, degrees)).sqrt();
            Ok(t_two_sided(confidence, degrees)? * upper / n.sqrt())
        };
        let cautious = (first..=most.max(first)).map(cautious).collect::<Result<_, StatsError>>()?;
        let t_first = t_two_sided(confidence, first as f64 - 1.0)?;
        Ok(Sequential { first, within, confidence, cautious, t_first })
    }

    /// Half the interval's width that is wanted, as a part of the mean.
    pub fn within(&self) -> f64 {
        self.within
    }

    /// Looks at all trials so far, none of which came after a look that was not [`Look::Open`].
    ///
    /// # Errors
    /// A trial that is not finite.
    pub fn look(&self, values: &[f64]) -> Result<Look, StatsError> {
        enough(values, 0)?;
        let Some(later) = values.len().checked_sub(self.first) else { return Ok(Look::Open) };
        let last = self.cautious.len() - 1;
        let (estimate, sd) = (mean(values), variance(values).sqrt());
        let stein = self.t_first * (variance(&values[..self.first]) / values.len() as f64).sqrt();
        let cautious = stein.max(self.cautious[later.min(last)] * sd);
        let converges = cautious <= self.within * estimate.abs();
        if converges && later > 0 {
            let (low, high) = (estimate - cautious, estimate + cautious);
            return Ok(Look::Converged(Interval { estimate, low, high, confidence: self.confidence }));
        }
        if !converges && later < last {
            return Ok(Look::Open);
        }
        // Nothing was looked at before the first look, so its plain interval has the confidence that it says.
        let plain = stopped_interval(values, self.first, self.confidence)?;
        Ok(if converges { Look::Converged(plain) } else { Look::Exhausted(plain) })
    }
}

/// The interval of the mean of trials that ended when their scatter, or that of something measured with them, said so:
/// the wider of Stein's, with the scatter of the `first` trials, and Student's of all. With all of them `first` it is
/// Student's.
///
/// # Errors
/// Fewer than two numbers, or than `first`; fewer than two first ones; one that is not finite; or a confidence that is
/// none.
pub fn stopped_interval(values: &[f64], first: usize, confidence: f64) -> Result<Interval, StatsError> {
    enough(values, first.max(2))?;
    enough(&values[..first], 2)?;
    let n = values.len() as f64;
    let half_width = |sample: &[f64]| {
        let t = t_two_sided(confidence, sample.len() as f64 - 1.0)?;
        Ok::<f64, StatsError>(t * (variance(sample) / n).sqrt())
    };
    let (estimate, reach) = (mean(values), half_width(&values[..first])?.max(half_width(values)?));
    Ok(Interval { estimate, low: estimate - reach, high: estimate + reach, confidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean_interval;

    fn rule() -> Sequential {
        Sequential::new(8, 20, 0.05, 0.95).unwrap()
    }

    /// Trials that alternate between `100 - by` and `100 + by`.
    fn alternating(by: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| if i % 2 == 0 { 100.0 - by } else { 100.0 + by }).collect()
    }

    #[test]
    fn a_quiet_series_converges_at_the_first_look_with_students_interval() {
        assert_eq!(rule().look(&alternating(2.0, 7)), Ok(Look::Open));
        let values = alternating(2.0, 8);
        assert_eq!(rule().look(&values), Ok(Look::Converged(mean_interval(&values, 0.95).unwrap())));
    }

    #[test]
    fn a_narrow_interval_alone_does_not_converge() {
        let values = alternating(4.5, 8);
        assert!(mean_interval(&values, 0.95).unwrap().is_within(0.05));
        assert_eq!(rule().look(&values), Ok(Look::Open));
    }

    #[test]
    fn a_later_look_reports_the_width_that_it_asked_for() {
        let values = alternating(4.9, 11);
        let Ok(Look::Converged(interval)) = rule().look(&values) else { panic!("it converges") };
        assert!(interval.is_within(0.05));
        assert!(interval.half_width() > mean_interval(&values, 0.95).unwrap().half_width());
    }

    #[test]
    fn the_scatter_of_the_first_trials_is_not_forgotten() {
        let mut values = alternating(30.0, 8);
        values.extend([100.0; 12]);
        let Ok(Look::Exhausted(interval)) = rule().look(&values) else { panic!("it is given up") };
        let first = mean_interval(&values[..8], 0.95).unwrap().half_width();
        assert!((interval.half_width() - first * (8.0f64 / 20.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn trials_that_tell_nothing_are_refused() {
        let wrong = stopped_interval(&[1.0, 2.0, 3.0], 1, 0.95);
        assert_eq!(wrong, Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(stopped_interval(&[1.0, 2.0], 3, 0.95), Err(StatsError::TooFew { needed: 3, got: 2 }));
        assert!(rule().look(&[f64::NAN; 8]).is_err());
    }
}
