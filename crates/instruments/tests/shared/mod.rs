//! What the tests of the instruments share. They need what the instruments need: root, or CAP_BPF and CAP_PERFMON.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use klatch_instruments::{Files, Instruments, Kernel, Targets, Watch, availability};
use klatch_record::{Found, InstrumentName, Observation, Support};
use rustix::thread::{CpuSet, sched_setaffinity};

/// This process as the server.
pub(crate) fn me() -> Targets {
    Targets { servers: vec![std::process::id()], crowds: Vec::new() }
}

/// Files that are written into a folder for them.
pub(crate) fn files(folder: &tempfile::TempDir) -> Files {
    Files { folder: folder.path().to_owned(), stem: "trial-1".to_owned() }
}

/// The tests of a program are threads of one process, and that is what is watched: so one test at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts instruments on `kernel`, which never look away: what they count is held against counts that are exact.
pub(crate) fn start(kernel: Kernel, names: &[InstrumentName], targets: &Targets, files: &Files) -> Watch {
    instruments(kernel, names).all_the_time().start(targets, files)
}

/// Instruments for `kernel`.
pub(crate) fn instruments(kernel: Kernel, names: &[InstrumentName]) -> Instruments {
    let here = availability(&kernel);
    Instruments::new(kernel, names, &here)
}

/// Looks at `work` with instruments, all of which must work here.
pub(crate) fn watch<const N: usize>(names: [InstrumentName; N], work: impl FnOnce()) -> [Observation; N] {
    let folder = tempfile::tempdir().unwrap();
    let watch = start(Kernel::here(), &names, &me(), &files(&folder));
    work();
    let observations = watch.finish();
    for one in &observations {
        assert!(
            matches!(one.support, Support::Usable { .. }) && one.failure.is_none(),
            "this test needs {} to work, which it does not: {:?}, {:?}",
            one.instrument,
            one.support,
            one.failure
        );
    }
    observations.try_into().expect("one observation an instrument")
}

/// What was found.
pub(crate) fn found(observation: &Observation) -> &Found {
    observation.found.as_ref().expect("it found something")
}

/// The calling thread runs on this CPU only.
pub(crate) fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).expect("a thread may choose its CPU");
}

/// Threads that spin on one CPU while `work` is done.
pub(crate) fn while_spinning(count: usize, cpu: usize, work: impl FnOnce()) {
    let stop = Arc::new(AtomicBool::new(false));
    let one = |number| {
        let stop = stop.clone();
        let spin = move || {
            pin(cpu);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        std::thread::Builder::new().name(format!("spinner-{number}")).spawn(spin).unwrap()
    };
    let threads: Vec<JoinHandle<()>> = (0..count).map(one).collect();
    work();
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Two threads that wake each other through pipes, `rounds` times each way.
///
/// Returns how often one of them waited, by the kernel's own count: one that finds the ball there already does not.
pub(crate) fn ping_pong(rounds: usize) -> u64 {
    let (ping, pong) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let play = move |mut from: PipeReader, mut to: PipeWriter, serves: bool| {
        let before = own_waits();
        let mut ball = [0];
        for _ in 0..rounds {
            if serves {
                to.write_all(&ball).unwrap();
            }
            from.read_exact(&mut ball).unwrap();
            if !serves {
                to.write_all(&ball).unwrap();
            }
        }
        own_waits() - before
    };
    let other = std::thread::spawn(move || play(ping.0, pong.1, false));
    play(pong.0, ping.1, true) + other.join().unwrap()
}

/// How often the calling thread has waited so far.
fn own_waits() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}
