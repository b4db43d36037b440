//! Resolves settings of a server or a crowd to process settings, Java options and arguments.

use std::collections::BTreeMap;

use klatch_host::machine::vm_in_force;
use klatch_record::{VmInForce, instead_of};

use crate::archive::Archive;
use crate::arguments::arguments;
use crate::catalog::{Knob, java_crowd, java_knobs, native_crowd, threads_crowd};
use crate::java::java_variables;
use crate::java_in_force::{JavaPromise, promises};
use crate::jcmd;
use crate::large_pages::{LargePages, check_available};
use crate::launch::{self, Launch};
use crate::setting::{KnobError, Setting};

/// The effect of the settings of one process.
#[derive(Clone, Debug, Default)]
pub struct ResolvedKnobs {
    /// Process settings, applied before the program starts.
    pub launch: Launch,
    /// Options for the Java virtual machine.
    pub java_options: Vec<String>,
    /// Arguments for the server or crowd.
    pub arguments: Vec<String>,
    large_pages: Option<LargePages>,
    /// Whether the process is a Java.
    on_java: bool,
    /// What the knobs of its Java stand for.
    pub(crate) java_promises: Vec<JavaPromise>,
    /// What a training run must write before the program starts.
    pub(crate) archive: Option<Archive>,
}

impl ResolvedKnobs {
    /// The same with another way to start the process.
    #[must_use]
    pub fn with_launch(&self, launch: Launch) -> ResolvedKnobs {
        ResolvedKnobs { launch, ..self.clone() }
    }

    /// Resolves `settings` for `owner`, which has the knobs `own`, those of every process and, if `on_java`, those of every Java.
    pub(crate) fn new(
        owner: &str,
        settings: &[Setting],
        own: &BTreeMap<String, Knob>,
        on_java: bool,
    ) -> Result<ResolvedKnobs, KnobError> {
        let of_java = if on_java { java_knobs() } else { BTreeMap::new() };
        let own_names = own.keys().chain(of_java.keys()).map(String::as_str);
        let available: Vec<&str> = own_names.chain(launch::names()).collect();
        for (index, Setting { name, .. }) in settings.iter().enumerate() {
            if !available.contains(&name.as_str()) {
                let (platform, name) = (owner.to_owned(), name.clone());
                let instead = instead_of(&name, &available, "it has");
                return Err(KnobError::Unknown { platform, name, instead });
            }
            if settings[..index].iter().any(|earlier| earlier.name == *name) {
                return Err(KnobError::Twice(name.clone()));
            }
        }
        let mut large_pages = None;
        for setting in settings {
            let knob = own.get(&setting.name).or(of_java.get(&setting.name));
            if let Some(pages) = knob.and_then(|knob| knob.pages.get(&setting.value)) {
                large_pages = check_available(setting, *pages, settings)?;
            }
        }
        Ok(ResolvedKnobs {
            java_options: arguments(settings, &of_java)?,
            archive: Archive::of(settings, &of_java)?,
            arguments: arguments(settings, own)?,
            launch: Launch::new(settings)?,
            java_promises: promises(settings, |setting| {
                Some(setting.arguments(of_java.get(&setting.name)?))
            })?,
            on_java,
            large_pages,
        })
    }

    /// Verifies the settings that only a running process can show. Returns what its virtual machine says of itself, if it is a Java.
    ///
    /// # Errors
    /// The process did not get its large pages, or its virtual machine has something else in force than the knobs stand for.
    pub fn in_force(&self, pid: u32) -> Result<Option<VmInForce>, KnobError> {
        if let Some(pages) = &self.large_pages {
            pages.in_force(pid)?;
        }
        let vm = if self.on_java { vm_in_force(pid) } else { None };
        // To ask by a tool costs the virtual machine a thread, so only knobs without another proof are worth it.
        let is_silent = vm.as_ref().is_none_or(|vm| vm.options.is_none());
        let vm = if is_silent && !self.java_promises.is_empty() { jcmd::ask(pid).or(vm) } else { vm };
        if let Some(vm) = &vm {
            let variables: Vec<(String, String)> = java_variables().into_iter().collect();
            self.java_promises.iter().try_for_each(|promise| promise.verify(vm, &variables))?;
        }
        let any = || self.java_promises.iter().filter(|promise| promise.needs_flags());
        if any().next().is_some()
            && let Some(flags) = jcmd::flags(pid)
        {
            any().try_for_each(|promise| promise.verify_flags(&flags))?;
        }
        Ok(vm)
    }

    /// Resolves `settings` for the native crowd.
    ///
    /// # Errors
    /// It has no such knob, or this machine does not allow the setting.
    pub fn for_native_crowd(settings: &[Setting]) -> Result<ResolvedKnobs, KnobError> {
        ResolvedKnobs::new("the native crowd", settings, &native_crowd().knobs, false)
    }

    /// Resolves `settings` for the native crowd with two threads a user.
    ///
    /// # Errors
    /// It has no such knob, or this machine does not allow the setting.
    pub fn for_threads_crowd(settings: &[Setting]) -> Result<ResolvedKnobs, KnobError> {
        ResolvedKnobs::new("the crowd native-threads", settings, &threads_crowd().knobs, false)
    }

    /// Resolves `settings` for the Java crowd.
    ///
    /// # Errors
    /// It has no such knob, or this machine does not allow the setting.
    pub fn for_java_crowd(settings: &[Setting]) -> Result<ResolvedKnobs, KnobError> {
        let knobs = ResolvedKnobs::new("the Java crowd", settings, &java_crowd().knobs, true)?;
        knobs.archive.as_ref().map_or(Ok(()), |archive| Err(archive.refuse()))?;
        Ok(knobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(texts: &[&str]) -> Vec<Setting> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn settings_are_split_by_their_target() {
        let knobs = ResolvedKnobs::for_java_crowd(&settings(&["yield", "heap=64m", "nice=3"])).unwrap();
        assert_eq!(knobs.arguments, ["--yield"]);
        assert_eq!(knobs.java_options, ["-Xms64m", "-Xmx64m"]);
        assert!(format!("{:?}", knobs.launch).contains("Nice(3)"), "{knobs:?}");
    }

    #[test]
    fn invalid_crowd_knobs_are_reported() {
        let error =
            |texts: &[&str]| ResolvedKnobs::for_native_crowd(&settings(texts)).unwrap_err().to_string();
        assert_eq!(
            error(&["heap=1g"]),
            "the native crowd has no knob heap; it has ktls, resume, cpus, nice, policy, thp"
        );
        assert_eq!(error(&["nice=1", "nice=2"]), "knob nice is set twice");
        let error = ResolvedKnobs::for_java_crowd(&settings(&["aot"])).unwrap_err().to_string();
        assert_eq!(error, "knob aot=on: only a server makes the training run that it needs");
    }
}
