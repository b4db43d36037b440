//! What is wrong with a reply.

use std::fmt::Display;

use thiserror::Error;

/// What is wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ReplyError(pub(super) String);

/// Compares a field of a reply with what it must be.
pub(super) fn same<T: PartialEq + Display>(what: &str, expected: T, actual: T) -> Result<(), ReplyError> {
    let differs = || ReplyError(format!("{what}: {actual} instead of {expected}"));
    if expected == actual { Ok(()) } else { Err(differs()) }
}
