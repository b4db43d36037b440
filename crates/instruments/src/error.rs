//! The error of all instruments.

use thiserror::Error;

/// An instrument could not start, or its results could not be read.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct InstrumentError(pub(crate) String);
