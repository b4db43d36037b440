//! Sets sysctls of the whole machine while runs need them, and restores them afterwards.
//!
//! The previous values are first written to a file that this process locks. After a `kill -9` the next Klatch finds that file
//! unlocked and restores the values.

mod knob;
mod saved;
mod table;

use std::io::Write;

use klatch_host::privileges::FolderError;
use klatch_record::printable_line;
use thiserror::Error;

use self::knob::SystemKnob;
use self::saved::{SavedSysctls, State, Value};
use crate::setting::Setting;

/// Sysctls that are set. Dropping this restores the previous values.
#[derive(Debug, Default)]
pub struct Sysctls {
    saved: Option<SavedSysctls>,
}

/// A sysctl that cannot be set.
#[derive(Debug, Error)]
pub enum SysctlError {
    /// Klatch does not change a sysctl of this name.
    #[error(
        "{0} is not a setting that klatch changes; it changes thp, sched.FEATURE (such as sched.WAKEUP_PREEMPTION), and {names}",
        names = table::known_names()
    )]
    Name(String),
    /// The value has the wrong type or is out of range.
    #[error("{name}: {value:?} is not {allowed}")]
    Value {
        /// Name of the sysctl, from the user.
        name: String,
        /// Value that the user requested.
        value: String,
        /// Description of the allowed values.
        allowed: String,
    },
    /// This kernel does not have the sysctl.
    #[error("{name}: there is no {file} here{hint}")]
    Missing {
        /// Name of the sysctl, from the user.
        name: String,
        /// The file in which the sysctl should be.
        file: String,
        /// How to make it available; may be empty.
        hint: &'static str,
    },
    /// The file of the sysctl cannot be read or written.
    #[error("{name}: cannot {what} {file}: {source}{hint}")]
    File {
        /// Name of the sysctl, from the user.
        name: String,
        /// The operation that failed: `read`, `write` or similar.
        what: &'static str,
        /// The file of the sysctl.
        file: String,
        /// The error of the operation.
        source: std::io::Error,
        /// How to avoid the error; may be empty.
        hint: &'static str,
    },
    /// The kernel accepted the value but uses another one.
    #[error("{name} is {actual} after {requested} was written; the previous values are restored")]
    NotApplied {
        /// Name of the sysctl, from the user.
        name: String,
        /// Value that the user requested.
        requested: String,
        /// Value that was read back.
        actual: String,
    },
    /// The folder for the previous values is not trusted or cannot be created.
    #[error("cannot save the previous values")]
    Folder(#[from] FolderError),
    /// The previous values cannot be written.
    #[error("cannot save the previous values in {folder}", folder = folder.display())]
    State {
        /// Folder for the previous values.
        folder: std::path::PathBuf,
        /// The error of the file system.
        #[source]
        source: std::io::Error,
    },
    /// Another Klatch has set the same sysctl; each would restore the other's value.
    #[error("another klatch (process {pid}) has set {name}; wait until it ends")]
    InUse {
        /// The first sysctl that both set.
        name: String,
        /// Process id of the other Klatch.
        pid: u32,
    },
}

/// The message about one sysctl that a killed Klatch had left set.
#[derive(Debug, PartialEq, Eq)]
pub struct StaleSysctl(String);

impl std::fmt::Display for StaleSysctl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Sysctls {
    /// Sets all `settings`, or none of them.
    ///
    /// # Errors
    /// A sysctl is missing, needs permission or is set by another Klatch, or the kernel does not apply the value.
    pub fn set(settings: &[Setting]) -> Result<Sysctls, SysctlError> {
        if settings.is_empty() {
            return Ok(Sysctls::default());
        }
        let mut values = Vec::new();
        let mut knobs = Vec::new();
        for Setting { name, value } in settings {
            let knob = SystemKnob::from_name(name)?;
            knob.check(value)?;
            values.push(Value { name: name.clone(), before: knob.read()?, set: value.clone() });
            knob.writable()?;
            knobs.push(knob);
        }
        // From here on, dropping this restores the previous values.
        let sysctls = Sysctls { saved: Some(saved::save(State::new(values.clone()))?) };
        for (knob, value) in knobs.iter().zip(&values) {
            knob.write(&value.set)?;
            let actual = knob.read()?;
            if !same_value(&actual, &value.set) {
                let (name, requested) = (value.name.clone(), value.set.clone());
                return Err(SysctlError::NotApplied { name, requested, actual });
            }
        }
        Ok(sysctls)
    }

    /// Restores the previous values.
    ///
    /// # Errors
    /// The kernel rejects a previous value. The next Klatch tries again.
    pub fn restore(mut self) -> Result<(), SysctlError> {
        self.saved.take().map_or(Ok(()), restore)
    }
}

impl Drop for Sysctls {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.saved.take().map(restore) {
            // A panic in `drop` would be worse than a lost message.
            let _ = writeln!(std::io::stderr(), "klatch: {}", printable_line(&error.to_string()));
        }
    }
}

/// Restores in reverse order, because a name may occur twice.
fn restore(saved: SavedSysctls) -> Result<(), SysctlError> {
    let write_back = |value: &Value| SystemKnob::from_name(&value.name)?.write(&value.before);
    let results: Vec<_> = saved.state.values.iter().rev().map(write_back).collect();
    results.into_iter().collect::<Result<(), _>>()?;
    saved.delete();
    Ok(())
}

/// Restores the sysctls that a killed Klatch had set. Values that were changed since then are left as they are.
pub fn restore_stale_sysctls() -> Vec<StaleSysctl> {
    let (abandoned, refused) = saved::stale();
    let mut messages: Vec<StaleSysctl> = refused.into_iter().map(StaleSysctl).collect();
    for saved in abandoned {
        let results: Vec<bool> =
            saved.state.values.iter().rev().map(|value| restore_stale_value(value, &mut messages)).collect();
        if results.into_iter().all(|done| done) {
            saved.delete();
        }
    }
    messages
}

/// Restores one value. Returns `false` if the next Klatch should try again.
fn restore_stale_value(value: &Value, messages: &mut Vec<StaleSysctl>) -> bool {
    let Value { name, before, set } = value;
    let mut report =
        |what: String| messages.push(StaleSysctl(format!("a killed klatch left {name}={set}; {what}")));
    let actual = match SystemKnob::from_name(name).and_then(|knob| knob.read()) {
        Ok(actual) => actual,
        Err(error) => {
            report(format!("it cannot be restored to {before}: {error}"));
            return false;
        }
    };
    if same_value(&actual, before) {
        return true;
    }
    if !same_value(&actual, set) {
        report(format!("it is {actual} now and is not changed (it was {before})"));
        return true;
    }
    match SystemKnob::from_name(name).and_then(|knob| knob.write(before)) {
        Ok(()) => report(format!("it is restored to {before}")),
        Err(error) => {
            report(format!("it cannot be restored to {before}: {error}"));
            return false;
        }
    }
    true
}

/// Whether the kernel treats two texts as the same value: white space and leading zeros do not count.
fn same_value(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let word =
            |word: &str| word.parse::<i128>().map_or_else(|_| word.to_owned(), |number| number.to_string());
        text.split_whitespace().map(word).collect()
    };
    words(one) == words(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_does_not_change_a_value() {
        assert!(
            same_value("32768\t60999\n", "32768 60999") && same_value("007", "7") && !same_value("1 2", "12")
        );
    }

    #[test]
    fn invalid_sysctls_are_refused_before_any_is_set() {
        let set_error = |text: &str| Sysctls::set(&[text.parse().unwrap()]).unwrap_err().to_string();
        for name in ["../etc/passwd=1", "vm..x=1", "vm.drop caches=1", "kernel.core_pattern=core"] {
            assert!(set_error(name).contains(" is not a setting that klatch changes; "), "{name}");
        }
        let error = set_error("vm.swappiness=1000");
        assert_eq!(error, "vm.swappiness: \"1000\" is not a whole number of 0 to 200");
        let error = set_error("kernel.sched_child_runs_first=1");
        assert_eq!(
            error,
            "kernel.sched_child_runs_first: there is no /proc/sys/kernel/sched_child_runs_first here"
        );
    }
}
