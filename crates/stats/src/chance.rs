//! How far apart two single values lie by chance alone.

use crate::StatsError;
use crate::error::{enough, logarithms};
use crate::summary::variance;
use crate::t::t_two_sided;

/// The part by which two further values of the kind of these differ at most, in `confidence` of all cases: 0.03 if the
/// ratio of the larger to the smaller stays below 1.03. A prediction interval of Student's t on the logarithms
/// (NIST/SEMATECH e-Handbook 2.3.6.7).
///
/// # Errors
/// Fewer than three values, one that is not above 0, or a confidence that is none.
pub fn chance_difference(values: &[f64], confidence: f64) -> Result<f64, StatsError> {
    enough(values, 3)?;
    let logs = logarithms(values)?;
    let reach = t_two_sided(confidence, logs.len() as f64 - 1.0)?;
    Ok((reach * (2.0 * variance(&logs)).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_further_values_differ_by_less_as_often_as_it_says() {
        let mut rng = fastrand::Rng::with_seed(7);
        // Twelve uniform numbers less six are about normal.
        let mut value = || (0.02 * ((0..12).map(|_| rng.f64()).sum::<f64>() - 6.0)).exp() * 1_000.0;
        let mut within = 0;
        for _ in 0..4_000 {
            let known: Vec<f64> = (0..8).map(|_| value()).collect();
            let (one, other) = (value(), value());
            let difference = (one / other).max(other / one) - 1.0;
            within += u32::from(difference <= chance_difference(&known, 0.95).unwrap());
        }
        assert!((3_740..=3_860).contains(&within), "{within} of 4,000");
    }

    #[test]
    fn what_tells_nothing_is_refused() {
        assert_eq!(chance_difference(&[1.0, 2.0], 0.95), Err(StatsError::TooFew { needed: 3, got: 2 }));
        assert_eq!(chance_difference(&[1.0, 2.0, 0.0], 0.95), Err(StatsError::NotPositive(0.0)));
        assert_eq!(chance_difference(&[1.0, 2.0, 3.0], 1.0), Err(StatsError::Confidence(1.0)));
    }
}
