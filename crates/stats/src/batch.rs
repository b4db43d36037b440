//! The mean of a series whose neighbouring values depend on each other.

use crate::StatsError;
use crate::error::enough;
use crate::summary::{mean, variance};

/// The mean of a series in the order of time, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMean {
    /// Mean of all values.
    pub mean: f64,
    /// Standard error of the mean, with an allowance for autocorrelation.
    pub error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

impl BatchMean {
    /// Number of batches. With fewer the interval is wide. With more, neighbouring batches of a short series depend on each
    /// other; `tests/it/batches.rs` compares them.
    pub const BATCHES: usize = 10;
}

/// The mean with a standard error by batch means (Law and Kelton, Simulation Modeling and Analysis, 9.5.3): the series is cut
/// into batches of equal length, whose means hardly depend on each other when the batches are long. The first values that
/// fill no batch count in the mean alone.
///
/// # Errors
/// Fewer than two values for each of at least two batches, or a value that is not finite.
pub fn batch_mean(values: &[f64], batches: usize) -> Result<BatchMean, StatsError> {
    let batches = batches.max(2);
    enough(values, 2 * batches)?;
    let length = values.len() / batches;
    let means: Vec<f64> = values[values.len() % batches..].chunks_exact(length).map(mean).collect();
    let error = (variance(&means) / batches as f64).sqrt();
    Ok(BatchMean { mean: mean(values), error, degrees: batches as f64 - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_drift_widens_the_error_and_fast_noise_does_not() {
        let fast: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let slow: Vec<f64> = (0..100).map(|i| if i % 50 < 25 { 1.0 } else { -1.0 }).collect();
        assert_eq!(batch_mean(&fast, 10).unwrap().error, 0.0);
        assert!(batch_mean(&slow, 10).unwrap().error > 0.2);
        assert_eq!(batch_mean(&fast[..19], 10), Err(StatsError::TooFew { needed: 20, got: 19 }));
    }
}
