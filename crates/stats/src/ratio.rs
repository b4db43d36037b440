//! Ratios of two samples, with intervals.

use crate::error::{enough, logarithms};
use crate::summary::{mean, variance};
use crate::t::{t_quantile, t_two_sided};
use crate::{Interval, StatsError};

/// The power with which a [`Ratio::smallest_difference`] would be shown: in four cases of five, as is usual.
pub const POWER: f64 = 0.8;

/// How two samples relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// The i-th values of both were measured one after the other, so that disturbances of the machine affect both.
    Paired,
    /// The samples are independent of each other.
    Unpaired,
}

/// Values of one kind, and how many of them estimate the scatter.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    values: &'a [f64],
    /// The number of first values that estimate the scatter.
    first: usize,
}

impl<'a> Sample<'a> {
    /// Values of a series that [`crate::Sequential`] ended by their scatter, after at least `first` trials.
    /// The scatter of all values decided when to stop, so it is too small as an estimate.
    pub fn stopped(values: &'a [f64], first: usize) -> Sample<'a> {
        Sample { values, first: first.min(values.len()) }
    }
}

impl<'a> From<&'a [f64]> for Sample<'a> {
    /// Values whose number was fixed beforehand: all of them estimate the scatter.
    fn from(values: &'a [f64]) -> Sample<'a> {
        Sample { values, first: values.len() }
    }
}

impl<'a> From<&'a Vec<f64>> for Sample<'a> {
    fn from(values: &'a Vec<f64>) -> Sample<'a> {
        Sample::from(values.as_slice())
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Sample<'a> {
    fn from(values: &'a [f64; N]) -> Sample<'a> {
        Sample::from(values.as_slice())
    }
}

/// The mean of a sample's logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogMean {
    pub(crate) mean: f64,
    /// Its squared standard error.
    square: f64,
    /// Degrees of freedom of that.
    degrees: f64,
}

impl LogMean {
    /// # Errors
    /// Fewer than two values that estimate the scatter, or a value that is not above 0.
    pub(crate) fn of(sample: Sample<'_>) -> Result<LogMean, StatsError> {
        enough(&sample.values[..sample.first], 2)?;
        enough(sample.values, 2)?;
        Ok(LogMean::of_logarithms(&logarithms(sample.values)?, sample.first))
    }

    fn of_logarithms(logs: &[f64], first: usize) -> LogMean {
        let square = variance(&logs[..first]) / logs.len() as f64;
        LogMean { mean: mean(logs), square, degrees: first as f64 - 1.0 }
    }
}

/// How B compares with A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// B / A with its interval.
    pub interval: Interval,
    /// The smallest true difference that this number of values with this scatter shows with [`POWER`]: 0.04 is a ratio of
    /// 1.04, or of 1 / 1.04.
    pub smallest_difference: f64,
}

impl Ratio {
    /// Whether a difference is shown: 1 is not in the interval.
    pub fn shows_difference(&self) -> bool {
        !self.interval.contains(1.0)
    }
}

/// Bloom's minimum detectable effect: t at the confidence and t at the power standard errors (Bloom 1995, Evaluation
/// Review 19(5)). `error` is the standard error of the logarithm of the ratio.
pub(crate) fn smallest_difference(error: f64, degrees: f64, t: f64) -> Result<f64, StatsError> {
    if error == 0.0 {
        return Err(StatsError::NoScatter);
    }
    Ok(((t + t_quantile(POWER, degrees)) * error).exp_m1())
}

/// The ratio of the geometric means of `b` and `a`, with Student's interval on the logarithms: of the differences of
/// the pairs (n - 1 degrees of freedom), or Welch's of two samples with different variances (Welch 1947, Biometrika
/// 34). It holds its confidence down to two numbers a side, where resampling does not; see `docs/reference/method.md`. Series that
/// ended by their scatter are [`Sample::stopped`].
///
/// # Errors
/// Fewer than two numbers a side, one that is not above 0, pairs that are none, no scatter at all, or a confidence that
/// is none.
pub fn ratio_of_geometric_means<'a>(
    a: impl Into<Sample<'a>>,
    b: impl Into<Sample<'a>>,
    design: Design,
    confidence: f64,
) -> Result<Ratio, StatsError> {
    let (a, b) = (a.into(), b.into());
    check(a.values, b.values, design, 2)?;
    let (estimate, error, degrees) = match design {
        Design::Paired => {
            let (a_logs, b_logs) = (logarithms(a.values)?, logarithms(b.values)?);
            let differences: Vec<f64> = a_logs.iter().zip(&b_logs).map(|(a, b)| b - a).collect();
            let LogMean { mean, square, degrees } =
                LogMean::of_logarithms(&differences, a.first.min(b.first));
            (mean, square.sqrt(), degrees)
        }
        Design::Unpaired => {
            let (a, b) = (LogMean::of(a)?, LogMean::of(b)?);
            let (error, degrees) = welch(a, b);
            (b.mean - a.mean, error, degrees)
        }
    };
    ratio_of_log(estimate, error, degrees, confidence)
}

/// The ratio whose logarithm has this estimate, standard error and degrees of freedom.
///
/// # Errors
/// No scatter at all, or a confidence that is none.
pub fn ratio_of_log(estimate: f64, error: f64, degrees: f64, confidence: f64) -> Result<Ratio, StatsError> {
    let t = t_two_sided(confidence, degrees)?;
    let smallest_difference = smallest_difference(error, degrees, t)?;
    let reach = t * error;
    let interval = Interval { estimate, low: estimate - reach, high: estimate + reach, confidence };
    Ok(Ratio { interval: interval.exp(), smallest_difference })
}

/// Checks what every comparison needs.
pub(crate) fn check(a: &[f64], b: &[f64], design: Design, needed: usize) -> Result<(), StatsError> {
    enough(a, needed)?;
    enough(b, needed)?;
    if design == Design::Paired && a.len() != b.len() {
        return Err(StatsError::NotPaired(a.len(), b.len()));
    }
    let wrong = a.iter().chain(b).find(|value| **value <= 0.0);
    wrong.map_or(Ok(()), |value| Err(StatsError::NotPositive(*value)))
}

/// The standard error of the difference of two means, and its degrees of freedom by Welch and Satterthwaite.
pub(crate) fn welch(a: LogMean, b: LogMean) -> (f64, f64) {
    let whole = a.square + b.square;
    let degrees = whole * whole / (a.square * a.square / a.degrees + b.square * b.square / b.degrees);
    (whole.sqrt(), if degrees.is_nan() { 1.0 } else { degrees })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 5] = [100.0, 120.0, 90.0, 110.0, 105.0];

    #[test]
    fn pairs_show_what_drift_hides() {
        // B is 5 % above A, and both drift together.
        let b: Vec<f64> = A.iter().zip([1.05, 1.06, 1.04, 1.05, 1.05]).map(|(a, by)| a * by).collect();
        let paired = ratio_of_geometric_means(&A, &b, Design::Paired, 0.95).unwrap();
        let unpaired = ratio_of_geometric_means(&A, &b, Design::Unpaired, 0.95).unwrap();
        assert!((paired.interval.estimate - unpaired.interval.estimate).abs() < 1e-12);
        assert!(paired.shows_difference() && !unpaired.shows_difference(), "{paired:?} {unpaired:?}");
        assert!(paired.smallest_difference < 0.02 && unpaired.smallest_difference > 0.2);
    }

    #[test]
    fn the_other_way_round_is_the_reciprocal() {
        let b = [130.0, 133.0, 128.0, 140.0];
        let there = ratio_of_geometric_means(&A, &b, Design::Unpaired, 0.95).unwrap().interval;
        let back = ratio_of_geometric_means(&b, &A, Design::Unpaired, 0.95).unwrap().interval;
        assert!((there.estimate * back.estimate - 1.0).abs() < 1e-12);
        assert!((there.low * back.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let says = |a: &[f64], b: &[f64], design| {
            ratio_of_geometric_means(a, b, design, 0.95).unwrap_err().to_string()
        };
        assert_eq!(says(&A, &[1.0], Design::Unpaired), "at least 2 values are needed, got 1");
        assert_eq!(
            says(&A, &[1.0, 2.0], Design::Paired),
            "values in pairs must be equally many, got 5 and 2"
        );
        assert_eq!(says(&A, &[1.0, 0.0], Design::Unpaired), "a ratio needs values above 0, got 0");
        let alike = "the values do not differ, so their scatter cannot be told";
        assert_eq!(says(&[2.0, 2.0], &[3.0, 3.0], Design::Unpaired), alike);
        assert_eq!(says(&[2.0, 2.0], &[3.0, 3.0], Design::Paired), alike);
    }
}
