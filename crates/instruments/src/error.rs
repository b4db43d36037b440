//! The error of all instruments.

use klatch_record::Support;
use thiserror::Error;

/// An instrument could not start, or its results could not be read.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct InstrumentError(pub(crate) String);

impl InstrumentError {
    /// The reason why an instrument does not work here, with the remedy.
    pub(crate) fn lacking(support: &Support) -> InstrumentError {
        InstrumentError(match support {
            Support::NotAvailable { why, remedy } => format!("{why}; to change it: {remedy}"),
            Support::Usable { base } | Support::Fallback { base, .. } => base.clone(),
        })
    }
}
