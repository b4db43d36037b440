//! What a machine is booted with.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use klatch_instruments::counters::{Hardware, HardwareError};

use crate::cpus::Cpus;
use crate::image::Image;
use crate::job::Job;

/// The settings of one boot.
#[derive(Clone, Debug)]
pub struct Boot<'a> {
    /// Path of the kernel image (bzImage).
    pub kernel: &'a Path,
    /// Its files.
    pub image: Image,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Memory of the machine, MB.
    pub memory_mb: u32,
    /// Seed of QEMU's random numbers.
    pub seed: u32,
    /// Parameters of the kernel, each in place of that of the lab with its name.
    pub parameters: String,
    /// Work of the machine; without commands, a shell.
    pub job: Job,
    /// Arguments of the counters' plugin, `Some("")` to count instructions only; `None` for a machine without counters.
    pub counters: Option<String>,
    /// Longest duration of the boot, in the host's time.
    pub limit: Duration,
    /// Set to true to stop the machine at once.
    pub interrupted: &'a AtomicBool,
    /// Snapshots of earlier boots.
    pub snapshots: Snapshots,
}

/// The use of snapshots that are kept from one boot for the next.
#[derive(Clone, Copy, Debug)]
pub enum Snapshots {
    /// They are used and made. The function gets a line when one cannot be used or kept.
    Kept(fn(&str)),
    /// The machine boots anew.
    Anew,
}

impl Boot<'_> {
    /// The name of caches that stands for none: only instructions are counted.
    pub const INSTRUCTIONS: &'static str = "instructions";

    /// The arguments of the counters' plugin for caches by preset or file, or [`Boot::INSTRUCTIONS`].
    ///
    /// # Errors
    /// There is no such preset or file.
    pub fn counters(caches: &str) -> Result<String, HardwareError> {
        match caches {
            Boot::INSTRUCTIONS => Ok(String::new()),
            name => Ok(Hardware::load(name)?.arguments()),
        }
    }

    /// The files of the machine, as they come to it.
    pub(crate) fn files(&self) -> Image {
        match self.counters {
            // The counters name routines.
            Some(_) => self.image.clone().with_symbols(),
            None => self.image.clone(),
        }
    }
}
