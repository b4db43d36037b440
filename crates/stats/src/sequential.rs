//! A stopping rule that is evaluated after every trial and keeps the confidence of the interval it reports.
//!
//! Student's interval loses its confidence if it decides when to stop: series stop when their scatter is small by
//! chance. The interval here takes its scatter from a fixed number of first trials, and Stein (1945, Annals of
//! Mathematical Statistics 16(3)) has shown why that is enough: the mean of normal trials is independent of all
//! estimates of their scatter, so `(mean - μ) · √n / sd_first` has Student's distribution with `first - 1` degrees of
//! freedom, however the scatter determined `n`. Where all trials scatter more than the first ones did, the wider of
//! the two intervals is reported, which can only miss less often.
//!
//! Luck remains: a series whose estimated scatter is too small converges where it should not. So convergence asks
//! for more than a narrow interval: the interval with the scatter at the upper end of what these trials allow (Kupper
//! and Hafner 1989, The American Statistician 43(2), on tolerance probabilities) must be as narrow as wanted.
//! `tests/it/coverage.rs` simulates the whole rule; `docs/reference/method.md` has the numbers.

use crate::error::enough;
use crate::summary::{mean, variance};
use crate::t::{chi_squared_quantile, t_two_sided};
use crate::{Interval, StatsError};

/// Probability that the true scatter exceeds the allowance that convergence makes.
const LUCK: f64 = 0.10;

/// Decides when a series has enough trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    first: usize,
    within: f64,
    confidence: f64,
    /// For each number of trials from `first` to the most, the half-width that decides convergence, in standard
    /// deviations of all trials.
    cautious: Vec<f64>,
    /// The quantile of Student's distribution for the scatter of the first trials.
    t_first: f64,
}

/// The decision after the trials so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopDecision {
    /// More trials are needed.
    Open,
    /// The interval is as narrow as required, with an allowance for a scatter that was underestimated.
    Converged(Interval),
    /// It is not after the largest number of trials. The interval keeps its confidence all the same.
    Exhausted(Interval),
}

/// The half-width of the interval after `n` trials with the scatter at the upper end of what they allow, in standard deviations of them.
fn cautious(n: usize, confidence: f64) -> Result<f64, StatsError> {
    let (n, degrees) = (n as f64, n as f64 - 1.0);
    let upper = (degrees / chi_squared_quantile(LUCK, degrees)).sqrt();
    Ok(t_two_sided(confidence, degrees)? * upper / n.sqrt())
}

impl Sequential {
    /// With fewer first trials, or fewer than twice as many at most, the intervals keep their confidence, but more than
    /// 7 in 100 of those that converge may miss where few converge.
    pub const FIRST_MIN: usize = 8;

    /// A rule that decides first after `first` trials, gives up after `most`, and requires half the interval's width to
    /// be at most `within` of the mean: 0.05 is ±5 %.
    ///
    /// # Errors
    /// Fewer than two first trials, or a confidence that is none.
    pub fn new(first: usize, most: usize, within: f64, confidence: f64) -> Result<Sequential, StatsError> {
        if first < 2 {
            return Err(StatsError::TooFew { needed: 2, got: first });
        }
        let cautious = (first..=most.max(first)).map(|n| cautious(n, confidence));
        let cautious = cautious.collect::<Result<_, StatsError>>()?;
        let t_first = t_two_sided(confidence, first as f64 - 1.0)?;
        Ok(Sequential { first, within, confidence, cautious, t_first })
    }

    /// Trials before the first decision.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The half-width that decides after `n` trials, in standard deviations of them.
    pub(crate) fn half_width(&self, n: usize) -> Result<f64, StatsError> {
        Ok((self.t_first / (n as f64).sqrt()).max(cautious(n, self.confidence)?))
    }

    /// The required half-width of the interval, as a part of the mean.
    pub fn within(&self) -> f64 {
        self.within
    }

    /// Decides after all trials so far; all earlier decisions were [`StopDecision::Open`].
    ///
    /// # Errors
    /// A trial that is not finite.
    pub fn evaluate(&self, values: &[f64]) -> Result<StopDecision, StatsError> {
        enough(values, 0)?;
        let Some(later) = values.len().checked_sub(self.first) else { return Ok(StopDecision::Open) };
        let last = self.cautious.len() - 1;
        let (estimate, sd) = (mean(values), variance(values).sqrt());
        let stein = self.t_first * (variance(&values[..self.first]) / values.len() as f64).sqrt();
        let cautious = stein.max(self.cautious[later.min(last)] * sd);
        let converges = cautious <= self.within * estimate.abs();
        if converges && later > 0 {
            let (low, high) = (estimate - cautious, estimate + cautious);
            return Ok(StopDecision::Converged(Interval {
                estimate,
                low,
                high,
                confidence: self.confidence,
            }));
        }
        if !converges && later < last {
            return Ok(StopDecision::Open);
        }
        // No decision precedes the first one, so its plain interval has its nominal confidence.
        let plain = stopped_interval(values, self.first, self.confidence)?;
        Ok(if converges { StopDecision::Converged(plain) } else { StopDecision::Exhausted(plain) })
    }
}

/// The interval of the mean of a series that ended by its scatter, or by that of a metric measured with it:
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
    fn a_quiet_series_converges_at_the_first_evaluation_with_students_interval() {
        assert_eq!(rule().evaluate(&alternating(2.0, 7)), Ok(StopDecision::Open));
        let values = alternating(2.0, 8);
        assert_eq!(
            rule().evaluate(&values),
            Ok(StopDecision::Converged(mean_interval(&values, 0.95).unwrap()))
        );
    }

    #[test]
    fn a_narrow_interval_alone_does_not_converge() {
        let values = alternating(4.5, 8);
        assert!(mean_interval(&values, 0.95).unwrap().is_within(0.05));
        assert_eq!(rule().evaluate(&values), Ok(StopDecision::Open));
    }

    #[test]
    fn a_later_evaluation_reports_the_width_that_it_asked_for() {
        let values = alternating(4.9, 11);
        let Ok(StopDecision::Converged(interval)) = rule().evaluate(&values) else { panic!("it converges") };
        assert!(interval.is_within(0.05));
        assert!(interval.half_width() > mean_interval(&values, 0.95).unwrap().half_width());
    }

    #[test]
    fn the_scatter_of_the_first_trials_is_not_forgotten() {
        let mut values = alternating(30.0, 8);
        values.extend([100.0; 12]);
        let Ok(StopDecision::Exhausted(interval)) = rule().evaluate(&values) else {
            panic!("it is given up")
        };
        let first = mean_interval(&values[..8], 0.95).unwrap().half_width();
        assert!((interval.half_width() - first * (8.0f64 / 20.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn trials_that_tell_nothing_are_refused() {
        let wrong = stopped_interval(&[1.0, 2.0, 3.0], 1, 0.95);
        assert_eq!(wrong, Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(stopped_interval(&[1.0, 2.0], 3, 0.95), Err(StatsError::TooFew { needed: 3, got: 2 }));
        assert!(rule().evaluate(&[f64::NAN; 8]).is_err());
    }
}
