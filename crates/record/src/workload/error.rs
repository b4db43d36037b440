//! Settings that a workload cannot have.

use thiserror::Error;

use super::WorkloadKind;
use crate::similar::instead_of;
use crate::words::range_in_words;

/// Why a workload cannot be: names the setting, what it must be, and what was given.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorkloadError {
    /// A value that the setting cannot have.
    #[error("{setting} must be {range}, got {got}")]
    Value {
        /// Name of the setting.
        setting: &'static str,
        /// What it must be.
        range: String,
        /// What was given.
        got: String,
    },
    /// A text in a form that the setting cannot have; it may have a secret in it, so it is not shown.
    #[error("{setting} must be {form}")]
    Form {
        /// Name of the setting.
        setting: &'static str,
        /// What it must be.
        form: String,
    },
    /// A setting of requests for a URL, without one.
    #[error("{setting} belongs to requests for a URL, and there is none")]
    NoUrl {
        /// Name of the setting.
        setting: &'static str,
    },
    /// A setting that other settings leave without a meaning.
    #[error("{setting} belongs to {owner}")]
    Unused {
        /// Name of the setting.
        setting: &'static str,
        /// The setting and value to which it belongs, such as `pacing rounds`.
        owner: &'static str,
    },
    /// Pacing `rate` without a rate.
    #[error("pacing rate needs a rate or stages")]
    NoRate,
    /// Two settings that exclude each other.
    #[error("{setting} cannot be combined with {other}")]
    Conflict {
        /// Name of the setting.
        setting: &'static str,
        /// Name of the setting that stands in its place.
        other: &'static str,
    },
    /// A setting of other workloads.
    #[error("{setting} belongs to the workload {owners}, not to {kind}")]
    Foreign {
        /// Name of the setting.
        setting: String,
        /// The workloads that have it.
        owners: String,
        /// The workload that was asked for.
        kind: WorkloadKind,
    },
    /// A setting of no workload.
    #[error("no workload has {setting}; {instead}")]
    Unknown {
        /// What was given.
        setting: String,
        /// The setting that was meant, or those of the workload that was asked for.
        instead: String,
    },
}

impl WorkloadError {
    /// The name of the setting.
    pub fn setting(&self) -> &str {
        match self {
            WorkloadError::Value { setting, .. }
            | WorkloadError::Form { setting, .. }
            | WorkloadError::NoUrl { setting }
            | WorkloadError::Unused { setting, .. }
            | WorkloadError::Conflict { setting, .. } => setting,
            WorkloadError::NoRate => "pacing",
            WorkloadError::Foreign { setting, .. } | WorkloadError::Unknown { setting, .. } => setting,
        }
    }

    /// The error of a value that the setting cannot have.
    pub(super) fn out_of(setting: &'static str, range: impl ToString, got: impl ToString) -> WorkloadError {
        WorkloadError::Value { setting, range: range.to_string(), got: got.to_string() }
    }

    pub(super) fn not_a_word(
        setting: &'static str,
        words: &[(&'static str, &'static str)],
        got: &str,
    ) -> WorkloadError {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().expect("there is a word");
        WorkloadError::out_of(setting, format!("{} or {last}", others.join(", ")), got)
    }

    /// The error of a setting that `kind` does not have.
    pub fn foreign(setting: &str, kind: WorkloadKind) -> WorkloadError {
        let names = |kind: WorkloadKind| kind.settings().iter().map(|known| known.name);
        let owners = WorkloadKind::ALL.into_iter().filter(|kind| names(*kind).any(|name| name == setting));
        let owners = owners.map(WorkloadKind::name).collect::<Vec<_>>().join(" or ");
        let setting = setting.to_owned();
        match owners.is_empty() {
            true => {
                let known: Vec<&str> = names(kind).collect();
                let instead = instead_of(&setting, &known, &format!("{kind} has"));
                WorkloadError::Unknown { setting, instead }
            }
            false => WorkloadError::Foreign { setting, owners, kind },
        }
    }
}

/// Checks a number whose range follows from other settings.
pub(super) fn within(setting: &'static str, least: u32, most: u32, got: u32) -> Result<(), WorkloadError> {
    let inside = (least..=most).contains(&got);
    inside.then_some(()).ok_or_else(|| WorkloadError::out_of(setting, range_in_words(least, most), got))
}
