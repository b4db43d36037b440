//! Finds the best of several samples, and corrects the interval for the choice.

use crate::ratio::{LogMean, welch};
use crate::t::t_quantile;
use crate::{Interval, Sample, StatsError};

/// The result of comparing several samples for the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The place of the sample with the best geometric mean.
    pub place: usize,
    /// Its ratio to the best of the others, with its interval. It is shown to be the best if 1 is not in it.
    pub ratio: Interval,
    /// For each sample, whether it is shown not to be the best.
    pub worse: Vec<bool>,
}

/// Compares geometric means each with each, at a confidence that holds for all k · (k - 1) / 2 pairs together: Welch's
/// intervals at Bonferroni's level. (Games and Howell 1976, Journal of Educational Statistics 1(2), do the same with
/// the studentized range, which is about 15 % narrower for ten samples.) So the choice of the best costs no confidence,
/// and of equal samples one is shown to be ahead in at most `1 - confidence` of all cases.
///
/// # Errors
/// Fewer than two samples, a sample of fewer than two numbers, one that is not above 0, two samples without any
/// scatter, or a confidence that is none.
pub fn best(samples: &[Sample<'_>], more_is_better: bool, confidence: f64) -> Result<Best, StatsError> {
    if samples.len() < 2 {
        return Err(StatsError::TooFew { needed: 2, got: samples.len() });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(StatsError::Confidence(confidence));
    }
    let ordered_pairs = (samples.len() * (samples.len() - 1)) as f64;
    let probability = 1.0 - (1.0 - confidence) / ordered_pairs;
    let sign = if more_is_better { 1.0 } else { -1.0 };
    let means = samples.iter().map(|&sample| LogMean::of(sample)).collect::<Result<Vec<LogMean>, _>>()?;
    // How far the first is ahead of the second, and how much of that may be chance.
    let ahead = |one: usize, other: usize| {
        let (error, degrees) = welch(means[one], means[other]);
        if error == 0.0 {
            return Err(StatsError::NoScatter);
        }
        let lead = sign * (means[one].mean - means[other].mean);
        Ok((lead, t_quantile(probability, degrees) * error))
    };
    let lead = |place: &usize| sign * means[*place].mean;
    let place = (0..means.len()).max_by(|a, b| lead(a).total_cmp(&lead(b))).unwrap_or_default();
    let mut worse = vec![false; means.len()];
    // Of the best against each other: the smallest lead, and the smallest of both its ends.
    let mut least = [f64::INFINITY; 3];
    for (other, worse) in worse.iter_mut().enumerate() {
        for rival in (0..means.len()).filter(|&rival| rival != other) {
            let (lead, chance) = ahead(rival, other)?;
            *worse |= lead > chance;
            if rival == place {
                let ends = [lead - chance, lead, lead + chance];
                least = std::array::from_fn(|end| least[end].min(ends[end]));
            }
        }
    }
    let [behind, lead, before] = least;
    let (low, high) = if more_is_better { (behind, before) } else { (-before, -behind) };
    let ratio = Interval { estimate: sign * lead, low, high, confidence }.exp();
    Ok(Best { place, ratio, worse })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];
    const FAST: [f64; 5] = [120.0, 121.0, 119.0, 120.5, 119.5];
    const NEARLY: [f64; 5] = [119.0, 121.0, 120.0, 119.7, 119.3];

    /// Which of these is the best, at 95 %.
    fn best_of<const N: usize>(samples: [&[f64]; N], more_is_better: bool) -> Result<Best, StatsError> {
        best(&samples.map(Sample::from), more_is_better, 0.95)
    }

    #[test]
    fn one_that_is_ahead_of_all_is_shown_to_be_the_best() {
        let best = best_of([&SLOW, &FAST], true).unwrap();
        assert_eq!((best.place, best.worse), (1, vec![true, false]));
        assert!(best.ratio.low > 1.15 && best.ratio.high < 1.25, "{:?}", best.ratio);
    }

    #[test]
    fn two_that_are_alike_are_both_left_in() {
        let best = best_of([&SLOW, &FAST, &NEARLY], true).unwrap();
        assert_eq!((best.place, best.worse), (1, vec![true, false, false]));
        assert!(best.ratio.contains(1.0), "{:?}", best.ratio);
    }

    #[test]
    fn the_smallest_can_be_the_best() {
        let best = best_of([&SLOW, &FAST], false).unwrap();
        assert_eq!((best.place, best.worse), (0, vec![false, true]));
        assert!(best.ratio.high < 0.87 && best.ratio.low > 0.80, "{:?}", best.ratio);
    }

    #[test]
    fn samples_that_tell_nothing_are_refused() {
        assert_eq!(best_of([&SLOW], true), Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(best_of([&SLOW, &[1.0]], true), Err(StatsError::TooFew { needed: 2, got: 1 }));
        assert_eq!(best_of([&[1.0, 1.0], &[2.0, 2.0]], true), Err(StatsError::NoScatter));
        assert_eq!(
            best(&[Sample::from(&SLOW), Sample::from(&FAST)], true, 1.0),
            Err(StatsError::Confidence(1.0))
        );
    }
}
