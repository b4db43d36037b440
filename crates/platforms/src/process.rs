//! Child processes. Each leads its own process group, none outlives Klatch, and a signal handler's thread can stop all at once.

use std::any::Any;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use klatch_host::privileges::{Program, invoker};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, kill_process_group, setrlimit, waitid,
};
use thiserror::Error;

use crate::launch::Launch;
use crate::setting::KnobError;

/// Number of lines of a stream that are kept for error messages.
const TAIL_LINES_MAX: usize = 8;
/// Bytes of lines of standard output that wait to be taken. A server that logs faster than anybody reads would fill the memory.
const WAITING_BYTES_MAX: usize = 128 << 20;
/// Bytes at which a line of standard output is cut. The result of a crowd is one line, of some MB where it has many latencies.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Bytes at which a line of standard error is cut.
const ERROR_LINE_BYTES_MAX: u64 = 64 << 10;
/// Upper limit of open files for a child.
const OPEN_FILES_MAX: u64 = 1 << 20;
/// The bit of a wait status that means that a core was dumped.
const CORE_DUMPED: i32 = 0x80;
/// How often a command in progress looks for an interrupt.
const INTERRUPT_PERIOD: Duration = Duration::from_millis(100);
/// Longest time for a process to stop after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// All running child processes.
#[derive(Clone, Default)]
pub struct Processes {
    running: Arc<Mutex<Running>>,
    /// Shows what takes long before a process is ready.
    show: Option<Arc<ShowWork>>,
}

/// Shows work until what it returns is dropped.
type ShowWork = dyn Fn(&str) -> Box<dyn Any> + Send + Sync;

#[derive(Default)]
struct Running {
    /// Each is the id of its leader, whom nobody has waited for: the kernel gives that id to no other process or group.
    groups: Vec<Pid>,
    interrupted: bool,
}

/// A running child process. Dropping it stops it and its process group.
pub struct Process {
    /// Waited for only when its group has had its last signal. Until then its id, which is that of the group, stays its own.
    child: Child,
    group: Pid,
    lines: Receiver<String>,
    output: Arc<Output>,
    stderr_tail: Arc<Tail>,
    /// Closed when standard error has been read to its end.
    errors_read: Receiver<()>,
    all: Processes,
}

/// What is shared with the thread that reads standard output.
#[derive(Default)]
struct Output {
    /// Bytes of the lines that were read and that nobody has taken.
    waiting_bytes: AtomicUsize,
    /// Nobody takes lines any more.
    discards: AtomicBool,
    tail: Tail,
}

/// The last lines of a stream, for error messages.
#[derive(Default)]
struct Tail(Mutex<VecDeque<String>>);

impl Tail {
    /// Adds a line, without its colours, and without what is beyond [`ERROR_LINE_BYTES_MAX`].
    fn push(&self, line: String) {
        let mut line = without_colours(&line);
        let mut cut = line.len().min(ERROR_LINE_BYTES_MAX as usize);
        while !line.is_char_boundary(cut) {
            cut -= 1;
        }
        line.truncate(cut);
        line.shrink_to_fit();
        if line.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(line);
        if lines.len() > TAIL_LINES_MAX {
            lines.pop_front();
        }
    }

    fn text(&self, separator: &str) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter_map(|line| without_usage(line)).collect::<Vec<_>>().join(separator)
    }
}

/// A line without the sequences that set colours. Others stay, and are printed as what they are: a program that clears the screen of who
/// measures it is to be seen.
fn without_colours(line: &str) -> String {
    const START: &str = "\u{1b}[";
    let (mut text, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(START) {
        let (before, sequence) = rest.split_at(at);
        let parameters = &sequence[START.len()..];
        let after = parameters.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        text.push_str(before);
        rest = match after.strip_prefix('m') {
            Some(after) => after,
            None => {
                text.push_str(START);
                parameters
            }
        };
    }
    text + rest
}

/// A line of an error without how the program is called, which says nothing to somebody who did not call it. `None` if nothing is left.
fn without_usage(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let is_usage =
        ["Usage:", "For more information, try", "  tip:"].iter().any(|start| line.starts_with(start));
    let text = ["error: ", "klatch: "].iter().find_map(|start| line.strip_prefix(start)).unwrap_or(line);
    (!is_usage && !text.is_empty()).then_some(text.strip_suffix("; try --help").unwrap_or(text))
}

impl Output {
    /// Passes a line on. What is beyond the limits goes to the tail, of which only the end is kept.
    fn pass_on(&self, line: String, sender: &Sender<String>) {
        let (bytes, before) = (line.len(), self.waiting_bytes.load(Ordering::Relaxed));
        if self.discards.load(Ordering::Relaxed) || (before > 0 && before + bytes > WAITING_BYTES_MAX) {
            return self.tail.push(line);
        }
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        if let Err(SendError(line)) = sender.send(line) {
            self.taken(bytes);
            self.tail.push(line);
        }
    }

    fn taken(&self, bytes: usize) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes at which a line is cut now.
    fn line_bytes_max(&self) -> u64 {
        if self.discards.load(Ordering::Relaxed) { ERROR_LINE_BYTES_MAX } else { LINE_BYTES_MAX }
    }
}

/// The outcome of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line of standard output, without its line end.
    Text(String),
    /// The process has closed its standard output or ended.
    End,
    /// The deadline has passed.
    Late,
}

/// A process that cannot be started.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// The program cannot be executed.
    #[error("cannot start {program}{as_user}: {source}")]
    Start {
        /// Path or name of the program.
        program: String,
        /// ` as NAME…` if another user executes it, else empty.
        as_user: String,
        /// The error of the system call.
        source: std::io::Error,
    },
    /// A process setting was refused.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// The user has interrupted Klatch.
    #[error("interrupted")]
    Interrupted,
}

impl Processes {
    /// The same with a display of work that may take long, such as "building go-pgx". What `show` returns is dropped when the work ends.
    pub fn showing(show: impl Fn(&str) -> Box<dyn Any> + Send + Sync + 'static) -> Processes {
        Processes { show: Some(Arc::new(show)), ..Processes::default() }
    }

    /// Shows work that may take long, until the result is dropped.
    pub fn show(&self, work: &str) -> Option<Box<dyn Any>> {
        self.show.as_ref().map(|show| show(work))
    }

    /// Starts `command` (program and arguments) with the settings of `launch`.
    ///
    /// # Errors
    /// The program cannot be executed, a setting is refused, or the user has interrupted Klatch.
    pub fn start(&self, command: &[String], launch: &Launch) -> Result<Process, ProcessError> {
        self.start_in(None, command, launch)
    }

    /// The same with this working folder, or that of Klatch.
    pub(crate) fn start_in(
        &self,
        folder: Option<&Path>,
        command: &[String],
        launch: &Launch,
    ) -> Result<Process, ProcessError> {
        let (program, arguments) = command.split_first().expect("a command has a program");
        let mut running = self.lock();
        if running.interrupted {
            return Err(ProcessError::Interrupted);
        }
        let mut builder = Program::new(program);
        builder.args(arguments).lead_group();
        if let Some(folder) = folder {
            builder.current_dir(folder);
        }
        builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        set_limits(&mut builder);
        launch.apply(&mut builder);
        let mut child = builder.spawn().map_err(|source| match launch.refused(&source) {
            Some(refused) => ProcessError::Knob(refused),
            None => {
                let as_user = launch.user().map_or_else(other_user, |user| format!(" as {user}"));
                ProcessError::Start { program: program.clone(), as_user, source }
            }
        })?;
        let group = Pid::from_child(&child);
        running.groups.push(group);
        drop(running);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (sender, lines) = channel();
        let (output, stderr_tail) = (Arc::new(Output::default()), Arc::new(Tail::default()));
        let passing = output.clone();
        std::thread::spawn(move || {
            each_line(stdout, || passing.line_bytes_max(), |line| passing.pass_on(line, &sender));
        });
        let (tail, (reading, errors_read)) = (stderr_tail.clone(), channel());
        std::thread::spawn(move || {
            let _reading: Sender<()> = reading;
            each_line(stderr, || ERROR_LINE_BYTES_MAX, |line| tail.push(line));
        });
        Ok(Process { child, group, lines, output, stderr_tail, errors_read, all: self.clone() })
    }

    /// Stops every process with SIGTERM, and with SIGKILL when called again. No process starts afterwards.
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
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// The user has interrupted Klatch.
    Interrupted,
    /// The reason in words.
    Failed(String),
}

impl Processes {
    /// Runs a command in this folder to its end, for up to `timeout`, and stops it at once when Klatch is interrupted. `name` is what it is
    /// for, and is shown.
    ///
    /// # Errors
    /// It does not succeed in time.
    pub(crate) fn run(
        &self,
        name: &str,
        command: &[String],
        folder: &Path,
        timeout: Duration,
    ) -> Result<(), CommandFailure> {
        let failed = |reason: String| Err(CommandFailure::Failed(reason));
        let began = Instant::now();
        let mut process = match self.start_in(Some(folder), command, &Launch::default()) {
            Ok(process) => process,
            Err(ProcessError::Interrupted) => return Err(CommandFailure::Interrupted),
            Err(error) => return failed(format!("did not run: {error}")),
        };
        process.close_stdin();
        let _shown = self.show(name);
        let deadline = began + timeout;
        loop {
            match process.line(Instant::now() + INTERRUPT_PERIOD) {
                Line::Text(line) => process.keep(line),
                Line::End => break,
                Line::Late => {}
            }
            let now = Instant::now();
            if self.interrupted() || now >= deadline {
                // What it has made so far is removed, so it need not end in good order.
                signal_group(process.group, Signal::KILL);
                break;
            }
        }
        let status = process.wait_for_exit();
        match status {
            _ if self.interrupted() => Err(CommandFailure::Interrupted),
            Some(status) if status.success() => Ok(()),
            _ if Instant::now() >= deadline => failed(format!("had not ended after {} s", timeout.as_secs())),
            Some(status) => {
                failed(format!("failed ({}):\n{}", describe_status(status), process.last_lines()))
            }
            None => failed("closed its output and did not end".to_owned()),
        }
    }
}

impl Process {
    /// Process id, which is also that of its process group.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next line of standard output until `deadline`.
    pub fn line(&self, deadline: Instant) -> Line {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(text) => {
                self.output.taken(text.len());
                Line::Text(text)
            }
            Err(RecvTimeoutError::Disconnected) => Line::End,
            Err(RecvTimeoutError::Timeout) => Line::Late,
        }
    }

    /// Forwards all further lines to `sender` with `tag`. `None` marks the end of output.
    pub fn forward_lines(&mut self, tag: usize, sender: Sender<(usize, Option<String>)>) {
        let lines = std::mem::replace(&mut self.lines, channel().1);
        let output = self.output.clone();
        std::thread::spawn(move || {
            for line in &lines {
                output.taken(line.len());
                // The receiver may be gone already.
                drop(sender.send((tag, Some(line))));
            }
            drop(sender.send((tag, None)));
        });
    }

    /// Discards all further lines but the last ones: a server that logs to standard output would fill the memory of this process.
    pub fn discard_lines(&mut self) {
        self.output.discards.store(true, Ordering::Relaxed);
        self.lines = channel().1;
    }

    /// Keeps a line that was taken, if it is among the last ones, for error messages.
    pub fn keep(&self, line: String) {
        self.output.tail.push(line);
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    /// Writes a line to its standard input. An error shows when the process ends.
    pub fn send_line(&mut self, line: &str) {
        if let Some(input) = &mut self.child.stdin {
            let _ = write_line(input, line);
        }
    }

    /// Its exit status; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        // It stays a zombie, so that its group's id stays taken.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(self.group), options).ok()??;
        let signal =
            ended.terminating_signal().map(|signal| signal | if ended.dumped() { CORE_DUMPED } else { 0 });
        Some(ExitStatus::from_raw(signal.or(ended.exit_status().map(|code| code << 8))?))
    }

    /// The last lines of its standard error so far.
    pub fn stderr_tail(&self) -> String {
        self.stderr_tail.text("; ")
    }

    /// The last lines of its standard error, or else of its standard output, each on a line of its own.
    pub(crate) fn last_lines(&self) -> String {
        let errors = self.stderr_tail.text("\n");
        if errors.is_empty() { self.output.tail.text("\n") } else { errors }
    }

    /// What it has said last, for messages: its standard error, and if that is empty, its standard output.
    pub fn last_words(&self) -> String {
        let (errors, output) = (self.stderr_tail(), self.output.tail.text("; "));
        match (errors.is_empty(), output.is_empty()) {
            (false, _) => errors,
            (true, true) => "nothing".to_owned(),
            (true, false) => format!("nothing; standard output: {output}"),
        }
    }

    /// The last lines of its standard error. Call it after the end of output: it waits for the process to exit.
    pub fn final_stderr_tail(&mut self) -> String {
        self.wait_for_exit();
        self.stderr_tail()
    }

    /// Waits briefly for the exit status and the end of standard error. Its output is closed, so it exits soon.
    pub fn wait_for_exit(&mut self) -> Option<ExitStatus> {
        let status = self.exits_within(STOP_TIMEOUT);
        // A child that it left behind may keep standard error open.
        let _ = self.errors_read.recv_timeout(STOP_TIMEOUT);
        status
    }

    fn exits_within(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let handle = rustix::process::pidfd_open(self.group, rustix::process::PidfdFlags::empty()).ok()?;
        is_readable_within(&handle, timeout);
        self.ended()
    }

    /// Asks it to end, and waits for it up to `timeout`, where dropping it waits for 5 s. Returns its status, or `None` if it is late.
    pub(crate) fn end_within(&mut self, timeout: Duration) -> Option<ExitStatus> {
        signal_group(self.group, Signal::TERM);
        // A suspended process must run to handle SIGTERM.
        signal_group(self.group, Signal::CONT);
        self.exits_within(timeout)
    }

    /// Asks it to end, kills what is left of its process group after 5 s, and waits for its end.
    pub fn stop(&mut self) {
        if self.ended().is_none() {
            self.end_within(STOP_TIMEOUT);
        }
        // The group may still contain children of the process.
        signal_group(self.group, Signal::KILL);
        // First no thread signals the group any more, then its id may become another's.
        self.all.lock().groups.retain(|&other| other != self.group);
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Describes an exit status for messages.
pub fn describe_status(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("killed by {name}"),
            None => format!("killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

fn write_line(input: &mut ChildStdin, line: &str) -> std::io::Result<()> {
    writeln!(input, "{line}")?;
    input.flush()
}

/// Reads a stream to its end. A line without end is passed on in pieces of `bytes_max`.
fn each_line(stream: Option<impl Read>, bytes_max: impl Fn() -> u64, mut handle: impl FnMut(String)) {
    let Some(stream) = stream else { return };
    let (mut stream, mut line) = (BufReader::new(stream), Vec::new());
    while matches!(stream.by_ref().take(bytes_max()).read_until(b'\n', &mut line), Ok(1..)) {
        handle(String::from_utf8_lossy(&line).trim_end().to_owned());
        line.clear();
    }
}

/// Signals a group whose leader has not been waited for: later its id could be that of another group.
fn signal_group(group: Pid, signal: Signal) {
    // Fails only if the group has ended.
    let _ = kill_process_group(group, signal);
}

/// Whether `handle`, a pidfd, becomes readable in time: the process has ended.
fn is_readable_within(handle: &impl AsFd, timeout: Duration) -> bool {
    let mut waiting = [rustix::event::PollFd::new(handle, rustix::event::PollFlags::IN)];
    let timeout =
        rustix::event::Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
    rustix::event::poll(&mut waiting, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Names the user who executes programs, if it is another one: that user must be able to reach the program.
fn other_user() -> String {
    invoker().map_or_else(String::new, |invoker| {
        let name = invoker.name.clone().unwrap_or_else(|| invoker.uid.to_string());
        format!(" as {name}, who called sudo")
    })
}

/// Sets the limits of a process that is started. The limit of open files is raised, each connection is one and not every server raises it; it is capped, because some
/// programs allocate a table of that size. A server that crashes leaves no core dump in the folder of the user.
#[allow(unsafe_code)]
fn set_limits(program: &mut Program) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.unwrap_or(OPEN_FILES_MAX).min(OPEN_FILES_MAX));
    let no_core = Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum };
    // SAFETY: the closure makes two system calls with numbers.
    unsafe {
        program.before_exec(move || {
            setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
            Ok(setrlimit(Resource::Core, no_core)?)
        });
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
    fn lines_stderr_tail_and_exit_status_are_reported() {
        let mut process = sh("read name; echo hello $name; printf '\\033[34moh\\033[0m\\n' >&2; exit 3");
        process.send_line("ann");
        assert_eq!(process.line(soon()), Line::Text("hello ann".into()));
        assert_eq!(process.line(soon()), Line::End);
        // Another thread reads standard error; this waits for it.
        assert_eq!(process.wait_for_exit().map(describe_status), Some("exit status 3".into()));
        assert_eq!(process.stderr_tail(), "oh", "without its colour");
    }

    #[test]
    fn only_colours_are_taken_from_what_a_program_says() {
        assert_eq!(
            without_colours("\u{1b}[0m\u{1b}[38;5;9mred\u{1b}[m\u{1b}[2J \u{1b}[3"),
            "red\u{1b}[2J \u{1b}[3"
        );
        assert_eq!(without_colours("plain"), "plain");
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (mut lines, endless) = (Vec::new(), [&b"x".repeat(25)[..], b"\n\nend"].concat());
        each_line(Some(&endless[..]), || 10, |line| lines.push(line));
        assert_eq!(lines, ["xxxxxxxxxx", "xxxxxxxxxx", "xxxxx", "", "end"]);
    }

    /// A process whose output nobody read would wait at a full pipe.
    #[test]
    fn discarded_lines_are_read() {
        let mut process = sh("echo ready; head -c 1000000 /dev/zero | tr '\\0' '\\n'; exit 5");
        assert_eq!(process.line(soon()), Line::Text("ready".into()));
        process.discard_lines();
        assert_eq!(process.exits_within(STOP_TIMEOUT).map(describe_status), Some("exit status 5".into()));
        assert_eq!(process.line(soon()), Line::End);
    }

    #[test]
    fn what_nobody_takes_is_bounded_by_bytes_and_its_end_is_kept() {
        let (output, (sender, lines)) = (Output::default(), channel());
        let long = || "x".repeat(WAITING_BYTES_MAX / 4);
        for number in 0..9 {
            output.pass_on(format!("{number}{}", long()), &sender);
        }
        let waiting = output.waiting_bytes.load(Ordering::Relaxed);
        assert!(waiting <= WAITING_BYTES_MAX && lines.try_iter().count() == 3, "{waiting} bytes wait");
        let tail = output.tail.text("\n");
        assert!(tail.lines().count() == 6 && tail.lines().last().unwrap().starts_with('8'));
        assert!(tail.len() <= TAIL_LINES_MAX * (1 + ERROR_LINE_BYTES_MAX as usize));
        output.waiting_bytes.store(0, Ordering::Relaxed);
        // One line that is longer than the limit is still a line, such as the result of a crowd.
        output.pass_on("y".repeat(WAITING_BYTES_MAX + 1), &sender);
        assert_eq!(lines.try_iter().count(), 1);
    }

    /// A server that writes its log to standard output says there why it ended.
    #[test]
    fn the_last_words_are_those_of_standard_output_if_there_is_no_other() {
        let mut process = sh("echo ready; echo one; echo two");
        assert_eq!(process.line(soon()), Line::Text("ready".into()));
        while let Line::Text(line) = process.line(soon()) {
            process.keep(line);
        }
        process.wait_for_exit();
        assert_eq!(process.last_words(), "nothing; standard output: one; two");
    }

    #[test]
    fn dropping_a_process_kills_its_children() {
        let process = sh("trap '' TERM; sleep 1000 & echo $!; wait");
        let Line::Text(child) = process.line(soon()) else { panic!("no line") };
        let child: i32 = child.parse().unwrap();
        let child = rustix::process::Pid::from_raw(child).unwrap();
        let handle = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).unwrap();
        drop(process);
        // A killed process ends only after it has had a CPU.
        assert!(is_readable_within(&handle, STOP_TIMEOUT));
    }

    /// State of a process in /proc: `R`, `S`, `Z` for one that has ended and was not waited for; `None` if there is none.
    fn state(pid: Pid) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat", pid = pid.as_raw_nonzero())).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    }

    #[test]
    fn the_id_of_a_group_is_not_given_away_before_its_last_signal() {
        let mut process = sh("exit 3");
        let group = process.group;
        for _ in 0..2 {
            assert_eq!(process.wait_for_exit().map(describe_status), Some("exit status 3".into()));
            // An interrupt would signal the group of this id now.
            assert_eq!((process.all.lock().groups.as_slice(), state(group)), (&[group][..], Some('Z')));
        }
        let all = process.all.clone();
        drop(process);
        assert_eq!((all.lock().groups.as_slice(), state(group)), (&[][..], None));
    }

    #[test]
    fn the_status_of_a_process_is_that_of_its_end() {
        for (script, how) in [
            ("kill -9 $$", "killed by SIGKILL"),
            ("kill -TERM $$", "killed by SIGTERM"),
            ("exit 255", "exit status 255"),
        ] {
            assert_eq!(sh(script).wait_for_exit().map(describe_status), Some(how.into()));
        }
    }

    #[test]
    fn a_process_that_crashes_leaves_no_core_dump() {
        let process = sh("ulimit -S -c");
        assert_eq!(process.line(soon()), Line::Text("0".into()));
    }

    #[test]
    fn an_interrupt_stops_every_process_and_starts_none() {
        let all = Processes::default();
        let command = ["sleep", "1000"].map(str::to_owned);
        let process = all.start(&command, &Launch::default()).unwrap();
        all.interrupt();
        assert_eq!(process.line(soon()), Line::End);
        assert!(matches!(all.start(&command, &Launch::default()), Err(ProcessError::Interrupted)));
    }

    #[test]
    fn a_command_is_shown_and_an_interrupt_ends_it_within_a_second() {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let taken = notes.clone();
        let all = Processes::showing(move |work| {
            taken.lock().unwrap().push(work.to_owned());
            Box::new(())
        });
        let here = tempfile::tempdir().unwrap();
        let run = |script: &str| {
            let command = ["sh", "-c", script].map(str::to_owned);
            all.run("building it", &command, here.path(), Duration::from_secs(60))
        };
        assert!(run("pwd >made").is_ok() && here.path().join("made").is_file());
        assert!(
            matches!(run("echo so; echo no >&2; exit 3"), Err(CommandFailure::Failed(why)) if why == "failed (exit status 3):\nno")
        );
        assert_eq!(*notes.lock().unwrap(), ["building it"; 2]);
        let stopper = all.clone();
        // As a build does: a child that SIGTERM does not end, and one more that holds the output open.
        let ready = here.path().join("ready");
        let interrupter = std::thread::spawn(move || {
            while !ready.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            stopper.interrupt();
            Instant::now()
        });
        assert!(matches!(
            run("trap '' TERM; sleep 1000 & : >ready; wait; sleep 1000"),
            Err(CommandFailure::Interrupted)
        ));
        let ended = interrupter.join().unwrap().elapsed();
        assert!(ended < Duration::from_secs(1), "{ended:?}");
        assert!(matches!(run("true"), Err(CommandFailure::Interrupted)));
    }

    #[test]
    fn a_missing_program_cannot_start() {
        let command = ["/nowhere/server".to_owned()];
        let error = Processes::default().start(&command, &Launch::default()).err().unwrap().to_string();
        assert_eq!(error, "cannot start /nowhere/server: No such file or directory (os error 2)");
    }

    #[test]
    fn a_missing_program_is_not_blamed_on_a_knob() {
        let launch = Launch::new(&["nice=1".parse().unwrap()]).unwrap();
        let command = ["/nowhere/server".to_owned()];
        let error = Processes::default().start(&command, &launch).err().unwrap().to_string();
        assert_eq!(error, "cannot start /nowhere/server: No such file or directory (os error 2)");
    }

    #[test]
    fn settings_apply_to_a_started_process() {
        let launch = Launch::new(&["nice=1".parse().unwrap()]).unwrap();
        let process = Processes::default().start(&["cat".to_owned()], &launch).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
        assert_eq!(stat.rsplit(')').next().unwrap().split_whitespace().nth(16), Some("1"));
    }
}
