//! The one way to start a program: with the rights of the invoking user, and no longer than Klatch lives.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::privileges::invoker::{Invoker, invoker};

/// A program to start. Under sudo it runs as the invoking user, with that user's groups and home. It is killed when the thread
/// that started it ends.
#[derive(Debug)]
pub struct Program {
    command: Command,
    confined: bool,
    keeps_rights: bool,
}

impl Program {
    /// A program by its path, or by its name in the search path.
    pub fn new(program: impl AsRef<OsStr>) -> Program {
        Program { command: Command::new(program), confined: false, keeps_rights: false }
    }

    /// Appends an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Program {
        self.command.arg(argument);
        self
    }

    /// Appends arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Program {
        self.command.args(arguments);
        self
    }

    /// Sets a variable of its environment. `HOME`, `USER` and `LOGNAME` are those of the invoking user under sudo.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Program {
        self.command.env(name, value);
        self
    }

    /// Sets its working folder.
    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Program {
        self.command.current_dir(folder);
        self
    }

    /// Sets its standard input.
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Program {
        self.command.stdin(stream);
        self
    }

    /// Sets its standard output.
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Program {
        self.command.stdout(stream);
        self
    }

    /// Sets its standard error.
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Program {
        self.command.stderr(stream);
        self
    }

    /// Makes it the leader of a process group of its own.
    pub fn lead_group(&mut self) -> &mut Program {
        self.command.process_group(0);
        self
    }

    /// Starts it with the rights of Klatch itself, also under sudo: for a program that does what only root can do. Look at it with
    /// [`program_for_root`](crate::privileges::program_for_root) before.
    pub fn keep_rights(&mut self) -> &mut Program {
        self.keeps_rights = true;
        self
    }

    /// Runs `work` in the child between fork and exec, with the rights of Klatch itself, after all work that was added earlier.
    ///
    /// # Safety
    ///
    /// The child is a copy of one thread of a process that may have had many. `work` must only make system calls that are safe
    /// after fork: it must not allocate, take a lock, panic, or use memory that another thread may have been changing.
    pub unsafe fn before_exec(
        &mut self,
        work: impl Fn() -> io::Result<()> + Send + Sync + 'static,
    ) -> &mut Program {
        // SAFETY: the caller promises what `pre_exec` asks for.
        unsafe { before_exec(&mut self.command, work) };
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.confined().spawn()
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.confined().status()
    }

    /// Starts it, waits for its end, and returns its output.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub fn output(&mut self) -> io::Result<Output> {
        self.confined().output()
    }

    /// The same for up to `timeout`, without standard input. After that the program is killed.
    ///
    /// # Errors
    /// The program cannot be executed; or it, or a process that it left behind, kept its output open for longer
    /// ([`ErrorKind::TimedOut`]).
    pub fn output_within(&mut self, timeout: Duration) -> io::Result<Output> {
        let deadline = Instant::now() + timeout;
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.spawn()?;
        let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
        let has_ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|handle| becomes_readable(&handle, deadline));
        if !matches!(has_ended, Ok(true)) {
            // It has not been waited for, so its id is still its own.
            let _ = child.kill();
        }
        let status = child.wait()?;
        let late = || {
            io::Error::new(ErrorKind::TimedOut, format!("it had not ended after {} s", timeout.as_secs_f64()))
        };
        if !has_ended? {
            return Err(late());
        }
        let left = || deadline.saturating_duration_since(Instant::now());
        match (stdout.recv_timeout(left()), stderr.recv_timeout(left())) {
            (Ok(stdout), Ok(stderr)) => Ok(Output { status, stdout, stderr }),
            _ => Err(late()),
        }
    }

    fn confined(&mut self) -> &mut Command {
        // Last, because work that was added earlier needs Klatch's own rights.
        if !std::mem::replace(&mut self.confined, true) {
            confine(&mut self.command, self.keeps_rights);
        }
        &mut self.command
    }
}

fn confine(command: &mut Command, keeps_rights: bool) {
    if !keeps_rights && let Some(invoker) = invoker() {
        act_as(command, invoker);
    }
    // After the change of user, which resets the signal.
    die_with_parent(command);
    end_on_request(command);
}

fn act_as(command: &mut Command, invoker: &'static Invoker) {
    match &invoker.home {
        Some(home) => command.env("HOME", home),
        None => command.env_remove("HOME"),
    };
    for variable in ["USER", "LOGNAME"] {
        command.env(variable, invoker.name.clone().unwrap_or_else(|| invoker.uid.to_string()));
    }
    let work = || {
        // Groups first and user last: each step needs rights that the next one gives up.
        // SAFETY: the list lives as long as the process, and its length is given.
        check(unsafe { libc::setgroups(invoker.groups.len(), invoker.groups.as_ptr()) })?;
        let (uid, gid) = (invoker.uid, invoker.gid);
        // SAFETY: the call takes only numbers.
        check(unsafe { libc::setresgid(gid, gid, gid) })?;
        // SAFETY: as above.
        check(unsafe { libc::setresuid(uid, uid, uid) })
    };
    // SAFETY: system calls on numbers and on a list that never changes.
    unsafe { before_exec(command, work) };
}

/// Makes the kernel kill the process when the calling thread ends, for whatever reason.
fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let work = move || {
        // SAFETY: the call takes only numbers.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
        // SAFETY: the call has no arguments.
        match unsafe { libc::getppid() }.cast_unsigned() == parent {
            true => Ok(()),
            // The parent ended before the request, so the kernel will send no signal.
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: two system calls on numbers.
    unsafe { before_exec(command, work) };
}

/// Lets SIGTERM end the process, also if Klatch was started with that signal ignored: it is how Klatch asks a program to end.
fn end_on_request(command: &mut Command) {
    let work = || {
        // SAFETY: the call takes a number and the default action, which is no function.
        let before = unsafe { libc::signal(libc::SIGTERM, libc::SIG_DFL) };
        if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: one system call on numbers.
    unsafe { before_exec(command, work) };
}

/// # Safety
///
/// As [`Program::before_exec`].
unsafe fn before_exec(command: &mut Command, work: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the caller promises what `pre_exec` asks for.
    unsafe {
        command.pre_exec(work);
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads a stream to its end on a thread of its own, and sends all of it.
fn read_all(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, all) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is all that there is.
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        let _ = sender.send(bytes);
    });
    all
}

/// Waits until a descriptor is readable; false after the deadline.
fn becomes_readable(handle: &impl std::os::fd::AsFd, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_child_without_its_parent_does_not_start() {
        let mut command = Command::new("true");
        die_with_parent(&mut command);
        // The fork spawns the program, so its parent is another process, as if the expected parent had died.
        // SAFETY: fork in a test of one thread's work; the child makes system calls and execs or exits.
        match unsafe { libc::fork() } {
            0 => {
                let refused = command.spawn().is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
                // SAFETY: ends the copy without running the test harness's exit handlers.
                unsafe { libc::_exit(if refused { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: the kernel writes only `status`.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
            }
        }
    }

    #[test]
    fn a_program_that_ends_in_time_returns_its_output() {
        let mut program = Program::new("sh");
        program.args(["-c", "cat; head -c 100000 /dev/zero; echo oh >&2; exit 3"]);
        let output = program.output_within(LONG).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 100_000));
        assert_eq!(output.stderr, b"oh\n");
    }

    #[test]
    fn a_program_that_does_not_end_in_time_is_killed() {
        let mut program = Program::new("sleep");
        let error = program.arg("1000").output_within(Duration::from_millis(100)).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::TimedOut, "it had not ended after 0.1 s".into())
        );
    }

    #[test]
    fn a_process_left_behind_does_not_keep_the_caller() {
        let started = Instant::now();
        // Another process keeps standard output open.
        let mut program = Program::new("sh");
        let error = program.args(["-c", "sleep 3 & echo $!"]).output_within(Duration::from_millis(300));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(started.elapsed() < LONG);
    }
}
