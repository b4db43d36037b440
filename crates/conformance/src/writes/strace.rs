//! Attaches strace to a process for a while.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use klatch_host::privileges::Program;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use crate::finding::{CheckError, Checked, not_checked};

/// The system calls that write to a connection.
const CALLS: &str = "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg";
/// Delays every tenth call of a thread by 30 ms. Deliveries queue meanwhile, and a server that combines them does so now.
const DELAY: &str = "delay_exit=30000:when=1+10";
/// More than one write can carry here, so strace logs all data.
const DATA_MAX: &str = "1048576";

/// An strace that traces the writes of a process. Dropping it detaches it; the process goes on.
pub(crate) struct Strace {
    child: Child,
    log: NamedTempFile,
    /// The lines of its standard error, until it ends.
    stderr: Receiver<String>,
}

impl Strace {
    /// Starts strace and waits until it has attached to every thread of the process.
    pub(crate) fn attach(pid: u32, until: Instant) -> Checked<Strace> {
        let log = NamedTempFile::new()
            .map_err(|error| CheckError::NotChecked(format!("no file for strace: {error}")))?;
        let spawned = Program::new("strace")
            .args(["-f", "-xx", "-s", DATA_MAX, "-e", "signal=none"])
            .args(["-e", &format!("trace={CALLS}"), "-e", &format!("inject={CALLS}:{DELAY}"), "-o"])
            .arg(log.path())
            .args(["-p", &pid.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return not_checked("write calls are counted with strace: apt-get install strace");
            }
            Err(error) => return not_checked(format!("strace cannot be started: {error}")),
        };
        let errors = child.stderr.take().expect("piped");
        let (sender, stderr) = channel();
        // This thread ends with strace, which closes the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let strace = Strace { child, log, stderr };
        strace.wait_until_attached(pid, until)?;
        Ok(strace)
    }

    fn wait_until_attached(&self, pid: u32, until: Instant) -> Checked<()> {
        let mut last_line = String::new();
        loop {
            match self.stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(" attached") => return Ok(()),
                Ok(line) => last_line = line,
                Err(end) => {
                    let how = if end == RecvTimeoutError::Timeout { "is not ready" } else { "may not trace" };
                    return not_checked(format!(
                        "strace {how} process {pid} ({last_line}); run as root without sudo, or set kernel.yama.ptrace_scope=0"
                    ));
                }
            }
        }
    }

    /// Detaches and returns the log of the calls.
    pub(crate) fn stop(mut self, until: Instant) -> Checked<String> {
        // It may ignore SIGINT, if Klatch was started so.
        self.signal(Signal::TERM);
        // strace reports every thread that it detaches from, and then ends.
        let end = loop {
            match self.stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(end) => break end,
            }
        };
        if end == RecvTimeoutError::Timeout {
            return not_checked("strace does not end");
        }
        let _ = self.child.wait();
        let log = std::fs::read_to_string(self.log.path());
        log.map_err(|error| CheckError::NotChecked(format!("the log of strace cannot be read: {error}")))
    }

    fn signal(&self, signal: Signal) {
        // Fails only if strace has ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // SIGTERM makes strace detach before it ends.
            self.signal(Signal::TERM);
            let _ = self.child.wait();
        }
    }
}
