//! CPUs go offline and online while threads yield.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use super::times::{Stopwatch, Times};
use super::{Done, ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32) -> Result<Done, ProbeError> {
    let switches = switches();
    if switches.is_empty() {
        return Err(ProbeError::NoHotplug("there is no /sys/devices/system/cpu/cpu1/online".to_owned()));
    }
    let (stop, steps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let work = (0..tasks).map(|_| {
        let (stop, steps) = (Arc::clone(&stop), Arc::clone(&steps));
        move || {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
                steps.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let work = work.collect();
    let watch = Stopwatch::start();
    let result = thread::scope(|scope| {
        let result = threads(scope, work, &mut Vec::new()).and_then(|()| toggle(&switches, rounds));
        stop.store(true, Ordering::Relaxed);
        result
    });
    let elapsed = watch.stop();
    let [offline, online] = result?;
    let done = Done::new("yield", steps.load(Ordering::Relaxed), elapsed);
    Ok(done.with("offline", offline).with("online", online))
}

/// The `online` files of all CPUs that can be taken offline.
fn switches() -> Vec<PathBuf> {
    let file = |cpu: u32| PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/online"));
    (1..1024).map(file).filter(|file| file.exists()).collect()
}

/// Returns the times that going offline and coming online took.
fn toggle(switches: &[PathBuf], rounds: u32) -> Result<[Times; 2], ProbeError> {
    let mut all = [Times::new(), Times::new()];
    for _ in 0..rounds {
        for (value, times) in ["0", "1"].into_iter().zip(&mut all) {
            for switch in switches {
                let failed = |error| ProbeError::NoHotplug(format!("{}: {error}", switch.display()));
                let started = Instant::now();
                std::fs::write(switch, value).map_err(failed)?;
                times.since(started);
            }
        }
    }
    Ok(all)
}
