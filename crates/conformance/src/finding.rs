//! The result of a check.

use serde::Serialize;

/// How much a check matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// A score counts on it: the work would be another, or the crowd could not do its part.
    Must,
    /// Clients and users count on it; a score does not.
    Should,
}

/// Beginnings of the names of checks that no score counts on.
const SHOULD: [&str; 8] = [
    "registration: CAP",
    "registration: nick in use",
    "leaving:",
    "errors:",
    "input: NUL",
    "input: line of",
    "requests: long head",
    "requests: malformed",
];

impl Duty {
    /// The duty of a check by its name.
    fn of(name: &str) -> Duty {
        if SHOULD.iter().any(|start| name.starts_with(start)) { Duty::Should } else { Duty::Must }
    }

    /// The word in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Duty::Must => "must",
            Duty::Should => "should",
        }
    }
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The group, a colon, and the subject of the check.
    pub name: String,
    /// How much it matters.
    pub duty: Duty,
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
        Finding { name: name.to_owned(), duty: Duty::of(name), expected: expected.to_owned(), seen, outcome }
    }
}

impl Finding {
    /// Whether the server fails a duty on which a score counts.
    pub fn fails_a_must(&self) -> bool {
        self.duty == Duty::Must && self.outcome == Outcome::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_on_order_and_not_on_words_for_errors() {
        let failed = |name: &str| Finding::new(name, "x", wrong("y"));
        assert!(failed("talk: order under load").fails_a_must());
        assert!(!failed("errors: 404 cannot send").fails_a_must());
        assert!(!Finding::new("talk: others only", "x", not_checked("y")).fails_a_must());
    }
}
