//! A number that does not belong to the others.

use crate::StatsError;
use crate::error::enough;
use crate::summary::{mean, variance};
use crate::t::t_quantile;

/// The place of the number that lies farthest out, if it lies farther than chance puts it: Grubbs' test, two-sided
/// (Grubbs 1969, Technometrics 11(1); NIST/SEMATECH e-Handbook 1.3.5.17.1). It assumes that the others are about
/// normal, and of a clean sample it accuses one in the part `significance` of all cases however small the sample is;
/// rules on median deviations, made for large samples, accuse far more often among five.
///
/// # Errors
/// Fewer than three numbers, or one that is not finite.
pub fn outlier(values: &[f64], significance: f64) -> Result<Option<usize>, StatsError> {
    enough(values, 3)?;
    let (mean, sd, n) = (mean(values), variance(values).sqrt(), values.len() as f64);
    let distance = |place: &usize| (values[*place] - mean).abs();
    let farthest = (0..values.len()).max_by(|a, b| distance(a).total_cmp(&distance(b)));
    Ok(farthest.filter(|place| distance(place) > limit(n, significance) * sd))
}

/// How many standard deviations off the farthest of `n` may be.
fn limit(n: f64, significance: f64) -> f64 {
    let t = t_quantile(1.0 - significance / (2.0 * n), n - 2.0);
    (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the handbook: mass spectrometer readings of a uranium isotope (Tietjen and Moore 1972).
    const URANIUM: [f64; 8] = [199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57];

    #[test]
    fn the_example_of_the_handbook() {
        assert_eq!(outlier(&URANIUM, 0.05), Ok(Some(7)));
        assert_eq!(outlier(&URANIUM[..7], 0.05), Ok(None));
    }

    #[test]
    fn limits_are_those_of_scipy() {
        let all: serde_json::Value = serde_json::from_str(include_str!("../fixtures/scipy.json")).unwrap();
        for case in all["grubbs"].as_array().unwrap() {
            let number = |name: &str| case[name].as_f64().unwrap();
            let got = limit(number("n"), number("significance"));
            assert!((got / number("limit") - 1.0).abs() < 1e-9, "{got} is not that of {case}");
        }
    }

    #[test]
    fn numbers_that_are_alike_have_none() {
        assert_eq!(outlier(&[1.0, 1.0, 1.0], 0.05), Ok(None));
        assert_eq!(outlier(&[1.0, 2.0], 0.05), Err(StatsError::TooFew { needed: 3, got: 2 }));
    }
}
