//! What a duet reports while it runs, and at its end.

use std::path::PathBuf;
use std::time::Duration;

use klatch_record::Duet;

/// How far a duet is.
#[derive(Clone, Copy, Debug)]
pub struct DuetProgress {
    /// The start that runs, counted from 1.
    pub start: u32,
    /// Pairs of this start so far.
    pub pairs: usize,
    /// Time since the beginning.
    pub elapsed: Duration,
}

/// A duet, and where it was written.
pub struct DuetOutcome {
    /// The result, as it was saved.
    pub duet: Duet,
    /// The folder with `duet.json` and the records of both sides.
    pub folder: PathBuf,
}
