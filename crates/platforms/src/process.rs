//! Processes that Klatch starts. Each leads a process group of its own, none outlives Klatch, and all can be told to stop
//! at once from a signal handler's thread.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use klatch_privileges::{before_exec, confine, invoker};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit};
use thiserror::Error;

use crate::knobs::KnobError;
use crate::launch::Launch;

/// Lines of standard error that are kept for a message.
const LAST_WORDS_MAX: usize = 8;
/// Open files that a process is let have at most.
const OPEN_FILES_MAX: u64 = 1 << 20;
/// How long a process may take to stop when asked to.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// All processes that run now.
#[derive(Clone, Default)]
pub struct Processes(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    groups: Vec<i32>,
    interrupted: bool,
}

/// One process.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    last_words: Arc<Mutex<VecDeque<String>>>,
    /// Closed when all of standard error is read.
    errors_read: Receiver<()>,
    all: Processes,
}

/// What came of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line of standard output, without its end.
    Text(String),
    /// It has closed its standard output, or ended.
    End,
    /// Nothing came in time.
    Late,
}

/// A process that cannot be started.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// The program cannot be run.
    #[error("cannot start {program}{who}: {source}")]
    Start {
        /// Its path or name.
        program: String,
        /// As whom, if not as the user that Klatch runs as.
        who: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It cannot be started as it was to be.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// Klatch is being stopped.
    #[error("interrupted")]
    Interrupted,
}

impl Processes {
    /// Starts `command` (program and arguments) as `launch` says.
    ///
    /// # Errors
    /// The program cannot be run, or not so, or all is to stop.
    pub fn start(&self, command: &[String], launch: &Launch) -> Result<Process, ProcessError> {
        let (program, arguments) = command.split_first().expect("a command has a program");
        let mut running = self.lock();
        if running.interrupted {
            return Err(ProcessError::Interrupted);
        }
        let mut builder = Command::new(program);
        builder.args(arguments).process_group(0);
        builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        raise_open_files(&mut builder);
        launch.apply(&mut builder);
        // Last: what was set above can take root's rights.
        confine(&mut builder);
        let mut child = builder.spawn().map_err(|source| match launch.refused(&source) {
            Some(refused) => ProcessError::Knob(refused),
            None => ProcessError::Start { program: program.clone(), who: started_as(), source },
        })?;
        running.groups.push(child.id() as i32);
        drop(running);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let (sender, lines) = channel();
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let words = last_words.clone();
        std::thread::spawn(move || each_line(output, |line| sender.send(line).is_ok()));
        let (reading, errors_read) = channel();
        std::thread::spawn(move || {
            let _reading: Sender<()> = reading;
            each_line(errors, |line| {
                let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
                words.push_back(line);
                if words.len() > LAST_WORDS_MAX {
                    words.pop_front();
                }
                true
            });
        });
        Ok(Process { child, lines, last_words, errors_read, all: self.clone() })
    }

    /// Tells every process to stop: politely the first time, for good the second. Nothing starts afterwards.
    pub fn interrupt(&self) {
        let mut running = self.lock();
        let signal = if running.interrupted { Signal::KILL } else { Signal::TERM };
        running.interrupted = true;
        running.groups.iter().for_each(|&group| signal_group(group, signal));
    }

    /// Whether [`Processes::interrupt`] was called.
    pub fn interrupted(&self) -> bool {
        self.lock().interrupted
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its next line until `deadline`.
    pub fn line(&self, deadline: Instant) -> Line {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(text) => Line::Text(text),
            Err(RecvTimeoutError::Disconnected) => Line::End,
            Err(RecvTimeoutError::Timeout) => Line::Late,
        }
    }

    /// Hands its lines to `to` from now on, each with `tag`; `None` is their end.
    pub fn lines_into(&mut self, tag: usize, to: Sender<(usize, Option<String>)>) {
        let lines = std::mem::replace(&mut self.lines, channel().1);
        std::thread::spawn(move || {
            // Whoever does not listen any more needs no line.
            lines.iter().for_each(|line| drop(to.send((tag, Some(line)))));
            drop(to.send((tag, None)));
        });
    }

    /// Ends its standard input.
    pub fn say_no_more(&mut self) {
        self.child.stdin = None;
    }

    /// Writes a line to its standard input. Whoever does not read any more will show it otherwise.
    pub fn say(&mut self, line: &str) {
        if let Some(input) = &mut self.child.stdin {
            let _ = say(input, line);
        }
    }

    /// How it ended; `None` if it still runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The last lines of its standard error.
    pub fn last_words(&self) -> String {
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        words.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// The last lines of its standard error, once its output is closed.
    pub fn last_words_at_end(&mut self) -> String {
        self.ended_soon();
        self.last_words()
    }

    /// How it ended, with all its words read. Its output is closed: there is next to nothing to wait for.
    pub(crate) fn ended_soon(&mut self) -> Option<ExitStatus> {
        let status = self.ended_within(STOP_PATIENCE);
        // A child that it left behind can hold standard error open.
        let _ = self.errors_read.recv_timeout(STOP_PATIENCE);
        status
    }

    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let pid = rustix_pid(&self.child)?;
        let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?;
        ends_within(&handle, patience);
        self.ended()
    }

    fn stop(&mut self) {
        let group = self.child.id() as i32;
        if self.ended().is_none() {
            signal_group(group, Signal::TERM);
            // A stopped process must run to end.
            signal_group(group, Signal::CONT);
            self.ended_within(STOP_PATIENCE);
        }
        // Also for children that it left behind.
        signal_group(group, Signal::KILL);
        let _ = self.child.wait();
        self.all.lock().groups.retain(|&other| other != group);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How a process ended, in words.
pub(crate) fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("killed by {name}"),
            None => format!("killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

fn say(input: &mut ChildStdin, line: &str) -> std::io::Result<()> {
    writeln!(input, "{line}")?;
    input.flush()
}

fn each_line(stream: Option<impl Read>, mut take: impl FnMut(String) -> bool) {
    let Some(stream) = stream else { return };
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Some(Ok(line)) = lines.next() {
        let _ = take(String::from_utf8_lossy(&line).trim_end().to_owned());
    }
}

fn signal_group(group: i32, signal: Signal) {
    // A group that is gone needs no signal.
    let _ = Pid::from_raw(group).map(|group| kill_process_group(group, signal));
}

/// Whether the process behind `handle` ends in time.
fn ends_within(handle: &impl AsFd, patience: Duration) -> bool {
    let mut waiting = [rustix::event::PollFd::new(handle, rustix::event::PollFlags::IN)];
    let timeout = rustix::event::Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: 0 };
    rustix::event::poll(&mut waiting, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// As whom programs are started, for a message: that user must be able to reach and execute them.
fn started_as() -> String {
    invoker().map_or_else(String::new, |invoker| {
        let name = invoker.name.clone().unwrap_or_else(|| invoker.uid.to_string());
        format!(" as {name}, who called sudo")
    })
}

fn rustix_pid(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(child.id() as i32)
}

/// Lets it open as many files as it may: a connection is one, and not every server asks by itself. Some make a table of so
/// many, so there is an end to it.
#[allow(unsafe_code)]
fn raise_open_files(command: &mut Command) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.unwrap_or(OPEN_FILES_MAX).min(OPEN_FILES_MAX));
    // SAFETY: one system call on numbers.
    unsafe {
        before_exec(command, move || Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Process {
        let command = ["sh", "-c", script].map(str::to_owned);
        Processes::default().start(&command, &Launch::default()).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn lines_and_last_words_and_the_end_are_told() {
        let mut process = sh("read name; echo hello $name; echo oh >&2; exit 3");
        process.say("ann");
        assert_eq!(process.line(soon()), Line::Text("hello ann".into()));
        assert_eq!(process.line(soon()), Line::End);
        // Its standard error is read by another thread, which this waits for.
        assert_eq!(process.ended_soon().map(in_words), Some("exit status 3".into()));
        assert_eq!(process.last_words(), "oh");
    }

    #[test]
    fn a_dropped_process_takes_its_children_with_it() {
        let process = sh("trap '' TERM; sleep 1000 & echo $!; wait");
        let Line::Text(child) = process.line(soon()) else { panic!("no line") };
        let child: i32 = child.parse().unwrap();
        let child = rustix::process::Pid::from_raw(child).unwrap();
        let handle = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).unwrap();
        drop(process);
        // A killed process needs a moment on a CPU to be gone.
        assert!(ends_within(&handle, STOP_PATIENCE));
    }

    #[test]
    fn an_interrupt_reaches_every_process_and_lets_none_start() {
        let all = Processes::default();
        let command = ["sleep", "1000"].map(str::to_owned);
        let process = all.start(&command, &Launch::default()).unwrap();
        all.interrupt();
        assert_eq!(process.line(soon()), Line::End);
        assert!(matches!(all.start(&command, &Launch::default()), Err(ProcessError::Interrupted)));
    }

    #[test]
    fn what_is_not_there_cannot_start() {
        let command = ["/nowhere/server".to_owned()];
        let error = Processes::default().start(&command, &Launch::default()).err().unwrap().to_string();
        assert_eq!(error, "cannot start /nowhere/server: No such file or directory (os error 2)");
    }
}
