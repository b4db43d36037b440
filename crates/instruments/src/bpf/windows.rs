//! Programs that stand at hot places look by windows: they are attached for a part of the time, and between two windows
//! the kernel runs as if they were not there. To count what programs cost costs too, so that is done in some windows.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::system::{attach, come_first, count_cost};

/// A window is open for so long …
const OPEN: Duration = Duration::from_millis(20);
/// … and then closed for between half and three halves of this, by chance: nothing that is watched can be in step with it.
const CLOSED: Duration = Duration::from_millis(380);
/// The first window counts what programs cost, and then one of so many.
const COUNTED_ONE_IN: u64 = 4;

/// Windows of all instruments of a run: they open together, and programs at the same place in the order of their instruments.
#[derive(Default)]
pub(crate) struct Windows {
    always: bool,
    programs: Vec<Program>,
    running: Option<Running>,
}

/// A program that looks by windows.
struct Program {
    fd: OwnedFd,
    /// Its link, when it is attached.
    link: Option<OwnedFd>,
    /// The table in which it finds the number of the window.
    number: MapHandle,
}

impl Program {
    /// What it tells is of this window, of none if 0.
    fn tell(&self, number: u64) {
        // It has worked before.
        let _ = self.number.update(&0_u32.to_ne_bytes(), &number.to_ne_bytes(), MapFlags::ANY);
    }
}

struct Running {
    stop: Sender<()>,
    thread: JoinHandle<Looked>,
}

/// For how long was looked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// From the beginning to the end, seconds.
    pub(crate) elapsed_s: f64,
    /// The part of it in which windows were open, above 0 and at most 1.
    pub(crate) share: f64,
    /// In which the cost of programs was counted, seconds.
    pub(crate) counted_s: f64,
}

impl Looked {
    /// Not at all; or somewhere else than at windows.
    pub(crate) const NOT: Looked = Looked { elapsed_s: 0.0, share: 1.0, counted_s: 0.0 };

    /// What came in all the time, if so many came in the windows.
    pub(crate) fn scaled(&self, count: u64) -> u64 {
        (count as f64 / self.share).round() as u64
    }

    /// How long the windows were open, seconds.
    pub(crate) fn open_s(&self) -> f64 {
        self.elapsed_s * self.share
    }
}

impl Windows {
    /// One window, all the time, if `always`.
    pub(crate) fn new(always: bool) -> Windows {
        Windows { always, programs: Vec::new(), running: None }
    }

    /// Takes a program in, and attaches it for its first window.
    pub(super) fn add(&mut self, fd: OwnedFd, number: MapHandle) -> std::io::Result<()> {
        let link = Some(attach(fd.as_fd())?);
        self.programs.push(Program { fd, link, number });
        Ok(())
    }

    /// From here on windows close and open.
    ///
    /// # Errors
    /// There is no thread for it.
    pub(crate) fn begin(&mut self) -> std::io::Result<()> {
        let (stop, stopped) = channel();
        let (programs, always) = (std::mem::take(&mut self.programs), self.always);
        let goes_on = move |pause| stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout);
        // What comes next is to be seen, whenever the thread gets a CPU.
        programs.iter().for_each(|program| program.tell(1));
        let began = Instant::now();
        let work = move || open_and_close(programs, always, began, goes_on);
        let thread = std::thread::Builder::new().name("windows".to_owned()).spawn(work)?;
        self.running = Some(Running { stop, thread });
        Ok(())
    }

    /// Closes for the last time; nothing is attached by windows any more.
    pub(crate) fn end(&mut self) -> Looked {
        let Some(Running { stop, thread }) = self.running.take() else { return Looked::NOT };
        drop(stop);
        thread.join().unwrap_or(Looked::NOT)
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        self.end();
    }
}

/// A number from 0 to 1.
fn chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

/// Closes the first window, which was opened when it `began`, and opens and closes others until `goes_on` says no, which waits
/// for the time that it is given.
fn open_and_close(
    mut programs: Vec<Program>,
    always: bool,
    began: Instant,
    goes_on: impl Fn(Duration) -> bool,
) -> Looked {
    come_first();
    let (mut open, mut counted) = (Duration::ZERO, Duration::ZERO);
    for number in 1_u64.. {
        for program in programs.iter_mut().filter(|program| program.link.is_none()) {
            // It has worked before.
            program.link = attach(program.fd.as_fd()).ok();
        }
        let counting = (number % COUNTED_ONE_IN == 1).then(count_cost).flatten();
        programs.iter().for_each(|program| program.tell(number));
        let opened = if number == 1 { began } else { Instant::now() };
        let more = goes_on(OPEN);
        let took = opened.elapsed();
        open += took;
        if counting.is_some() {
            counted += took;
        }
        drop(counting);
        if !always {
            programs.iter().for_each(|program| program.tell(0));
            programs.iter_mut().for_each(|program| program.link = None);
        }
        if !more || !goes_on(CLOSED.mul_f64(0.5 + chance())) {
            break;
        }
    }
    drop(programs);
    let elapsed_s = began.elapsed().as_secs_f64();
    let share = if always { 1.0 } else { open.as_secs_f64() / elapsed_s };
    Looked { elapsed_s, share, counted_s: counted.as_secs_f64() }
}
