//! Boots an emulated machine: QEMU without hardware virtualization, with a clock that counts instructions.
//!
//! With `-icount shift=0` one nanosecond of the machine is one of its instructions, whatever the load of the host. The
//! machine's CPUs take turns and share that clock.
//!
//! A machine boots until it would take its job, and is stopped there. Another one goes on from its state, with the job. So equal machines
//! boot once, and what they answer does not depend on whether they did.

use std::fs::File;

use serde_json::json;

use crate::boot_settings::{Boot, Snapshots};
use crate::error::LabError;
use crate::job::{Answer, END};
use crate::machine::{Machine, Origin, Watch};
use crate::monitor::Monitor;
use crate::programs::require_qemu;
use crate::snapshot::Stopped;
use crate::snapshots::{Kept, key};

/// The state of a machine that has booted.
struct Booted {
    state: File,
    /// The machine that sends it, if it is no file on disk.
    _sender: Option<Stopped>,
}

/// Boots the machine or one like it, waits for its end, and returns its answer.
///
/// # Errors
/// See [`LabError`].
pub fn boot(boot: &Boot<'_>) -> Result<Answer, LabError> {
    check(boot)?;
    let watch = Watch::new(boot);
    let booted = booted(boot, &watch)?;
    let mut machine = Machine::start(boot, Origin::Snapshot(&booted.state))?;
    let mut monitor = Monitor::open(&mut machine, &watch)?;
    while monitor.ask("query-status", json!({}), &mut machine, &watch)?["status"] == "inmigrate" {
        watch.pause()?;
    }
    drop(booted);
    monitor.ask("cont", json!({}), &mut machine, &watch)?;
    let ended = machine.wait(&watch);
    if let Err(LabError::Interrupted) = ended {
        return Err(LabError::Interrupted);
    }
    let text = std::fs::read_to_string(machine.file("answer")).unwrap_or_default();
    match text.strip_suffix(END) {
        // QEMU exits with 0 after a crash of the guest too. Only the end mark proves a complete answer.
        Some(json) => serde_json::from_str(json).map_err(|error| machine.without_answer(&error.to_string())),
        None => Err(machine.without_answer(&ended?.to_string())),
    }
}

/// Checks what can be known before a boot.
fn check(boot: &Boot<'_>) -> Result<(), LabError> {
    let architecture = boot.image.architecture();
    require_qemu(architecture)?;
    boot.cpus.check(architecture, boot.counters.is_some())
}

/// The state of the machine after its boot: that of an earlier boot, if it is kept.
fn booted(boot: &Boot<'_>, watch: &Watch<'_>) -> Result<Booted, LabError> {
    let image = boot.files().root()?;
    if let Snapshots::Kept(notice) = boot.snapshots {
        match kept(boot, &image, watch, notice) {
            Ok(booted) => return Ok(booted),
            Err(NotKept::Lab(error)) => return Err(error),
            Err(NotKept::Cache(error)) => notice(&format!("snapshots of machines are not used: {error}")),
        }
    }
    through_pipe(Stopped::boot(boot, &image, watch)?, watch)
}

enum NotKept {
    /// The machine failed.
    Lab(LabError),
    /// The cache failed.
    Cache(LabError),
}

fn kept(boot: &Boot<'_>, image: &[u8], watch: &Watch<'_>, notice: fn(&str)) -> Result<Booted, NotKept> {
    let key = key(boot, image).map_err(NotKept::Lab)?;
    let kept = Kept::open(&key).map_err(NotKept::Cache)?;
    while !kept.try_lock().map_err(NotKept::Cache)? {
        // Another process makes or reads it.
        watch.pause().map_err(NotKept::Lab)?;
    }
    match kept.state() {
        Ok(Some(state)) => return Ok(Booted { state, _sender: None }),
        Ok(None) => {}
        Err(error) => notice(&format!("the snapshot of a machine is made anew: {error}")),
    }
    let mut stopped = Stopped::boot(boot, image, watch).map_err(NotKept::Lab)?;
    match kept.keep(&mut stopped, watch) {
        Ok(state) => return Ok(Booted { state, _sender: None }),
        Err(LabError::Interrupted) => return Err(NotKept::Lab(LabError::Interrupted)),
        Err(error) => notice(&format!("the snapshot of a machine is not kept: {error}")),
    }
    through_pipe(stopped, watch).map_err(NotKept::Lab)
}

fn through_pipe(mut stopped: Stopped, watch: &Watch<'_>) -> Result<Booted, LabError> {
    Ok(Booted { state: stopped.send_through_pipe(watch)?, _sender: Some(stopped) })
}

/// Boots the machine with its console on this terminal, in real time. `boot.job.commands` must be empty.
///
/// # Errors
/// See [`LabError`].
pub fn shell(boot: &Boot<'_>) -> Result<(), LabError> {
    check(boot)?;
    Machine::start_shell(boot)?.wait(&Watch::new(boot)).map(drop)
}
