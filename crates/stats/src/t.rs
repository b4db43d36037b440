//! Quantiles, from the crate `statrs`.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

use crate::StatsError;

/// The quantile of Student's t distribution at `probability`; `degrees` of freedom are above 0.
pub(crate) fn t_quantile(probability: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are above 0").inverse_cdf(probability)
}

/// The quantile of the chi-squared distribution at `probability`; `degrees` of freedom are above 0.
pub(crate) fn chi_squared_quantile(probability: f64, degrees: f64) -> f64 {
    ChiSquared::new(degrees).expect("degrees of freedom are above 0").inverse_cdf(probability)
}

/// How many standard errors an interval reaches to each side.
pub(crate) fn t_two_sided(confidence: f64, degrees: f64) -> Result<f64, StatsError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(StatsError::Confidence(confidence));
    }
    Ok(t_quantile(0.5 + confidence / 2.0, degrees))
}

/// The probability that Student's t is as far from 0 as `t` or farther, on either side; `degrees` of freedom are above 0.
pub(crate) fn t_probability(t: f64, degrees: f64) -> f64 {
    2.0 * StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are above 0").cdf(-t.abs())
}

/// The probability that a standard normal variable is below `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_scipy() {
        let all: serde_json::Value = serde_json::from_str(include_str!("../fixtures/scipy.json")).unwrap();
        let cases = all["t"].as_array().unwrap();
        for case in cases {
            let number = |name: &str| case[name].as_f64().unwrap();
            let got = t_quantile(number("probability"), number("degrees"));
            assert!((got / number("t") - 1.0).abs() < 1e-9, "{got} is not that of {case}");
        }
        assert!(cases.len() > 30);
    }
}
