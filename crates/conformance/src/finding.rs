//! What a check found.

use serde::Serialize;

/// One check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check: its group, a colon, and what is checked.
    pub name: String,
    /// What a server has to do.
    pub expected: String,
    /// What it did; `null` if it was not checked.
    pub seen: Option<String>,
    /// Whether that will do.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Whether a server did what it has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It did.
    Passed,
    /// It did not.
    Failed,
    /// Nobody knows: never counted as passed.
    NotChecked {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// What a check returns: what was seen when all was well, or [`Trouble`].
pub(crate) type Checked<T = String> = Result<T, Trouble>;

/// Why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// What was seen instead of what was expected.
    Wrong(String),
    /// Why it could not be checked.
    NotChecked(String),
}

/// The server did something else than expected.
pub(crate) fn wrong<T>(seen: impl Into<String>) -> Checked<T> {
    Err(Trouble::Wrong(seen.into()))
}

/// It could not be checked.
pub(crate) fn not_checked<T>(reason: impl Into<String>) -> Checked<T> {
    Err(Trouble::NotChecked(reason.into()))
}

impl Finding {
    pub(crate) fn new(name: &str, expected: &str, checked: Checked) -> Finding {
        let (seen, outcome) = match checked {
            Ok(seen) => (Some(seen), Outcome::Passed),
            Err(Trouble::Wrong(seen)) => (Some(seen), Outcome::Failed),
            Err(Trouble::NotChecked(reason)) => (None, Outcome::NotChecked { reason }),
        };
        Finding { name: name.to_owned(), expected: expected.to_owned(), seen, outcome }
    }
}
