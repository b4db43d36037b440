//! How many values a comparison needs, from the scatter of those so far.

use crate::StatsError;
use crate::ratio::smallest_difference;
use crate::sequential::Sequential;
use crate::summary::{mean, variance};
use crate::t::{chi_squared_quantile, t_two_sided};

/// Most values that a forecast considers. More is never.
const VALUES_MAX: usize = 1_000_000;
/// Probability that the true scatter is above [`least_scatter`].
const SURE: f64 = 0.95;

/// The smallest difference that `n` pairs show whose ratios have this standard deviation on the logarithmic scale: 0.04 is a ratio of 1.04.
///
/// # Errors
/// Fewer than two pairs, no scatter, or a confidence that is none.
pub fn resolution(sd: f64, n: usize, confidence: f64) -> Result<f64, StatsError> {
    if n < 2 {
        return Err(StatsError::TooFew { needed: 2, got: n });
    }
    let degrees = n as f64 - 1.0;
    smallest_difference(sd / (n as f64).sqrt(), degrees, t_two_sided(confidence, degrees)?)
}

/// The fewest pairs, at least `least`, that show a difference of this size; `None` if a million do not.
///
/// # Errors
/// See [`resolution`].
pub fn pairs_needed(
    sd: f64,
    difference: f64,
    confidence: f64,
    least: usize,
) -> Result<Option<usize>, StatsError> {
    first(least.max(2), |n| Ok(resolution(sd, n, confidence)? <= difference))
}

impl Sequential {
    /// The fewest values at which a series converges whose values have this standard deviation, as a part of their mean; `None` if a
    /// million do not.
    ///
    /// # Errors
    /// None that [`Sequential::new`] would not have had.
    pub fn needed(&self, sd: f64) -> Result<Option<usize>, StatsError> {
        first(self.first(), |n| Ok(self.half_width(n)? * sd <= self.within()))
    }
}

/// The scatter of values, as a part of their mean, that the true scatter exceeds with a probability of 95 %.
///
/// # Errors
/// Fewer than two values.
pub fn least_scatter(values: &[f64]) -> Result<f64, StatsError> {
    if values.len() < 2 {
        return Err(StatsError::TooFew { needed: 2, got: values.len() });
    }
    let degrees = values.len() as f64 - 1.0;
    Ok((variance(values) * degrees / chi_squared_quantile(SURE, degrees)).sqrt() / mean(values).abs())
}

/// The smallest number from `least` on that is enough, where every larger number is enough, too.
fn first(
    least: usize,
    enough: impl Fn(usize) -> Result<bool, StatsError>,
) -> Result<Option<usize>, StatsError> {
    let (mut low, mut high) = (least, VALUES_MAX);
    if !enough(high)? {
        return Ok(None);
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(Some(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, StopDecision, ratio_of_geometric_means};

    #[test]
    fn what_is_needed_is_what_a_comparison_shows() {
        // The standard deviation of these logarithms is 0.02.
        let ratios: Vec<f64> = (0..10).map(|i| f64::exp(if i % 2 == 0 { 0.02 } else { -0.02 })).collect();
        let sd = 0.02 * (10.0f64 / 9.0).sqrt();
        let shown = ratio_of_geometric_means(&vec![1.0; 10], &ratios, Design::Paired, 0.95).unwrap();
        let forecast = resolution(sd, 10, 0.95).unwrap();
        assert!((shown.smallest_difference - forecast).abs() < 1e-12);
        assert_eq!(pairs_needed(sd, forecast, 0.95, 2), Ok(Some(10)));
        let finer = pairs_needed(sd, forecast / 2.0, 0.95, 2).unwrap().unwrap();
        assert!((32..42).contains(&finer), "half of it takes about four times as many: {finer}");
        assert_eq!(pairs_needed(sd, 1e-9, 0.95, 2), Ok(None));
    }

    #[test]
    fn a_series_converges_where_it_was_forecast() {
        let values: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 0.97 } else { 1.03 }).collect();
        let rule = Sequential::new(8, 400, 0.01, 0.95).unwrap();
        let forecast = rule.needed(0.03 * (8.0f64 / 7.0).sqrt()).unwrap().unwrap();
        let ends = (8..400).find(|n| rule.evaluate(&values[..*n]) != Ok(StopDecision::Open)).unwrap();
        assert!(forecast.abs_diff(ends) <= 2, "{forecast} {ends}");
        assert!(least_scatter(&values[..8]).unwrap() < 0.03);
    }
}
