//! The monitor of a running QEMU: commands and replies as lines of JSON (QMP).

use std::io::Write;
use std::process::{ChildStdin, ChildStdout};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::error::LabError;
use crate::machine::{LOOK, Machine, Watch};

/// The monitor of a machine.
pub(crate) struct Monitor {
    input: ChildStdin,
    output: ChildStdout,
    /// What was read, and is no whole line yet.
    read: Vec<u8>,
}

impl Monitor {
    /// Waits for the greeting of a machine's monitor and answers it, once for each machine.
    pub(crate) fn open(machine: &mut Machine, watch: &Watch<'_>) -> Result<Monitor, LabError> {
        let (input, output) = machine.monitor_streams();
        let mut monitor = Monitor { input, output, read: Vec::new() };
        monitor.line(machine, watch)?;
        monitor.ask("qmp_capabilities", json!({}), machine, watch)?;
        Ok(monitor)
    }

    /// Gives a command, and returns what QEMU replies.
    ///
    /// # Errors
    /// QEMU refused it or has ended, or the wait is over.
    pub(crate) fn ask(
        &mut self,
        command: &str,
        arguments: Value,
        machine: &mut Machine,
        watch: &Watch<'_>,
    ) -> Result<Value, LabError> {
        let line = format!("{}\n", json!({ "execute": command, "arguments": arguments }));
        // A machine that has ended says so when its reply is read.
        let _ = self.input.write_all(line.as_bytes());
        loop {
            let mut reply: Value = self.line(machine, watch)?;
            if let Some(error) = reply.get("error") {
                return Err(machine.without_answer(&format!("its monitor refuses {command}: {error}")));
            }
            // Other lines are events.
            if let Some(result) = reply.get_mut("return") {
                return Ok(result.take());
            }
        }
    }

    /// The next line.
    fn line(&mut self, machine: &mut Machine, watch: &Watch<'_>) -> Result<Value, LabError> {
        let qemu = machine.qemu();
        let failed = |source| LabError::File { what: "read from", path: qemu.into(), source };
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return serde_json::from_slice(&line).map_err(|error| failed(error.into()));
            }
            if let Some(status) = machine.look(watch)? {
                return Err(machine.without_answer(&status.to_string()));
            }
            let wait = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
            let mut fds = [PollFd::new(&self.output, PollFlags::IN)];
            match poll(&mut fds, Some(&wait)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(failed(error.into())),
            }
            let mut part = [0; 4096];
            let count = rustix::io::read(&self.output, &mut part).map_err(|error| failed(error.into()))?;
            if count == 0 {
                let status = machine.wait(watch)?;
                return Err(machine.without_answer(&status.to_string()));
            }
            self.read.extend_from_slice(&part[..count]);
        }
    }
}
