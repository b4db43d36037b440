//! What settings mean for a server or a crowd: how its process is launched, and what it and its Java are told.

use std::collections::BTreeMap;

use crate::catalog::{Knob, java_crowd, java_knobs, native_crowd};
use crate::knobs::{KnobError, Setting, arguments};
use crate::large_pages::{LargePages, wanted};
use crate::launch::{self, Launch};

/// What settings mean.
#[derive(Clone, Debug, Default)]
pub struct Tuned {
    /// How its process is launched.
    pub launch: Launch,
    /// Options for its Java.
    pub java_options: Vec<String>,
    /// Arguments for itself.
    pub arguments: Vec<String>,
    large_pages: Option<LargePages>,
}

impl Tuned {
    /// What `settings` mean for `who`, who has the knobs `own` beside those of every process, and of every Java if it is one.
    pub(crate) fn of(
        who: &str,
        settings: &[Setting],
        own: &BTreeMap<String, Knob>,
        on_java: bool,
    ) -> Result<Tuned, KnobError> {
        let of_java = if on_java { java_knobs() } else { BTreeMap::new() };
        let of_own = own.keys().chain(of_java.keys()).map(String::as_str);
        let known: Vec<&str> = of_own.chain(launch::names()).collect();
        for (index, Setting { name, .. }) in settings.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let (platform, name) = (who.to_owned(), name.clone());
                return Err(KnobError::Unknown { platform, name, known: known.join(", ") });
            }
            if settings[..index].iter().any(|earlier| earlier.name == *name) {
                return Err(KnobError::Twice(name.clone()));
            }
        }
        let mut large_pages = None;
        for setting in settings {
            let knob = own.get(&setting.name).or(of_java.get(&setting.name));
            if let Some(pages) = knob.and_then(|knob| knob.pages.get(&setting.value)) {
                large_pages = wanted(setting, *pages, settings)?;
            }
        }
        Ok(Tuned {
            java_options: arguments(settings, &of_java)?,
            arguments: arguments(settings, own)?,
            launch: Launch::of(settings)?,
            large_pages,
        })
    }

    /// Makes sure that what only a running process can show is in force in it.
    ///
    /// # Errors
    /// It has not the large pages that it should have.
    pub fn in_force(&self, pid: u32) -> Result<(), KnobError> {
        self.large_pages.as_ref().map_or(Ok(()), |pages| pages.in_force(pid))
    }

    /// What `settings` mean for the native crowd.
    ///
    /// # Errors
    /// It has no such knob, or cannot be set so here.
    pub fn of_native_crowd(settings: &[Setting]) -> Result<Tuned, KnobError> {
        Tuned::of("the native crowd", settings, &native_crowd().knobs, false)
    }

    /// What `settings` mean for the Java crowd.
    ///
    /// # Errors
    /// It has no such knob, or cannot be set so here.
    pub fn of_java_crowd(settings: &[Setting]) -> Result<Tuned, KnobError> {
        Tuned::of("the Java crowd", settings, &java_crowd().knobs, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(texts: &[&str]) -> Vec<Setting> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn each_setting_goes_where_it_belongs() {
        let tuned = Tuned::of_java_crowd(&settings(&["yield", "heap=64m", "nice=3"])).unwrap();
        assert_eq!(tuned.arguments, ["--yield"]);
        assert_eq!(tuned.java_options, ["-Xms64m", "-Xmx64m"]);
        assert!(format!("{:?}", tuned.launch).contains("Nice(3)"), "{tuned:?}");
    }

    #[test]
    fn what_a_crowd_has_not_is_told() {
        let says = |texts: &[&str]| Tuned::of_native_crowd(&settings(texts)).unwrap_err().to_string();
        assert_eq!(says(&["heap=1g"]), "the native crowd has no knob heap; it has cpus, nice, policy, thp");
        assert_eq!(says(&["nice=1", "nice=2"]), "knob nice is set twice");
    }
}
