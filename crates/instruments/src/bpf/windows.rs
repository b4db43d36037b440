//! Windows: short periods in which the BPF programs on hot paths are attached.
//!
//! Between two windows the kernel runs as if the programs did not exist. Measuring the run time of programs has a cost, too,
//! so only some of the windows do it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::sys::{attach, enable_stats, raise_to_realtime};

/// Length of a window.
const OPEN: Duration = Duration::from_millis(20);
/// Mean pause between windows. Each pause is drawn at random from 0.5 to 1.5 times this, so that windows cannot run in step
/// with the workload.
const CLOSED: Duration = Duration::from_millis(380);
/// One window in this many, the first, measures the run time of the programs.
const COST_MEASURED_ONE_IN: u64 = 4;

/// The windows of all instruments of a run. They open together; programs at the same tracepoint keep the order of their
/// instruments.
#[derive(Default)]
pub(crate) struct Windows {
    always_open: bool,
    programs: Vec<Program>,
    running: Option<Running>,
}

/// A program that is attached in windows.
struct Program {
    fd: OwnedFd,
    /// Present while the program is attached.
    link: Option<OwnedFd>,
    /// The map `window` of its object.
    window: MapHandle,
}

impl Program {
    /// Sets the number of the open window, 0 for none.
    fn set_window(&self, number: u64) {
        // Updating the only element of an array map cannot fail.
        let _ = self.window.update(&0_u32.to_ne_bytes(), &number.to_ne_bytes(), MapFlags::ANY);
    }
}

struct Running {
    stop: Sender<()>,
    thread: JoinHandle<Coverage>,
}

/// The part of a run that windows covered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coverage {
    /// Length of the run, in seconds.
    pub(crate) elapsed_s: f64,
    /// Share of it in which windows were open, above 0 and at most 1.
    pub(crate) share: f64,
    /// Time in which the run time of programs was measured, in seconds.
    pub(crate) cost_measured_s: f64,
}

impl Coverage {
    /// The coverage if no windows were used.
    pub(crate) const NO_WINDOWS: Coverage = Coverage { elapsed_s: 0.0, share: 1.0, cost_measured_s: 0.0 };

    /// Extrapolates a count in the windows to the whole run.
    pub(crate) fn scaled(&self, count: u64) -> u64 {
        (count as f64 / self.share).round() as u64
    }

    /// Total length of the windows, in seconds.
    pub(crate) fn open_s(&self) -> f64 {
        self.elapsed_s * self.share
    }
}

impl Windows {
    /// With `always_open` there is one window, as long as the run.
    pub(crate) fn new(always_open: bool) -> Windows {
        Windows { always_open, programs: Vec::new(), running: None }
    }

    /// Adds a program and attaches it for the first window.
    pub(super) fn add(&mut self, fd: OwnedFd, window: MapHandle) -> std::io::Result<()> {
        let link = Some(attach(fd.as_fd())?);
        self.programs.push(Program { fd, link, window });
        Ok(())
    }

    /// Opens the first window and starts the thread that closes and opens the others.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn begin(&mut self) -> std::io::Result<()> {
        let (stop, stopped) = channel();
        let (programs, always_open) = (std::mem::take(&mut self.programs), self.always_open);
        let wait = move |pause| stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
        // The first window opens here, because the thread may have to wait for a CPU.
        programs.iter().for_each(|program| program.set_window(1));
        let began = Instant::now();
        let work = move || open_and_close(programs, always_open, began, wait);
        let thread = std::thread::Builder::new().name("windows".to_owned()).spawn(work)?;
        self.running = Some(Running { stop, thread });
        Ok(())
    }

    /// Closes the last window and detaches all programs.
    pub(crate) fn end(&mut self) -> Coverage {
        let Some(Running { stop, thread }) = self.running.take() else { return Coverage::NO_WINDOWS };
        drop(stop);
        thread.join().unwrap_or(Coverage::NO_WINDOWS)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        self.end();
    }
}

/// A random number, 0..=1.
fn random() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

/// Closes the first window, which opened at `began`, and opens and closes others until `wait` returns false.
///
/// `wait` blocks for the given time, and returns false at once when the run ends.
fn open_and_close(
    mut programs: Vec<Program>,
    always_open: bool,
    began: Instant,
    wait: impl Fn(Duration) -> bool,
) -> Coverage {
    raise_to_realtime();
    let (mut open, mut cost_measured) = (Duration::ZERO, Duration::ZERO);
    for number in 1_u64.. {
        for program in programs.iter_mut().filter(|program| program.link.is_none()) {
            // The same call succeeded in `add`.
            program.link = attach(program.fd.as_fd()).ok();
        }
        let stats = (number % COST_MEASURED_ONE_IN == 1).then(enable_stats).flatten();
        programs.iter().for_each(|program| program.set_window(number));
        let opened = if number == 1 { began } else { Instant::now() };
        let more = wait(OPEN);
        let took = opened.elapsed();
        open += took;
        if stats.is_some() {
            cost_measured += took;
        }
        drop(stats);
        if !always_open {
            programs.iter().for_each(|program| program.set_window(0));
            programs.iter_mut().for_each(|program| program.link = None);
        }
        if !more || !wait(CLOSED.mul_f64(0.5 + random())) {
            break;
        }
    }
    drop(programs);
    let elapsed_s = began.elapsed().as_secs_f64();
    let share = if always_open { 1.0 } else { open.as_secs_f64() / elapsed_s };
    Coverage { elapsed_s, share, cost_measured_s: cost_measured.as_secs_f64() }
}
