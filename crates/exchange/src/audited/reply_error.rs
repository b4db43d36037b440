//! What is wrong with a reply.

use std::fmt::Display;

use serde::Deserialize;
use thiserror::Error;

/// Most characters of a body that a message shows.
const SHOWN_MAX: usize = 120;

/// What is wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ReplyError(pub(crate) String);

/// Compares a field of a reply with what it must be. `what` becomes text only if they differ: every reply has many fields.
pub(crate) fn same<T: PartialEq + Display>(
    what: impl Display,
    expected: T,
    actual: T,
) -> Result<(), ReplyError> {
    let differs = || ReplyError(format!("{what}: {actual} instead of {expected}"));
    if expected == actual { Ok(()) } else { Err(differs()) }
}

/// Parses the body of a reply, which must be JSON of exactly this form.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ReplyError> {
    serde_json::from_slice(body).map_err(|error| {
        let shown: String = String::from_utf8_lossy(body).chars().take(80).collect();
        ReplyError(format!("the body is not the JSON of this reply: {error}: {shown}"))
    })
}

/// The error of a reply whose status is not 200.
pub(crate) fn not_ok(status: u16, body: &[u8]) -> ReplyError {
    let shown: String = String::from_utf8_lossy(body).chars().take(SHOWN_MAX).collect();
    ReplyError(format!("status {status} instead of 200: {}", shown.trim_end()))
}
