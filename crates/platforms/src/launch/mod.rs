//! Knobs of a process: what the kernel can be told about any server or crowd before its program begins.
//!
//! They are set in the child between fork and exec, so every thread of the program inherits them, and read back there.
//! [`Launch::of`] rehearses that in a child that never becomes a program: what cannot be had is told before a run.

mod cpus;
mod nice;
mod policy;
mod thp;

use std::fmt::Debug;
use std::io;
use std::process::Command;
use std::sync::Arc;

use klatch_privileges::before_exec;

use crate::knobs::{KnobError, Setting};

/// One knob with its value.
trait Measure: Debug + Send + Sync {
    /// Sets it for the calling thread, or its process. Only system calls: nothing else is safe between fork and exec.
    fn set(&self) -> io::Result<()>;

    /// Whether it is in force for the calling thread. Only system calls.
    fn in_force(&self) -> io::Result<bool>;

    /// What to know and do when the kernel refused it.
    fn advice(&self, refusal: &Refusal) -> String;
}

/// What came of setting a knob that is not in force.
#[derive(Debug)]
enum Refusal {
    /// A system call failed.
    Error(io::Error),
    /// All system calls went well, and still something else is in force.
    Ignored,
}

struct ProcessKnob {
    name: &'static str,
    help: &'static str,
    parse: fn(&str) -> Result<Arc<dyn Measure>, String>,
}

/// In the order in which they are set.
const KNOBS: [ProcessKnob; 4] = [
    ProcessKnob { name: "cpus", help: cpus::HELP, parse: cpus::parse },
    ProcessKnob { name: "nice", help: nice::HELP, parse: nice::parse },
    ProcessKnob { name: "policy", help: policy::HELP, parse: policy::parse },
    ProcessKnob { name: "thp", help: thp::HELP, parse: thp::parse },
];

/// The names of all knobs of a process.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    KNOBS.iter().map(|knob| knob.name)
}

/// What can be set about every process: names, and a line about each.
pub fn process_knobs() -> Vec<(&'static str, &'static str)> {
    KNOBS.iter().map(|knob| (knob.name, knob.help)).collect()
}

/// What is set about a process before its program begins.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    measures: Vec<(Setting, Arc<dyn Measure>)>,
}

impl Launch {
    /// Takes those of `settings` that are knobs of a process, and makes sure that they can be had here.
    ///
    /// # Errors
    /// A value that the knob has not, a CPU that does not exist, something that the kernel refuses.
    pub fn of(settings: &[Setting]) -> Result<Launch, KnobError> {
        let mut measures = Vec::new();
        for knob in &KNOBS {
            for setting in settings.iter().filter(|setting| setting.name == knob.name) {
                let wrong = |why| KnobError::Refused { setting: setting.to_string(), why };
                measures.push((setting.clone(), (knob.parse)(&setting.value).map_err(wrong)?));
            }
        }
        let launch = Launch { measures };
        launch.rehearse()?;
        Ok(launch)
    }

    /// Lets a child try all of it, and end.
    #[allow(unsafe_code)]
    fn rehearse(&self) -> Result<(), KnobError> {
        if self.measures.is_empty() {
            return Ok(());
        }
        // The closure below always fails, so the program is never looked for.
        let mut nothing = Command::new("klatch");
        self.apply(&mut nothing);
        // SAFETY: the work makes a number.
        unsafe {
            before_exec(&mut nothing, || Err(io::Error::from_raw_os_error(REHEARSED)));
        }
        match nothing.spawn() {
            Err(error) if error.raw_os_error() == Some(REHEARSED) => Ok(()),
            Err(error) => Err(self.refused(&error).unwrap_or_else(|| KnobError::Refused {
                setting: "trying the knobs out in a child".to_owned(),
                why: error.to_string(),
            })),
            Ok(_) => unreachable!("the last thing before exec fails"),
        }
    }

    /// Has it all set in the child that `command` will start.
    #[allow(unsafe_code)]
    pub(crate) fn apply(&self, command: &mut Command) {
        for (index, (_, measure)) in self.measures.iter().enumerate() {
            let measure = measure.clone();
            let work = move || {
                let code = |errno| Err(io::Error::from_raw_os_error(encode(index, errno)));
                match measure.set().and_then(|()| measure.in_force()) {
                    Ok(true) => Ok(()),
                    Ok(false) => code(IGNORED),
                    Err(error) => code(error.raw_os_error().unwrap_or(IGNORED)),
                }
            };
            // SAFETY: a `Measure` makes system calls only; the trait says so.
            unsafe { before_exec(command, work) };
        }
    }

    /// What an error of spawning means, if it is one of [`Launch::apply`].
    pub(crate) fn refused(&self, error: &io::Error) -> Option<KnobError> {
        let (index, errno) = decode(error.raw_os_error()?)?;
        let (setting, measure) = self.measures.get(index)?;
        let refusal = match errno {
            IGNORED => Refusal::Ignored,
            errno => Refusal::Error(io::Error::from_raw_os_error(errno)),
        };
        Some(KnobError::Refused { setting: setting.to_string(), why: measure.advice(&refusal) })
    }
}

// A child can tell its parent one number of why it could not begin: in its low bits the error, above it the knob.
const ERRNO_BITS: u32 = 12;
/// No error of the kernel has this number.
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
