//! Stops a machine after its boot, and moves its state to a file or to another machine.

use std::fs::File;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, mknodat, open};
use serde_json::json;

use crate::boot_settings::Boot;
use crate::error::LabError;
use crate::machine::{LOOK, Machine, Origin, Watch};
use crate::monitor::Monitor;

/// Exit status of QEMU if the machine was not stopped at the mark (`went_on` in `stop.c`).
const WENT_ON: i32 = 75;
/// Boots after which a machine that goes on is an error.
const BOOTS_MAX: u32 = 3;

/// A machine that has booted, and is stopped before it takes its job.
pub(crate) struct Stopped {
    machine: Machine,
    monitor: Monitor,
}

impl Stopped {
    /// Boots a machine from this root file system, and stops it.
    pub(crate) fn boot(boot: &Boot<'_>, image: &[u8], watch: &Watch<'_>) -> Result<Stopped, LabError> {
        for _ in 1..BOOTS_MAX {
            if let Some(stopped) = Stopped::try_boot(boot, image, watch)? {
                return Ok(stopped);
            }
        }
        let last = Stopped::try_boot(boot, image, watch)?;
        last.ok_or(LabError::NotStopped { boots: BOOTS_MAX })
    }

    /// The same; `None` if the machine went on, which the host's scheduler may cause.
    fn try_boot(boot: &Boot<'_>, image: &[u8], watch: &Watch<'_>) -> Result<Option<Stopped>, LabError> {
        let mut machine = Machine::start(boot, Origin::Image(image))?;
        let reached = machine.file("reached");
        while !reached.exists() {
            if let Some(status) = machine.look(watch)? {
                return Err(machine.without_answer(&status.to_string()));
            }
            watch.pause()?;
        }
        let stop = |machine: &mut Machine| {
            let mut monitor = Monitor::open(machine, watch)?;
            monitor.ask("stop", json!({}), machine, watch)?;
            Ok(monitor)
        };
        match stop(&mut machine) {
            Ok(monitor) => Ok(Some(Stopped { machine, monitor })),
            Err(error) => match machine.look(watch)?.and_then(|status| status.code()) {
                Some(WENT_ON) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Writes the state to a file that exists.
    ///
    /// # Errors
    /// The disk may be full.
    pub(crate) fn save(&mut self, to: &Path, watch: &Watch<'_>) -> Result<(), LabError> {
        // Its name needs no quotes for the shell, which QEMU starts.
        let link = self.machine.file("state");
        std::os::unix::fs::symlink(to, &link).map_err(|source| LabError::file("link", &link, source))?;
        self.send("exec:cat >state", watch)?;
        loop {
            let state = self.monitor.ask("query-migrate", json!({}), &mut self.machine, watch)?;
            match state["status"].as_str() {
                Some("completed") => return Ok(()),
                Some("failed" | "cancelled") => {
                    let said = std::fs::read_to_string(self.machine.file("errors")).unwrap_or_default();
                    let reason = said.lines().next().unwrap_or("QEMU does not say why").to_owned();
                    return Err(LabError::NotSaved { reason });
                }
                _ => watch.pause()?,
            }
        }
    }

    /// Sends the state through a pipe, and returns its end. This machine must live until the state has been read.
    pub(crate) fn send_through_pipe(&mut self, watch: &Watch<'_>) -> Result<File, LabError> {
        let path = self.machine.file("pipe");
        let failed = |source: rustix::io::Errno| LabError::file("open", &path, source.into());
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(failed)?;
        // So opened it needs no writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = open(&path, flags, Mode::empty()).map_err(failed)?;
        self.send("exec:cat >pipe", watch)?;
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
        while poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait)).map_err(failed)? == 0 {
            self.machine.look(watch)?;
        }
        fcntl_setfl(&pipe, fcntl_getfl(&pipe).map_err(failed)? - OFlags::NONBLOCK).map_err(failed)?;
        Ok(pipe.into())
    }

    fn send(&mut self, to: &str, watch: &Watch<'_>) -> Result<(), LabError> {
        // No limit: nothing runs meanwhile.
        let speed = json!({ "max-bandwidth": i64::MAX });
        self.monitor.ask("migrate-set-parameters", speed, &mut self.machine, watch)?;
        self.monitor.ask("migrate", json!({ "uri": to }), &mut self.machine, watch).map(drop)
    }
}
