//! What a comparison estimates, and how surely.

use klatch_record::Estimator;

/// The statistics of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The estimator that is compared.
    pub estimate: Estimator,
    /// Probability that an interval holds the true ratio, above 0 and below 1.
    pub confidence: f64,
}
