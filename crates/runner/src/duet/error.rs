//! Why a duet ends without a result.

use std::time::Duration;

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
    /// The length of a slice is out of range.
    #[error("slice must be 10 ms to 10 s, got {slice:?}")]
    Slice {
        /// The length.
        slice: Duration,
    },
    /// The time of a start is too short for a result.
    #[error(
        "each of {starts} starts has {:.1} s, and a warm-up of {:.1} s with {pairs} pairs of slices of {:.0} ms needs {:.1} s",
        per_start.as_secs_f64(), warmup.as_secs_f64(), slice.as_secs_f64() * 1e3, needed.as_secs_f64()
    )]
    ShortStarts {
        /// Starts of both sides.
        starts: u32,
        /// Time of each.
        per_start: Duration,
        /// Its part that does not count.
        warmup: Duration,
        /// Length of a slice.
        slice: Duration,
        /// Least number of pairs in it.
        pairs: u32,
        /// The time that a start needs.
        needed: Duration,
    },
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
