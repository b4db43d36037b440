//! A straight line through points.

use crate::error::enough;
use crate::summary::mean;
use crate::t::t_two_sided;
use crate::{Interval, StatsError};

/// The line y = intercept + slope · x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// The slope with its interval, units of y per unit of x.
    pub slope: Interval,
    /// y where x is 0.
    pub intercept: f64,
    /// The part of the variance of y that the line explains, 0..=1; `None` where all y are equal, so that there is none.
    pub r2: Option<f64>,
}

/// Ordinary least squares, with Student's interval of the slope at n - 2 degrees of freedom (NIST/SEMATECH e-Handbook
/// 4.4.3.1). Points are (x, y).
///
/// # Errors
/// Fewer than three points, one that is not finite, no two different x, or a confidence that is none.
pub fn linear_fit(points: &[(f64, f64)], confidence: f64) -> Result<LinearFit, StatsError> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    enough(&x, 3)?;
    enough(&y, 3)?;
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let sum = |of: fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - x_mean, y - y_mean)).sum::<f64>();
    let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
    if xx == 0.0 {
        return Err(StatsError::NoScatter);
    }
    let estimate = xy / xx;
    let degrees = points.len() as f64 - 2.0;
    // Rounding may leave a little less than nothing where the points lie on the line.
    let unexplained = (yy - estimate * xy).max(0.0);
    let reach = t_two_sided(confidence, degrees)? * (unexplained / degrees / xx).sqrt();
    Ok(LinearFit {
        slope: Interval { estimate, low: estimate - reach, high: estimate + reach, confidence },
        intercept: y_mean - estimate * x_mean,
        r2: (yy > 0.0).then(|| 1.0 - unexplained / yy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_that_line() {
        let fit = linear_fit(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)], 0.95).unwrap();
        assert_eq!((fit.slope.estimate, fit.intercept, fit.r2), (2.0, 3.0, Some(1.0)));
        assert!(fit.slope.half_width() < 1e-6);
    }

    #[test]
    fn where_nothing_varies_nothing_is_explained() {
        let fit = linear_fit(&[(1.0, 5.0), (2.0, 5.0), (4.0, 5.0)], 0.95).unwrap();
        assert_eq!((fit.slope.estimate, fit.intercept, fit.r2), (0.0, 5.0, None));
    }

    #[test]
    fn points_above_each_other_have_no_slope() {
        assert_eq!(linear_fit(&[(1.0, 5.0), (1.0, 7.0), (1.0, 9.0)], 0.95), Err(StatsError::NoScatter));
    }
}
