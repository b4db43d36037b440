//! A scheduler as a user names it.

use std::fmt;
use std::str::FromStr;

use crate::catalog::{Scheduler, find};
use crate::error::SchedulerError;
use crate::load::{Loaded, values};

/// A scheduler and what is to be set about it: `goodness`, `goodness:version=24`, `o1:yield=2,warm_us=0`.
#[derive(Clone, Debug)]
pub struct Wish {
    scheduler: &'static Scheduler,
    settings: Vec<(String, String)>,
}

impl Wish {
    /// This scheduler with these settings.
    ///
    /// # Errors
    /// There is no such scheduler or knob, or the knob cannot have the value.
    pub fn new(name: &str, settings: Vec<(String, String)>) -> Result<Wish, SchedulerError> {
        let scheduler = find(name)?;
        values(scheduler, &settings)?;
        Ok(Wish { scheduler, settings })
    }

    /// Loads it.
    ///
    /// # Errors
    /// See [`SchedulerError`].
    pub fn load(&self) -> Result<Loaded, SchedulerError> {
        Loaded::load(self.scheduler, &self.settings)
    }
}

impl FromStr for Wish {
    type Err = SchedulerError;

    fn from_str(text: &str) -> Result<Wish, SchedulerError> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let setting = |word: &str| {
            let (knob, value) = word.split_once('=').unwrap_or((word, ""));
            (knob.to_owned(), value.to_owned())
        };
        Wish::new(name, settings.split(',').filter(|word| !word.is_empty()).map(setting).collect())
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<String> =
            self.settings.iter().map(|(knob, value)| format!("{knob}={value}")).collect();
        let colon = if settings.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.scheduler.name, settings.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_name_and_settings() {
        for text in ["fifo", "goodness:version=24", "o1:yield=2,warm_us=0"] {
            assert_eq!(text.parse::<Wish>().unwrap().to_string(), text);
        }
        let told = |text: &str| text.parse::<Wish>().unwrap_err().to_string();
        assert!(told("o1:yield").contains("yield of the scheduler o1 must be 1..=3, got "));
        assert!(told("cfs:yield=1").contains("there is no scheduler cfs"));
    }
}
