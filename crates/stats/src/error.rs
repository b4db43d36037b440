//! Reasons why numbers allow no estimate.

use thiserror::Error;

/// Why a question cannot be answered from these numbers.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StatsError {
    /// A sample has too few values for the estimate.
    #[error("at least {needed} values are needed, got {got}")]
    TooFew {
        /// So many would do.
        needed: usize,
        /// So many there are.
        got: usize,
    },
    /// A ratio or a logarithm of it is not defined.
    #[error("a ratio needs values above 0, got {0}")]
    NotPositive(f64),
    /// Infinite, or not a number.
    #[error("values must be finite, got {0}")]
    NotFinite(f64),
    /// Numbers that belong together in pairs are not equally many.
    #[error("values in pairs must be equally many, got {0} and {1}")]
    NotPaired(usize, usize),
    /// All alike: their scatter, and so an interval, cannot be estimated from them.
    #[error("the values do not differ, so their scatter cannot be told")]
    NoScatter,
    /// A confidence that is none.
    #[error("confidence must be above 0 and below 1, got {0}")]
    Confidence(f64),
}

/// Checks that there are enough numbers, all of them finite.
pub(crate) fn enough(values: &[f64], needed: usize) -> Result<(), StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew { needed, got: values.len() });
    }
    values.iter().find(|value| !value.is_finite()).map_or(Ok(()), |value| Err(StatsError::NotFinite(*value)))
}

/// The logarithms of numbers that must be above 0.
pub(crate) fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let log = |&value: &f64| if value > 0.0 { Ok(value.ln()) } else { Err(StatsError::NotPositive(value)) };
    values.iter().map(log).collect()
}
