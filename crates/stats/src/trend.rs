//! Whether a series of numbers rises or falls.

use crate::error::logarithms;
use crate::{Interval, StatsError, linear_fit};

/// How the last of them compares with the first, were there no scatter: the slope of a straight line through the
/// logarithms, over their whole length. A ratio; an interval without 1 is a trend. Made for drift that goes one way; a
/// single slow first run is an [`crate::outlier`].
///
/// # Errors
/// Fewer than four numbers (three and a line leave one degree of freedom), one that is not above 0, or a confidence
/// that is none.
pub fn trend(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    if values.len() < 4 {
        return Err(StatsError::TooFew { needed: 4, got: values.len() });
    }
    let points: Vec<_> =
        logarithms(values)?.iter().enumerate().map(|(place, y)| (place as f64, *y)).collect();
    let slope = linear_fit(&points, confidence)?.slope;
    let whole = (values.len() - 1) as f64;
    let over = Interval {
        estimate: slope.estimate * whole,
        low: slope.low * whole,
        high: slope.high * whole,
        ..slope
    };
    Ok(over.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warming_up_machine_is_a_trend() {
        let warming = trend(&[100.0, 104.0, 111.0, 114.0, 121.0], 0.95).unwrap();
        assert!(warming.low > 1.0 && (warming.estimate - 1.21).abs() < 0.01, "{warming:?}");
    }

    #[test]
    fn scatter_is_none() {
        assert!(trend(&[100.0, 104.0, 97.0, 103.0, 99.0], 0.95).unwrap().contains(1.0));
        assert_eq!(trend(&[1.0, 2.0, 3.0], 0.95), Err(StatsError::TooFew { needed: 4, got: 3 }));
        assert_eq!(trend(&[1.0, 2.0, 0.0, 1.0], 0.95), Err(StatsError::NotPositive(0.0)));
    }
}
