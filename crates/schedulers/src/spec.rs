//! A scheduler as users write it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::catalog::{Scheduler, find};
use crate::error::SchedulerError;
use crate::load::{Loaded, knob_values};

/// What a command that loads a scheduler starts with, if its first word does not show that it is one.
const EXEC: &str = "exec:";
/// What the names of the sched_ext project's programs start with.
const SCX: &str = "scx_";

/// A scheduler to load.
#[derive(Clone, Debug)]
pub enum SchedulerSpec {
    /// One of Klatch's.
    Own(OwnScheduler),
    /// A program that loads a sched_ext scheduler and unloads it when it ends.
    Program(SchedulerProgram),
}

/// A scheduler of the catalogue with settings: `goodness`, `goodness:version=24`, `o1:yield=2,warm_us=0`.
#[derive(Clone, Debug)]
pub struct OwnScheduler {
    scheduler: &'static Scheduler,
    settings: Vec<(String, String)>,
}

/// A command that loads a scheduler: `scx_bpfland`, `./scx_mine --slice-us 5000`, `exec:mine --verbose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerProgram {
    text: String,
    /// The program, by its path or by its name in the search path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl OwnScheduler {
    /// Checks the names, and the settings against their ranges.
    ///
    /// # Errors
    /// There is no such scheduler or knob, or the value is out of range.
    pub fn new(name: &str, settings: Vec<(String, String)>) -> Result<OwnScheduler, SchedulerError> {
        let scheduler = find(name)?;
        knob_values(scheduler, &settings)?;
        Ok(OwnScheduler { scheduler, settings })
    }

    /// Loads it into this kernel, see [`Loaded::load`].
    ///
    /// # Errors
    /// See [`SchedulerError`].
    pub fn load(&self) -> Result<Loaded, SchedulerError> {
        Loaded::load(self.scheduler, &self.settings)
    }
}

impl SchedulerProgram {
    /// The command in `text`; `None` if it is the name of a scheduler of Klatch, perhaps mistyped.
    fn parse(text: &str) -> Option<Result<SchedulerProgram, SchedulerError>> {
        let command = text.strip_prefix(EXEC);
        let first = text.split_ascii_whitespace().next().unwrap_or_default();
        if command.is_none() && !first.contains('/') && !first.starts_with(SCX) {
            return None;
        }
        let mut words = shlex::split(command.unwrap_or(text)).unwrap_or_default().into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        Some(match program {
            Some(program) => {
                Ok(SchedulerProgram { text: text.to_owned(), program, arguments: words.collect() })
            }
            None => Err(SchedulerError::NoCommand { text: text.to_owned() }),
        })
    }

    /// Where the program is.
    ///
    /// # Errors
    /// There is no such file, or no folder of the search path has it.
    pub fn path(&self) -> Result<PathBuf, SchedulerError> {
        let candidates = match self.program.contains('/') {
            true => vec![PathBuf::from(&self.program)],
            false => {
                let folders = std::env::var_os("PATH").unwrap_or_default();
                std::env::split_paths(&folders).map(|folder| folder.join(&self.program)).collect()
            }
        };
        let found = candidates.into_iter().find(|path| path.is_file());
        found.ok_or_else(|| SchedulerError::NoProgram { program: self.program.clone() })
    }

    /// The same command with another path of its program.
    #[must_use]
    pub fn at(&self, path: &Path) -> SchedulerProgram {
        let program = path.display().to_string();
        let words = std::iter::once(program.as_str()).chain(self.arguments.iter().map(String::as_str));
        // A word with a NUL byte could not have been an argument of Klatch.
        let text = shlex::try_join(words).unwrap_or_default();
        SchedulerProgram { text: format!("{EXEC}{text}"), program, arguments: self.arguments.clone() }
    }

    /// A name for it, which has the kernel's name for the scheduler and the arguments.
    pub fn name(&self, kernel_name: &str) -> String {
        std::iter::once(kernel_name)
            .chain(self.arguments.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl FromStr for SchedulerSpec {
    type Err = SchedulerError;

    fn from_str(text: &str) -> Result<SchedulerSpec, SchedulerError> {
        if let Some(program) = SchedulerProgram::parse(text) {
            return program.map(SchedulerSpec::Program);
        }
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let setting = |part: &str| {
            let (knob, value) = part.split_once('=').unwrap_or((part, ""));
            (knob.to_owned(), value.to_owned())
        };
        let settings = settings.split(',').filter(|part| !part.is_empty()).map(setting);
        OwnScheduler::new(name, settings.collect()).map(SchedulerSpec::Own)
    }
}

impl fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedulerSpec::Own(own) => own.fmt(f),
            SchedulerSpec::Program(program) => program.fmt(f),
        }
    }
}

impl fmt::Display for OwnScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<String> =
            self.settings.iter().map(|(knob, value)| format!("{knob}={value}")).collect();
        let colon = if settings.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.scheduler.name, settings.join(","))
    }
}

impl fmt::Display for SchedulerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<SchedulerSpec>().unwrap_err().to_string()
    }

    #[test]
    fn a_spec_is_a_name_and_settings() {
        for text in ["fifo", "goodness:version=24", "o1:yield=2,warm_us=0"] {
            assert_eq!(text.parse::<SchedulerSpec>().unwrap().to_string(), text);
        }
        assert!(error("o1:yield").contains("yield of the scheduler o1 must be 1 to 3, got "));
        assert!(error("cfs:yield=1").contains("there is no scheduler cfs"));
    }

    #[test]
    fn a_spec_may_be_a_command() {
        for (text, program, arguments) in [
            ("scx_lavd", "scx_lavd", &[][..]),
            ("./mine --slice-us 5000", "./mine", &["--slice-us", "5000"][..]),
            ("exec:mine 'two words'", "mine", &["two words"][..]),
        ] {
            let SchedulerSpec::Program(one) = text.parse().unwrap() else { panic!("{text} is a command") };
            assert_eq!(
                (one.program.as_str(), one.arguments.as_slice()),
                (program, &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..])
            );
            assert_eq!(one.to_string(), text);
            let moved: SchedulerSpec = one.at(Path::new("/a b/scx")).to_string().parse().unwrap();
            let SchedulerSpec::Program(moved) = moved else { panic!("{moved} is a command") };
            assert_eq!((moved.program.as_str(), moved.arguments), ("/a b/scx", one.arguments));
        }
        assert!(error("exec:").contains("exec: names no program"));
        assert!(error("exec:'half").contains("names no program"));
    }

    #[test]
    fn a_program_is_found_by_its_path_or_in_the_search_path() {
        let path = |text: &str| match text.parse().unwrap() {
            SchedulerSpec::Program(program) => program.path().map_err(|error| error.to_string()),
            SchedulerSpec::Own(own) => panic!("{own} is a command"),
        };
        assert!(path("exec:sh").unwrap().ends_with("sh"));
        assert!(path("/no/scx").unwrap_err().starts_with("there is no program /no/scx"));
    }
}
