//! Process settings: what the kernel applies to any server or crowd before its program starts.
//!
//! They are set in the child between fork and exec, so every thread of the program inherits them, and read back there.
//! [`Launch::new`] tries them in a child that never becomes a program, so a refusal is reported before a run.

mod cpus;
mod nice;
mod policy;
mod thp;

use std::fmt::Debug;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use klatch_host::privileges::{Program, ServiceUser};

use crate::secrets::Environment;
use crate::setting::{KnobError, Setting};

/// A process setting with its value.
trait ProcessSetting: Debug + Send + Sync {
    /// Applies it to the calling thread or its process. It may make system calls only, because it runs between fork and exec.
    fn set(&self) -> io::Result<()>;

    /// Whether it is in force for the calling thread. It may make system calls only.
    fn in_force(&self) -> io::Result<bool>;

    /// The setting of server `index` of `count`, if it differs between servers.
    fn of_server(&self, _index: usize, _count: usize) -> Option<Arc<dyn ProcessSetting>> {
        None
    }

    /// Explains a refusal of the kernel, and how to avoid it.
    fn advice(&self, refusal: &Refusal) -> String;
}

/// How the kernel refused a setting.
#[derive(Debug)]
enum Refusal {
    /// A system call failed.
    Error(io::Error),
    /// All system calls succeeded, but another value is in force.
    Ignored,
}

struct ProcessKnob {
    name: &'static str,
    help: &'static str,
    parse: fn(&str) -> Result<Arc<dyn ProcessSetting>, String>,
}

/// In the order in which they are applied.
const KNOBS: [ProcessKnob; 4] = [
    ProcessKnob { name: "cpus", help: cpus::HELP, parse: cpus::parse },
    ProcessKnob { name: "nice", help: nice::HELP, parse: nice::parse },
    ProcessKnob { name: "policy", help: policy::HELP, parse: policy::parse },
    ProcessKnob { name: "thp", help: thp::HELP, parse: thp::parse },
];

/// The names of all process settings.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    KNOBS.iter().map(|knob| knob.name)
}

/// The name and description of each process setting.
pub fn process_knobs() -> Vec<(&'static str, &'static str)> {
    KNOBS.iter().map(|knob| (knob.name, knob.help)).collect()
}

/// What is applied to a process before its program starts: process settings, environment variables, and another user than root.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    entries: Vec<(Setting, Arc<dyn ProcessSetting>)>,
    environment: Environment,
    /// With the working folder, which is also the home.
    user: Option<(ServiceUser, PathBuf)>,
    keeps_rights: bool,
    has_exact_timers: bool,
}

impl Launch {
    /// Selects the process settings among `settings` and tries them out.
    ///
    /// # Errors
    /// The value is invalid, a CPU does not exist, or the kernel refuses the setting.
    pub fn new(settings: &[Setting]) -> Result<Launch, KnobError> {
        let mut entries = Vec::new();
        for knob in &KNOBS {
            for setting in settings.iter().filter(|setting| setting.name == knob.name) {
                let wrong = |reason| KnobError::Refused { setting: setting.to_string(), reason };
                entries.push((setting.clone(), (knob.parse)(&setting.value).map_err(wrong)?));
            }
        }
        let launch = Launch { entries, ..Launch::default() };
        launch.rehearse()?;
        Ok(launch)
    }

    /// The same with more environment variables.
    #[must_use]
    pub fn with_environment(&self, environment: &Environment) -> Launch {
        let mut launch = self.clone();
        launch.environment.extend(environment.iter().map(|(name, value)| (name.clone(), value.clone())));
        launch
    }

    /// The same with the rights of Klatch itself, also under sudo, see [`Program::keep_rights`].
    #[must_use]
    pub fn with_own_rights(&self) -> Launch {
        Launch { keeps_rights: true, ..self.clone() }
    }

    /// The same with timers that end when they are set to, as a crowd wants that sends on a schedule: by default the kernel lets them be 50 µs
    /// late. A native crowd asks for that itself; a virtual machine of Java cannot.
    #[must_use]
    pub fn with_exact_timers(&self) -> Launch {
        Launch { has_exact_timers: true, ..self.clone() }
    }

    /// The same as this user, in a folder of that user.
    #[must_use]
    pub(crate) fn as_user(&self, user: &ServiceUser, folder: &Path) -> Launch {
        Launch { user: Some((user.clone(), folder.to_owned())), ..self.clone() }
    }

    /// Name of the user of the process, if it is another one than that of Klatch's programs.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_ref().map(|(user, _)| user.name.as_str())
    }

    /// The settings of server `index` of `count`.
    pub(crate) fn of_server(&self, index: usize, count: usize) -> Launch {
        let of_server = |(setting, entry): &(Setting, Arc<dyn ProcessSetting>)| {
            (setting.clone(), entry.of_server(index, count).unwrap_or_else(|| entry.clone()))
        };
        Launch { entries: self.entries.iter().map(of_server).collect(), ..self.clone() }
    }

    /// Applies all settings in a child that then exits.
    #[allow(unsafe_code)]
    fn rehearse(&self) -> Result<(), KnobError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        // The closure below always fails, so the program is never executed.
        let mut nothing = Program::new("klatch");
        self.apply(&mut nothing);
        // SAFETY: the closure only creates an error from a number.
        unsafe {
            nothing.before_exec(|| Err(io::Error::from_raw_os_error(REHEARSED)));
        }
        match nothing.spawn() {
            Err(error) if error.raw_os_error() == Some(REHEARSED) => Ok(()),
            Err(error) => Err(self.refused(&error).unwrap_or_else(|| KnobError::Refused {
                setting: "trying the knobs in a child process".to_owned(),
                reason: error.to_string(),
            })),
            Ok(_) => unreachable!("the last thing before exec fails"),
        }
    }

    /// Applies everything in the child that `program` will start.
    #[allow(unsafe_code)]
    pub(crate) fn apply(&self, program: &mut Program) {
        for (name, value) in self.environment.iter() {
            program.env(name, value);
        }
        if self.keeps_rights {
            program.keep_rights();
        }
        if self.has_exact_timers {
            let work = || Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?);
            // SAFETY: it makes one system call.
            unsafe { program.before_exec(work) };
        }
        for (index, (_, entry)) in self.entries.iter().enumerate() {
            let entry = entry.clone();
            let work = move || {
                let code = |errno| Err(io::Error::from_raw_os_error(encode(index, errno)));
                match entry.set().and_then(|()| entry.in_force()) {
                    Ok(true) => Ok(()),
                    Ok(false) => code(IGNORED),
                    Err(error) => code(error.raw_os_error().unwrap_or(IGNORED)),
                }
            };
            // SAFETY: a `ProcessSetting` makes system calls only, as its trait requires.
            unsafe { program.before_exec(work) };
        }
        if let Some((user, folder)) = &self.user {
            program.current_dir(folder).env("HOME", folder);
            program.env("USER", &user.name).env("LOGNAME", &user.name);
            let user = user.clone();
            // SAFETY: it makes system calls only. It is last, because the settings above may need root's rights.
            unsafe { program.before_exec(move || user.assume()) };
        }
    }

    /// The refusal behind an error of spawning, if it is from [`Launch::apply`].
    pub(crate) fn refused(&self, error: &io::Error) -> Option<KnobError> {
        let (index, errno) = decode(error.raw_os_error()?)?;
        let (setting, entry) = self.entries.get(index)?;
        let refusal = match errno {
            IGNORED => Refusal::Ignored,
            errno => Refusal::Error(io::Error::from_raw_os_error(errno)),
        };
        Some(KnobError::Refused { setting: setting.to_string(), reason: entry.advice(&refusal) })
    }
}

// A child that cannot start returns one number to its parent: the error in its low bits, the setting above.
const ERRNO_BITS: u32 = 12;
/// The kernel has no error of this number.
const IGNORED: i32 = (1 << ERRNO_BITS) - 1;
const REHEARSED: i32 = i32::MAX;

fn encode(index: usize, errno: i32) -> i32 {
    (index as i32 + 1) << ERRNO_BITS | errno
}

fn decode(code: i32) -> Option<(usize, i32)> {
    let number = usize::try_from(code >> ERRNO_BITS).ok()?;
    Some((number.checked_sub(1)?, code & IGNORED))
}

#[cfg(test)]
mod tests;
