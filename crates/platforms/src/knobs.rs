//! What is set about a platform.

use std::collections::BTreeMap;
use std::str::FromStr;

use thiserror::Error;

use crate::catalog::Knob;

/// One knob, set: `name=value`, or `name` alone for `name=on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A setting that a platform cannot take.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KnobError {
    /// Not of the form `name=value`.
    #[error("a knob is set by name=value, got {0}")]
    Form(String),
    /// It has no such knob.
    #[error("{platform} has no knob {name}; it has {known}")]
    Unknown {
        /// The platform.
        platform: String,
        /// As given.
        name: String,
        /// What it has.
        known: String,
    },
    /// The knob has no such value.
    #[error("knob {name} must be one of {known}, got {value}")]
    Value {
        /// The knob.
        name: String,
        /// What it can be.
        known: String,
        /// As given.
        value: String,
    },
    /// The same knob more than once.
    #[error("knob {0} is set twice")]
    Twice(String),
    /// It cannot be had here.
    #[error("knob {setting}: {why}")]
    Refused {
        /// What was to be set.
        setting: String,
        /// Why not, and what to do.
        why: String,
    },
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl KnobError {
    /// The knob that is set wrongly, where it has a name.
    pub fn knob(&self) -> Option<&str> {
        match self {
            KnobError::Form(_) => None,
            KnobError::Unknown { name, .. } | KnobError::Value { name, .. } | KnobError::Twice(name) => {
                Some(name)
            }
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

impl Setting {
    /// The arguments that this means.
    pub(crate) fn arguments(&self, knob: &Knob) -> Result<Vec<String>, KnobError> {
        if let Some(arguments) = knob.values.get(&self.value) {
            return Ok(arguments.clone());
        }
        // A switch that has a word for one side only is on the other side when nothing is said.
        let opposite = match self.value.as_str() {
            "on" => "off",
            "off" => "on",
            _ => "",
        };
        if knob.values.contains_key(opposite) {
            return Ok(Vec::new());
        }
        if knob.arguments.is_empty() {
            let known: Vec<&str> = knob.values.keys().map(String::as_str).collect();
            let (name, known, value) = (self.name.clone(), known.join(", "), self.value.clone());
            return Err(KnobError::Value { name, known, value });
        }
        Ok(knob.arguments.iter().map(|word| word.replace("{value}", &self.value)).collect())
    }
}

/// The arguments that those of `settings` mean which `knobs` knows.
pub(crate) fn arguments(
    settings: &[Setting],
    knobs: &BTreeMap<String, Knob>,
) -> Result<Vec<String>, KnobError> {
    let known = settings.iter().filter_map(|setting| Some((setting, knobs.get(&setting.name)?)));
    let lists: Result<Vec<_>, _> = known.map(|(setting, knob)| setting.arguments(knob)).collect();
    Ok(lists?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::java_knobs;

    fn set(text: &str) -> Result<Vec<String>, String> {
        let setting: Setting = text.parse().map_err(|error: KnobError| error.to_string())?;
        setting.arguments(&java_knobs()[&setting.name]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_becomes_arguments() {
        assert_eq!(set("heap=64m").unwrap(), ["-Xms64m", "-Xmx64m"]);
        assert_eq!(set("jit=interpreter").unwrap(), ["-Xint"]);
        let yields = Knob {
            help: String::new(),
            values: [("on".into(), vec!["--yield".into()])].into(),
            arguments: Vec::new(),
            pages: [].into(),
        };
        let set =
            |value: &str| Setting { name: "yield".into(), value: value.into() }.arguments(&yields).unwrap();
        assert_eq!((set("on"), set("off")), (vec!["--yield".to_owned()], Vec::new()));
        assert_eq!("yield".parse(), Ok(Setting { name: "yield".into(), value: "on".into() }));
    }

    #[test]
    fn a_value_that_it_has_not_is_told_those_it_has() {
        assert_eq!(set("jit=c3").unwrap_err(), "knob jit must be one of c1, interpreter, got c3");
        assert_eq!(set("=3").unwrap_err(), "a knob is set by name=value, got =3");
    }
}
