//! The result of a check.

use serde::Serialize;

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The group, a colon, and the subject of the check.
    pub name: String,
    /// The required behaviour of a server.
    pub expected: String,
    /// The observed behaviour; `null` if it was not checked.
    pub seen: Option<String>,
    /// Whether the server behaved as required.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Whether a server behaved as required.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The server behaved as required.
    Passed,
    /// The server behaved otherwise.
    Failed,
    /// The check could not run. It never counts as passed.
    NotChecked {
        /// The reason, and how to make the check possible.
        reason: String,
    },
}

/// The observed behaviour of a check that passed, or [`CheckError`].
pub(crate) type Checked<T = String> = Result<T, CheckError>;

/// The reason why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckError {
    /// The behaviour that was observed instead.
    Wrong(String),
    /// The reason why the check could not run.
    NotChecked(String),
}

/// Fails the check with the observed behaviour.
pub(crate) fn wrong<T>(seen: impl Into<String>) -> Checked<T> {
    Err(CheckError::Wrong(seen.into()))
}

/// Ends the check as one that could not run.
pub(crate) fn not_checked<T>(reason: impl Into<String>) -> Checked<T> {
    Err(CheckError::NotChecked(reason.into()))
}

impl Finding {
    pub(crate) fn new(name: &str, expected: &str, checked: Checked) -> Finding {
        let (seen, outcome) = match checked {
            Ok(seen) => (Some(seen), Outcome::Passed),
            Err(CheckError::Wrong(seen)) => (Some(seen), Outcome::Failed),
            Err(CheckError::NotChecked(reason)) => (None, Outcome::NotChecked { reason }),
        };
        Finding { name: name.to_owned(), expected: expected.to_owned(), seen, outcome }
    }
}
