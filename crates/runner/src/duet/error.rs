//! Why a duet ends without a result.

use klatch_record::{RequirementError, SaveError};
use klatch_stats::StatsError;
use thiserror::Error;

use crate::RunError;

/// Why a duet could not be made. What was measured before stays on disk.
#[derive(Debug, Error)]
pub enum DuetError {
    /// A run could not be made.
    #[error(transparent)]
    Run(Box<RunError>),
    /// Pacing `flood` keeps the buffers of all connections full, so a pause takes seconds.
    #[error(
        "a duet needs moments without messages in flight, which pacing flood does not have: use turns, rounds or rate"
    )]
    Flood,
    /// Pauses over the network would be seconds apart.
    #[error("a duet runs its crowds on this machine, not on hosts")]
    Hosts,
    /// There is nothing to share.
    #[error("sides that run at the same time need at least two CPUs")]
    OneCpu,
    /// The machine has one setting at a time.
    #[error("both sides of a duet need the same sysctls, which are settings of the whole machine")]
    Sysctls,
    /// The option and the knob contradict each other.
    #[error("sides that run at the same time get the knob cpus by themselves: leave the knob out")]
    Cpus,
    /// Texts could not tell the sides apart.
    #[error("both sides are called {0}: give one of them another name")]
    Names(String),
    /// A requirement is about no ratio that the duet has.
    #[error(transparent)]
    Requirement(#[from] RequirementError),
    /// An instrument did not run.
    #[error("{0}")]
    Instrument(String),
    /// The required width is none.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// The result cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl From<RunError> for DuetError {
    fn from(error: RunError) -> DuetError {
        DuetError::Run(Box::new(error))
    }
}
