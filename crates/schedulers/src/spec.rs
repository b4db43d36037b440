//! A scheduler as users write it.

use std::fmt;
use std::str::FromStr;

use crate::catalog::{Scheduler, find};
use crate::error::SchedulerError;
use crate::load::{Loaded, knob_values};

/// A scheduler with settings: `goodness`, `goodness:version=24`, `o1:yield=2,warm_us=0`.
#[derive(Clone, Debug)]
pub struct SchedulerSpec {
    scheduler: &'static Scheduler,
    settings: Vec<(String, String)>,
}

impl SchedulerSpec {
    /// Checks the names, and the settings against their ranges.
    ///
    /// # Errors
    /// There is no such scheduler or knob, or the value is out of range.
    pub fn new(name: &str, settings: Vec<(String, String)>) -> Result<SchedulerSpec, SchedulerError> {
        let scheduler = find(name)?;
        knob_values(scheduler, &settings)?;
        Ok(SchedulerSpec { scheduler, settings })
    }

    /// Loads it into this kernel, see [`Loaded::load`].
    ///
    /// # Errors
    /// See [`SchedulerError`].
    pub fn load(&self) -> Result<Loaded, SchedulerError> {
        Loaded::load(self.scheduler, &self.settings)
    }
}

impl FromStr for SchedulerSpec {
    type Err = SchedulerError;

    fn from_str(text: &str) -> Result<SchedulerSpec, SchedulerError> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let setting = |part: &str| {
            let (knob, value) = part.split_once('=').unwrap_or((part, ""));
            (knob.to_owned(), value.to_owned())
        };
        let settings = settings.split(',').filter(|part| !part.is_empty()).map(setting);
        SchedulerSpec::new(name, settings.collect())
    }
}

impl fmt::Display for SchedulerSpec {
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
    fn a_spec_is_a_name_and_settings() {
        for text in ["fifo", "goodness:version=24", "o1:yield=2,warm_us=0"] {
            assert_eq!(text.parse::<SchedulerSpec>().unwrap().to_string(), text);
        }
        let error = |text: &str| text.parse::<SchedulerSpec>().unwrap_err().to_string();
        assert!(error("o1:yield").contains("yield of the scheduler o1 must be 1 to 3, got "));
        assert!(error("cfs:yield=1").contains("there is no scheduler cfs"));
    }
}
