//! strace, attached to a process for a while.

use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::NamedTempFile;

use crate::finding::{Checked, Trouble, not_checked};

/// The calls that put bytes into a connection.
const CALLS: &str = "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg";
/// Every tenth call of a thread takes 30 ms longer: deliveries wait meanwhile, and whoever would put them together does.
const DELAY: &str = "delay_exit=30000:when=1+10";
/// More than one write can carry here: data has to be told whole.
const DATA_MAX: &str = "1048576";

/// A strace that watches the writes of a process. Dropping it ends it; the process goes on.
pub(super) struct Strace {
    child: Child,
    log: NamedTempFile,
    /// What it says itself, line by line, until it ends.
    words: Receiver<String>,
}

impl Strace {
    /// Starts it, and waits until it watches every thread that the process has.
    pub(super) fn attach(pid: u32, until: Instant) -> Checked<Strace> {
        let log = NamedTempFile::new()
            .map_err(|error| Trouble::NotChecked(format!("no file for strace: {error}")))?;
        let spawned = Command::new("strace")
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
        let (tell, words) = channel();
        // It ends with strace, which closes the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let strace = Strace { child, log, words };
        strace.wait_until_attached(pid, until)?;
        Ok(strace)
    }

    fn wait_until_attached(&self, pid: u32, until: Instant) -> Checked<()> {
        let mut said = String::new();
        loop {
            match self.words.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(" attached") => return Ok(()),
                Ok(line) => said = line,
                Err(why) => {
                    let how = if why == RecvTimeoutError::Timeout { "is not ready" } else { "may not watch" };
                    return not_checked(format!(
                        "strace {how} process {pid} ({said}); run as root, or set kernel.yama.ptrace_scope=0"
                    ));
                }
            }
        }
    }

    /// Lets the process go, and returns the log of its calls.
    pub(super) fn stop(mut self, until: Instant) -> Checked<String> {
        self.signal(Signal::INT);
        // It tells of every thread that it lets go; then it ends.
        let end = loop {
            match self.words.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(end) => break end,
            }
        };
        if end == RecvTimeoutError::Timeout {
            return not_checked("strace does not end");
        }
        let _ = self.child.wait();
        let log = std::fs::read_to_string(self.log.path());
        log.map_err(|error| Trouble::NotChecked(format!("the log of strace cannot be read: {error}")))
    }

    fn signal(&self, signal: Signal) {
        // Fails only if it has ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // It lets the process go first.
            self.signal(Signal::TERM);
            let _ = self.child.wait();
        }
    }
}
