//! Numbers of a workload that are out of range.

use thiserror::Error;

/// Why a workload cannot be: names the option, its range, and what was given.
#[derive(Debug, Error, PartialEq)]
#[error("{what} must be {range}, got {got}")]
pub struct WorkloadError {
    what: &'static str,
    range: String,
    got: String,
}

impl WorkloadError {
    /// The axis of a study that is out of range.
    pub fn axis(&self) -> &'static str {
        match self.what {
            "room count" => "rooms",
            "user count" => "users",
            "message count" => "count",
            "message size" | "request size" => "size",
            "connection count" => "connections",
            "line count" => "lines",
            "line speed" => "line",
            "directory count" => "directories",
            "reader count" => "readers",
            "trader count" => "traders",
            "quote count" => "quotes",
            "injection rate" => "injection_rate",
            "think time" => "think",
            "block size" => "block",
            "file count" => "files",
            "file size" => "file_mib",
            other => other,
        }
    }
}

pub(super) fn within(what: &'static str, least: u32, most: u32, got: u32) -> Result<(), WorkloadError> {
    let inside = (least..=most).contains(&got);
    inside.then_some(()).ok_or_else(|| out_of(what, &format!("{least}..={most}"), got))
}

pub(super) fn out_of(what: &'static str, range: &str, got: impl ToString) -> WorkloadError {
    WorkloadError { what, range: range.to_owned(), got: got.to_string() }
}
