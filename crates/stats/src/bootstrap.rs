//! The ratio of arithmetic means, by resampling.

use fastrand::Rng;

use crate::ratio::{check, smallest_difference};
use crate::summary::mean;
use crate::t::{normal_cdf, t_two_sided};
use crate::{Design, Interval, Ratio, StatsError};

/// With this number of resamples the ends of an interval hardly move from seed to seed.
const RESAMPLES: usize = 10_000;
/// With fewer numbers a side, a resample can take too few values for an interval to hold its confidence.
const NEEDED: usize = 6;

/// The ratio of the arithmetic means of `b` and `a`, with Hesterberg's expanded percentile interval: percentiles of the
/// ratios of resamples, taken so much farther out as Student's t and the n - 1 of a sample's variance ask for (Hesterberg
/// 2015, The American Statistician 69(4)); plain percentiles are too narrow for a handful of numbers. Pairs are resampled
/// as pairs. The same seed gives the same interval.
///
/// # Errors
/// Fewer than six numbers a side, one that is not above 0, pairs that are none, no scatter at all, or a confidence that
/// is none.
pub fn ratio_of_means(
    a: &[f64],
    b: &[f64],
    design: Design,
    confidence: f64,
    seed: u64,
) -> Result<Ratio, StatsError> {
    check(a, b, design, NEEDED)?;
    let (n, degrees) = match design {
        Design::Paired => (a.len() as f64, a.len() as f64 - 1.0),
        Design::Unpaired => (a.len().min(b.len()) as f64, (a.len() + b.len()) as f64 - 2.0),
    };
    let t = t_two_sided(confidence, degrees)?;
    let tail = normal_cdf(-t * (n / (n - 1.0)).sqrt());
    let mut logs = resampled_logs(a, b, design, seed);
    logs.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| logs[((part * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    let estimate = (mean(b) / mean(a)).ln();
    let interval = Interval { estimate, low: at(tail), high: at(1.0 - tail), confidence };
    let smallest_difference = smallest_difference(interval.half_width() / t, degrees, t)?;
    Ok(Ratio { interval: interval.exp(), smallest_difference })
}

/// The logarithms of the ratios of resamples.
fn resampled_logs(a: &[f64], b: &[f64], design: Design, seed: u64) -> Vec<f64> {
    let mut rng = Rng::with_seed(seed);
    let one = |_| {
        let (mut a_sum, mut b_sum) = (0.0, 0.0);
        match design {
            Design::Paired => (0..a.len()).map(|_| rng.usize(..a.len())).for_each(|from| {
                a_sum += a[from];
                b_sum += b[from];
            }),
            Design::Unpaired => {
                a_sum = (0..a.len()).map(|_| a[rng.usize(..a.len())]).sum();
                b_sum = (0..b.len()).map(|_| b[rng.usize(..b.len())]).sum();
            }
        }
        (b_sum / b.len() as f64 / (a_sum / a.len() as f64)).ln()
    };
    (0..RESAMPLES).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 8] = [100.0, 103.0, 99.0, 101.0, 98.0, 102.0, 100.0, 97.0];

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let b = A.map(|a| a * 1.3);
        let of = |seed| ratio_of_means(&A, &b, Design::Unpaired, 0.95, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!((of(1).interval.estimate - 1.3).abs() < 1e-12 && of(1).shows_difference());
    }

    #[test]
    fn five_numbers_are_too_few() {
        let five = ratio_of_means(&A[..5], &A, Design::Unpaired, 0.95, 1);
        assert_eq!(five, Err(StatsError::TooFew { needed: 6, got: 5 }));
    }
}
