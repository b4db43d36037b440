//! The kernel scheduler under which a plan runs, and `klatch sched run` a command.

use std::time::{Duration, Instant};

use klatch_host::privileges::{as_root, program_for_root, sha256_hex};
use klatch_platforms::{Launch, Line, Process, Processes, describe_status};
use klatch_record::SchedulerInForce;
use klatch_record::lab::{SchedulerCounts, SchedulerReport};
use klatch_schedulers::{
    Loaded, SchedExtState, SchedulerError, SchedulerProgram, SchedulerSpec, check_free, sched_ext_state,
};

use crate::error::RunError;
use crate::kernel_log::KernelLog;
use crate::left_behind::Orphans;

/// Longest time for a program to load its scheduler. The verifier of an emulated machine takes seconds.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How often the state is read while a program loads or unloads its scheduler: the kernel tells nobody about a change.
const STATE_PERIOD: Duration = Duration::from_millis(20);
/// Longest time for the kernel to unload a scheduler whose program has ended.
const UNLOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Writing this to the file below makes the kernel unload whichever sched_ext scheduler there is.
const UNLOAD: &str = "S";
const SYSRQ: &str = "/proc/sysrq-trigger";

/// A scheduler that is in force until this is dropped.
pub struct Scheduler {
    /// Its name, and what was set about it.
    pub name: String,
    source: Source,
}

enum Source {
    /// A scheduler of Klatch.
    Own(Loaded),
    /// One that a program has loaded.
    Program(Box<Running>),
}

/// A program that has loaded a scheduler, stopped on drop.
struct Running {
    program: String,
    sha256: String,
    process: Process,
    /// The state when its scheduler was in force.
    state: SchedExtState,
    log: KernelLog,
}

impl Scheduler {
    /// Loads it. Returns when it is in force.
    ///
    /// # Errors
    /// See [`SchedulerError`]; or the program that loads it cannot be started, or another user could replace it.
    pub fn load(spec: &SchedulerSpec, processes: &Processes) -> Result<Scheduler, RunError> {
        Ok(match spec {
            SchedulerSpec::Own(own) => Scheduler { name: own.to_string(), source: Source::Own(own.load()?) },
            SchedulerSpec::Program(program) => {
                let running = Running::start(program, processes)?;
                let kernel_name = running.state.scheduler.as_deref().unwrap_or_default();
                Scheduler { name: program.name(kernel_name), source: Source::Program(Box::new(running)) }
            }
        })
    }

    /// The scheduler, its counters, and whether the kernel has unloaded it. The kernel falls back to its own scheduler without an
    /// error, and a score would then be that scheduler's.
    pub(crate) fn in_force(&mut self) -> SchedulerInForce {
        let (counts, program_sha256) = match &self.source {
            Source::Own(loaded) => {
                (loaded.counters().map(|counters| counters.stats).unwrap_or_default(), None)
            }
            Source::Program(running) => (Vec::new(), Some(running.sha256.clone())),
        };
        SchedulerInForce {
            name: self.name.clone(),
            program_sha256,
            lost: self.lost(),
            counts: counts.into_iter().map(|stat| (stat.name, stat.value)).collect(),
        }
    }

    /// Why it is no longer in force; `None` while it is.
    fn lost(&mut self) -> Option<String> {
        match &mut self.source {
            Source::Own(loaded) => loaded.lost(),
            Source::Program(running) => running.lost(),
        }
    }

    /// Settings and counters so far.
    ///
    /// # Errors
    /// The kernel refuses to read the maps of Klatch's scheduler.
    pub fn report(&mut self) -> Result<SchedulerReport, SchedulerError> {
        match &mut self.source {
            Source::Own(loaded) => loaded.report(),
            Source::Program(running) => Ok(SchedulerReport {
                scheduler: self.name.clone(),
                knobs: Vec::new(),
                lost: running.lost(),
                observed: SchedulerCounts { stats: Vec::new(), costs: Vec::new() },
            }),
        }
    }
}

impl Running {
    fn start(program: &SchedulerProgram, processes: &Processes) -> Result<Running, RunError> {
        check_free(sched_ext_state())?;
        // Only root can load a scheduler, so it keeps the rights of Klatch.
        let path = program_for_root(&program.path()?)?;
        let read = std::fs::read(&path);
        let bytes = read.map_err(|source| RunError::SchedulerFile { path: path.clone(), source })?;
        let mut command = vec![path.display().to_string()];
        command.extend(program.arguments.iter().cloned());
        let orphans = Orphans::adopt();
        let mut process = processes.start(&command, &Launch::default().with_own_rights())?;
        process.close_stdin();
        let log = KernelLog::from_now();
        let name = program.program.clone();
        let state = wait_until_loaded(&name, &mut process, &orphans)?;
        process.discard_lines();
        Ok(Running { program: name, sha256: sha256_hex(&bytes), process, state, log })
    }

    fn lost(&mut self) -> Option<String> {
        if let Some(status) = self.process.ended() {
            self.process.wait_for_exit();
            let is_kept = sched_ext_state().is_some_and(|now| change(&self.state, now).is_none());
            let ended = match is_kept {
                true => SchedulerError::Background { program: self.program.clone() }.to_string(),
                false => format!("{} ended ({})", self.program, describe_status(status)),
            };
            return Some(self.with_reasons(ended));
        }
        let change = change(&self.state, sched_ext_state()?)?;
        Some(self.with_reasons(change))
    }

    /// What happened, and what the kernel and the program said about it.
    fn with_reasons(&mut self, what: String) -> String {
        let kernel = self.log.reason().map_or(String::new(), |reason| format!("; the kernel said: {reason}"));
        format!("{what}{kernel}; it said: {}", self.process.last_words())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.stop();
        unload(&self.state);
    }
}

/// What became of a scheduler; `None` if it has been in force since the first state.
fn change(then: &SchedExtState, now: SchedExtState) -> Option<String> {
    match (now.scheduler, now.state.as_str()) {
        (Some(name), "enabled") if Some(&name) == then.scheduler.as_ref() && now.loads == then.loads => None,
        (Some(name), "enabled") if Some(&name) == then.scheduler.as_ref() => {
            Some("it was unloaded and loaded again".to_owned())
        }
        (Some(name), "enabled") => Some(format!("{name} is in force instead")),
        (_, state) => Some(format!("sched_ext is {state}")),
    }
}

fn wait_until_loaded(
    program: &str,
    process: &mut Process,
    orphans: &Orphans,
) -> Result<SchedExtState, SchedulerError> {
    let deadline = Instant::now() + LOAD_TIMEOUT;
    let mut speaks = true;
    loop {
        let state = sched_ext_state().filter(|state| state.state == "enabled" && state.scheduler.is_some());
        let ended = process.ended();
        let is_late = Instant::now() >= deadline;
        let error = match (ended, state) {
            (None, Some(state)) => return Ok(state),
            (Some(_), Some(state)) => {
                orphans.end(process.pid());
                process.stop();
                unload(&state);
                Some(SchedulerError::Background { program: program.to_owned() })
            }
            // What it has left behind may still load the scheduler.
            (Some(_), None) if !is_late && !orphans.left_behind(process.pid()).is_empty() => None,
            (Some(status), None) if !is_late => {
                process.wait_for_exit();
                let how = describe_status(status);
                Some(SchedulerError::Ended { program: program.to_owned(), how, words: process.last_words() })
            }
            (_, None) if is_late => {
                orphans.end(process.pid());
                let (program, seconds) = (program.to_owned(), LOAD_TIMEOUT.as_secs());
                Some(SchedulerError::NotLoaded { program, seconds, words: process.last_words() })
            }
            (_, None) => None,
        };
        if let Some(error) = error {
            return Err(error);
        }
        match speaks {
            true => match process.line(Instant::now() + STATE_PERIOD) {
                Line::Text(line) => process.keep(line),
                Line::End => speaks = false,
                Line::Late => {}
            },
            // It has closed its output.
            false => std::thread::sleep(STATE_PERIOD),
        }
    }
}

/// Waits until the scheduler of a program that was stopped is unloaded. If another process keeps it, the kernel is told to unload it.
fn unload(loaded: &SchedExtState) {
    let is_there =
        || sched_ext_state().is_some_and(|now| now.state != "disabled" && now.scheduler == loaded.scheduler);
    for asks_kernel in [false, true] {
        if asks_kernel && is_there() {
            // Without the right to do so, the scheduler stays, and the next run says that it is loaded.
            let _ = as_root(|| std::fs::write(SYSRQ, UNLOAD));
        }
        let deadline = Instant::now() + UNLOAD_TIMEOUT;
        while is_there() && Instant::now() < deadline {
            std::thread::sleep(STATE_PERIOD);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(state: &str, scheduler: Option<&str>, loads: u64) -> SchedExtState {
        let scheduler = scheduler.map(str::to_owned);
        SchedExtState { state: state.to_owned(), scheduler, loads, rejected: None }
    }

    #[test]
    fn what_became_of_a_scheduler_is_said() {
        let then = state("enabled", Some("lavd"), 3);
        let now = |word, name, loads| change(&then, state(word, name, loads)).unwrap_or_default();
        assert_eq!(now("enabled", Some("lavd"), 3), "");
        assert_eq!(now("enabled", Some("lavd"), 4), "it was unloaded and loaded again");
        assert_eq!(now("enabled", Some("flash"), 4), "flash is in force instead");
        assert_eq!(now("disabled", None, 3), "sched_ext is disabled");
    }

    #[test]
    fn a_program_that_loads_no_scheduler_is_an_error_with_its_words() {
        let start = |script: &str| {
            let command = ["sh", "-c", script].map(str::to_owned);
            Processes::default().start(&command, &Launch::default()).unwrap()
        };
        let orphans = Orphans::adopt();
        let error =
            wait_until_loaded("scx", &mut start("echo no such kfunc >&2; exit 3"), &orphans).unwrap_err();
        let expected = "scx ended before its scheduler was in force (exit status 3); it said: no such kfunc";
        assert_eq!(error.to_string(), expected);
    }
}
