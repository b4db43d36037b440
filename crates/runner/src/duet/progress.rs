//! What a duet reports while it runs, and at its end.

use std::path::PathBuf;
use std::time::Duration;

use klatch_record::{Duet, RatioEstimate};

use crate::duet::forecast::Forecast;

/// How far a duet is.
#[derive(Clone, Copy, Debug)]
pub struct DuetProgress {
    /// The start that runs, counted from 1.
    pub start: u32,
    /// Pairs of this start so far.
    pub pairs: usize,
    /// Time since the beginning.
    pub elapsed: Duration,
    /// What the duet will show; only after a start, and only where it is news.
    pub forecast: Option<Forecast>,
    /// The ratio of the server's CPU time per message over the starts so far.
    pub so_far: Option<RatioEstimate>,
}

/// A duet, and where it was written.
pub struct DuetOutcome {
    /// The result, as it was saved.
    pub duet: Duet,
    /// The folder with `duet.json` and the records of both sides.
    pub folder: PathBuf,
    /// Time from the first start to the end of the last one.
    pub took: Duration,
}
