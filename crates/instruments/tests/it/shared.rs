//! Helpers for the tests of the instruments. Most need root, or CAP_BPF and CAP_PERFMON.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use klatch_instruments::{Files, Instruments, Kernel, RunningInstruments, Targets, availability};
use klatch_record::{InstrumentName, Observation, ObservationData, Support};
use rustix::thread::{CpuSet, sched_setaffinity};

/// This process as the server.
pub(crate) fn me() -> Targets {
    Targets { servers: vec![std::process::id()], crowds: Vec::new() }
}

/// File names in a temporary folder.
pub(crate) fn files(folder: &tempfile::TempDir) -> Files {
    Files { folder: folder.path().to_owned(), stem: "trial-1".to_owned() }
}

/// Lets one test run at a time: the tests are threads of one process, and the instruments observe that process.
pub(crate) fn exclusive() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts instruments without windows, so that their counts can be compared with exact ones.
pub(crate) fn start(
    kernel: Kernel,
    names: &[InstrumentName],
    targets: &Targets,
    files: &Files,
) -> RunningInstruments {
    instruments(kernel, names).without_windows().start(targets, files)
}

/// Selects instruments; the kernel may be one that hides features.
pub(crate) fn instruments(kernel: Kernel, names: &[InstrumentName]) -> Instruments {
    let available = availability(&kernel);
    Instruments::new(kernel, names, &available)
}

/// Observes `work` with instruments, all of which must work here.
pub(crate) fn observe<const N: usize>(names: [InstrumentName; N], work: impl FnOnce()) -> [Observation; N] {
    let folder = tempfile::tempdir().unwrap();
    let running = start(Kernel::detect(), &names, &me(), &files(&folder));
    work();
    let observations = running.finish();
    for one in &observations {
        assert!(
            matches!(one.support, Support::Usable { .. }) && one.failure.is_none(),
            "this test needs the instrument {}, which does not work: {:?}, {:?}",
            one.instrument,
            one.support,
            one.failure
        );
    }
    observations.try_into().expect("one observation an instrument")
}

/// The data of an observation, which must not have failed.
pub(crate) fn data(observation: &Observation) -> &ObservationData {
    observation.data.as_ref().expect("the instrument has results")
}

/// Restricts the calling thread to one CPU.
pub(crate) fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).expect("every thread may set its own affinity");
}

/// Runs `work` while `count` threads spin on one CPU.
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

/// Two threads wake each other through pipes, `rounds` times each way.
///
/// Returns how often they waited, by the kernel's count. A thread whose input is already there does not wait.
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

/// Voluntary context switches of the calling thread so far.
fn own_waits() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}
