//! A knob with its value, and the errors of invalid ones.

use std::str::FromStr;

use klatch_record::{Transport, WorkloadKind};
use thiserror::Error;

use crate::transports::TRANSPORT_KNOB;

/// A knob with its value: `name=value`, or `name` alone for `name=on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the knob.
    pub name: String,
    /// Value of the knob, not empty.
    pub value: String,
}

/// A setting that is invalid or cannot be applied.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KnobError {
    /// The text does not have the form `name=value`.
    #[error("a knob is set by name=value, got {0}")]
    Form(String),
    /// The platform has no knob of this name.
    #[error("{platform} has no knob {name}; {instead}")]
    Unknown {
        /// Name of the platform or crowd.
        platform: String,
        /// Knob that the user named.
        name: String,
        /// The knob that was meant, or all of them.
        instead: String,
    },
    /// The knob does not have this value.
    #[error("knob {name} must be {allowed}, got {value}")]
    Value {
        /// Name of the knob.
        name: String,
        /// The allowed values, in words.
        allowed: String,
        /// Value that the user gave.
        value: String,
    },
    /// The platform does not carry the workload by this transport.
    #[error(
        "{platform} does not carry the workload {workload} by the transport {transport}; it has {available}"
    )]
    Transport {
        /// Name of the platform.
        platform: String,
        /// The workload.
        workload: WorkloadKind,
        /// The transport.
        transport: Transport,
        /// Those that it has for the workload.
        available: String,
    },
    /// The same knob is set more than once.
    #[error("knob {0} is set twice")]
    Twice(String),
    /// This machine does not allow the setting.
    #[error("knob {setting}: {reason}")]
    Refused {
        /// The setting as `name=value`.
        setting: String,
        /// The reason, and how to allow it.
        reason: String,
    },
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl KnobError {
    /// The name of the knob, if the setting has one.
    pub fn knob(&self) -> Option<&str> {
        match self {
            KnobError::Form(_) => None,
            KnobError::Unknown { name, .. } | KnobError::Value { name, .. } | KnobError::Twice(name) => {
                Some(name)
            }
            KnobError::Transport { .. } => Some(TRANSPORT_KNOB),
            KnobError::Refused { setting, .. } => setting.split('=').next(),
        }
    }
}

impl FromStr for Setting {
    type Err = KnobError;

    fn from_str(text: &str) -> Result<Setting, KnobError> {
        let (name, value) = text.split_once('=').unwrap_or((text, "on"));
        if name.is_empty() || value.is_empty() {
            return Err(KnobError::Form(text.to_owned()));
        }
        Ok(Setting { name: name.to_owned(), value: value.to_owned() })
    }
}
