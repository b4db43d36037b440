//! Archives of a JVM: its classes, or its ahead-of-time cache. A training run writes one, and later starts use it.

use std::collections::BTreeMap;

use crate::catalog::Knob;
use crate::setting::{KnobError, Setting};

/// A setting that needs an archive.
#[derive(Clone, Debug)]
pub(crate) struct Archive {
    pub(crate) setting: String,
    /// The Java options of the training run.
    pub(crate) training_options: Vec<String>,
}

impl Archive {
    /// The archive that one of these settings needs, with the options of a JVM that writes it.
    ///
    /// # Errors
    /// Two of them need one.
    pub(crate) fn of(
        settings: &[Setting],
        knobs: &BTreeMap<String, Knob>,
    ) -> Result<Option<Archive>, KnobError> {
        let (mut training_options, mut needed_by) = (Vec::new(), None);
        for setting in settings {
            let Some(knob) = knobs.get(&setting.name) else { continue };
            let Some(training) = knob.training.get(&setting.value) else {
                training_options.extend(setting.arguments(knob)?);
                continue;
            };
            if let Some(earlier) = needed_by.replace(setting) {
                let reason = format!("a JVM uses one archive, and {earlier} needs one too");
                return Err(KnobError::Refused { setting: setting.to_string(), reason });
            }
            training_options.extend(training.iter().cloned());
        }
        Ok(needed_by.map(|setting| Archive { setting: setting.to_string(), training_options }))
    }

    /// Refuses the setting for a process that makes no training run.
    pub(crate) fn refuse(&self) -> KnobError {
        let reason = "only a server makes the training run that it needs".to_owned();
        KnobError::Refused { setting: self.setting.clone(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::java_knobs;

    fn archive(texts: &[&str]) -> Result<Option<Archive>, String> {
        let settings: Vec<Setting> = texts.iter().map(|text| text.parse().unwrap()).collect();
        Archive::of(&settings, &java_knobs()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_training_run_has_the_other_options_too() {
        let archive = archive(&["heap=64m", "aot=on", "gc=serial"]).unwrap().unwrap();
        let options = ["-Xms64m", "-Xmx64m", "-XX:AOTCacheOutput={archive}", "-XX:+UseSerialGC"];
        assert_eq!(
            (archive.setting.as_str(), archive.training_options.as_slice()),
            ("aot=on", options.map(str::to_owned).as_slice())
        );
    }

    #[test]
    fn only_one_archive_can_be_used() {
        assert!(archive(&["cds=off", "heap=64m"]).unwrap().is_none());
        assert_eq!(
            archive(&["cds=app", "aot=on"]).unwrap_err(),
            "knob aot=on: a JVM uses one archive, and cds=app needs one too"
        );
    }
}
