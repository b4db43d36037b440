//! Settings of the whole machine, for as long as runs need them.
//!
//! What was there before is written to a file first, which a living Klatch keeps locked: after a kill -9 the next Klatch
//! finds it unlocked, and puts everything back.

mod knob;
mod state;
mod table;

use std::io::Write;

use klatch_privileges::FolderError;
use thiserror::Error;

use self::knob::SystemKnob;
use self::state::{Kept, State, Value};
use crate::knobs::Setting;

/// What is set about the machine. Dropping it puts everything back.
#[derive(Debug, Default)]
pub struct Sysctls {
    kept: Option<Kept>,
}

/// A setting of the machine that cannot be had.
#[derive(Debug, Error)]
pub enum SysctlError {
    /// Klatch does not write a setting of this name.
    #[error(
        "{0} is not a setting that klatch changes; it changes thp, sched.FEATURE (such as sched.WAKEUP_PREEMPTION), and {known}",
        known = table::known()
    )]
    Name(String),
    /// The value is out of range or of another kind.
    #[error("{name}: {value:?} is not {allowed}")]
    Value {
        /// As given.
        name: String,
        /// As given.
        value: String,
        /// What it may be.
        allowed: String,
    },
    /// It is not there.
    #[error("{name}: there is no {file} here{hint}")]
    Missing {
        /// As given.
        name: String,
        /// Where it should be.
        file: String,
        /// What to do.
        hint: &'static str,
    },
    /// It cannot be read or written.
    #[error("{name}: cannot {what} {file}: {source}{hint}")]
    File {
        /// As given.
        name: String,
        /// What was tried.
        what: &'static str,
        /// The file.
        file: String,
        /// Why not.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// The kernel took another value.
    #[error("{name} is {found} after {wanted} was written; all is as it was before")]
    Else {
        /// As given.
        name: String,
        /// As given.
        wanted: String,
        /// What was read back.
        found: String,
    },
    /// The values from before cannot be saved: the folder for them is not trusted or cannot be made.
    #[error("cannot save the values from before")]
    Folder(#[from] FolderError),
    /// The values from before cannot be written down.
    #[error("cannot save the values from before in {folder}", folder = folder.display())]
    State {
        /// Where.
        folder: std::path::PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Two would put back each other's values.
    #[error("another klatch (process {pid}) has set {name}; wait until it has ended")]
    Taken {
        /// The first that both want.
        name: String,
        /// Its process.
        pid: u32,
    },
}

/// Something that a Klatch had left behind, and what was done about it; for people to read.
#[derive(Debug, PartialEq, Eq)]
pub struct Leftover(String);

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Sysctls {
    /// Sets all of `settings`, or none.
    ///
    /// # Errors
    /// One is not there, or needs permission, or the kernel takes another value; or another Klatch has set some.
    pub fn set(settings: &[Setting]) -> Result<Sysctls, SysctlError> {
        if settings.is_empty() {
            return Ok(Sysctls::default());
        }
        let mut values = Vec::new();
        let mut knobs = Vec::new();
        for Setting { name, value } in settings {
            let knob = SystemKnob::of(name)?;
            knob.check(value)?;
            values.push(Value { name: name.clone(), before: knob.read()?, set: value.clone() });
            knob.writable()?;
            knobs.push(knob);
        }
        // From here on dropping it puts everything back.
        let sysctls = Sysctls { kept: Some(state::keep(State::now(values.clone()))?) };
        for (knob, value) in knobs.iter().zip(&values) {
            knob.write(&value.set)?;
            let found = knob.read()?;
            if !same(&found, &value.set) {
                let (name, wanted) = (value.name.clone(), value.set.clone());
                return Err(SysctlError::Else { name, wanted, found });
            }
        }
        Ok(sysctls)
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// The kernel does not take a value that was there before; the next Klatch will try again.
    pub fn put_back(mut self) -> Result<(), SysctlError> {
        self.kept.take().map_or(Ok(()), restore)
    }
}

impl Drop for Sysctls {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.kept.take().map(restore) {
            // A panic would be worse than a standard error that nobody reads.
            let _ = writeln!(std::io::stderr(), "klatch: {error}");
        }
    }
}

/// In the reverse order: a name can be there twice.
fn restore(kept: Kept) -> Result<(), SysctlError> {
    let back = |value: &Value| SystemKnob::of(&value.name)?.write(&value.before);
    let results: Vec<_> = kept.state.values.iter().rev().map(back).collect();
    results.into_iter().collect::<Result<(), _>>()?;
    kept.forget();
    Ok(())
}

/// Puts back what a Klatch had set that was killed. What somebody else has changed since is left as it is.
pub fn put_back_leftovers() -> Vec<Leftover> {
    let (abandoned, refused) = state::abandoned();
    let mut told: Vec<Leftover> = refused.into_iter().map(Leftover).collect();
    for kept in abandoned {
        let results: Vec<bool> =
            kept.state.values.iter().rev().map(|value| put_back_one(value, &mut told)).collect();
        if results.into_iter().all(|done| done) {
            kept.forget();
        }
    }
    told
}

/// Whether there is nothing more to do about it.
fn put_back_one(value: &Value, told: &mut Vec<Leftover>) -> bool {
    let Value { name, before, set } = value;
    let mut tell =
        |what: String| told.push(Leftover(format!("a klatch that was killed had set {name}={set}; {what}")));
    let found = match SystemKnob::of(name).and_then(|knob| knob.read()) {
        Ok(found) => found,
        Err(error) => {
            tell(format!("it cannot be put back to {before}: {error}"));
            return false;
        }
    };
    if same(&found, before) {
        return true;
    }
    if !same(&found, set) {
        tell(format!("it is {found} now, so it is left as it is (it was {before})"));
        return true;
    }
    match SystemKnob::of(name).and_then(|knob| knob.write(before)) {
        Ok(()) => tell(format!("it is {before} again, as before")),
        Err(error) => {
            tell(format!("it cannot be put back to {before}: {error}"));
            return false;
        }
    }
    true
}

/// Whether two texts mean the same to the kernel: spaces and leading zeros do not count.
fn same(one: &str, other: &str) -> bool {
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
    fn spaces_do_not_make_a_difference() {
        assert!(same("32768\t60999\n", "32768 60999") && same("007", "7") && !same("1 2", "12"));
    }

    #[test]
    fn what_is_no_sysctl_here_is_told_before_anything_is_set() {
        let says = |text: &str| Sysctls::set(&[text.parse().unwrap()]).unwrap_err().to_string();
        for name in ["../etc/passwd=1", "vm..x=1", "vm.drop caches=1", "kernel.core_pattern=core"] {
            assert!(says(name).contains(" is not a setting that klatch changes; "), "{name}");
        }
        let error = says("vm.swappiness=1000");
        assert_eq!(error, "vm.swappiness: \"1000\" is not a whole number of 0 to 200");
        let error = says("kernel.sched_child_runs_first=1");
        assert_eq!(
            error,
            "kernel.sched_child_runs_first: there is no /proc/sys/kernel/sched_child_runs_first here"
        );
    }
}
