//! CPUs go offline and online while threads yield.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use super::times::{Stopwatch, Times};
use super::{Done, ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32, interrupted: &AtomicBool) -> Result<Done, ProbeError> {
    let switches = switches(Path::new("/sys/devices/system/cpu"));
    if switches.is_empty() {
        return Err(ProbeError::NoHotplug(
            "no CPU with a file online in /sys/devices/system/cpu is online".to_owned(),
        ));
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
        let result =
            threads(scope, work, &mut Vec::new()).and_then(|()| toggle(&switches, rounds, interrupted));
        stop.store(true, Ordering::Relaxed);
        result
    });
    let elapsed = watch.stop();
    let [offline, online] = result?;
    let done = Done::new("yield", steps.load(Ordering::Relaxed), elapsed);
    Ok(done.with("offline", offline).with("online", online))
}

/// The `online` files in the kernel's folder of all CPUs that can be taken offline and are not.
fn switches(cpus: &Path) -> Vec<PathBuf> {
    let file = |cpu: u32| cpus.join(format!("cpu{cpu}/online"));
    let is_online = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == "1");
    (1..1024).map(file).filter(is_online).collect()
}

fn write(switch: &Path, value: &str) -> Result<(), ProbeError> {
    let failed = |error| ProbeError::NoHotplug(format!("{}: {error}", switch.display()));
    std::fs::write(switch, value).map_err(failed)
}

/// Returns the times that going offline and coming online took. Whatever ends it, all CPUs are online again, or the error names one
/// that is not.
fn toggle(switches: &[PathBuf], rounds: u32, interrupted: &AtomicBool) -> Result<[Times; 2], ProbeError> {
    let toggled = toggle_all(switches, rounds, interrupted);
    let restored: Vec<_> = switches.iter().map(|switch| write(switch, "1")).collect();
    restored.into_iter().collect::<Result<(), _>>()?;
    toggled
}

fn toggle_all(switches: &[PathBuf], rounds: u32, interrupted: &AtomicBool) -> Result<[Times; 2], ProbeError> {
    let mut all = [Times::new(), Times::new()];
    for _ in 0..rounds {
        for (value, times) in ["0", "1"].into_iter().zip(&mut all) {
            for switch in switches {
                if interrupted.load(Ordering::Relaxed) {
                    return Err(ProbeError::Interrupted);
                }
                let started = Instant::now();
                write(switch, value)?;
                times.since(started);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder in place of the kernel's, in which CPU 2 is offline. CPU 0 has no file.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, online) in [(1, "1\n"), (2, "0\n"), (3, "1\n"), (4, "1\n")] {
            std::fs::create_dir(folder.path().join(format!("cpu{cpu}"))).unwrap();
            std::fs::write(folder.path().join(format!("cpu{cpu}/online")), online).unwrap();
        }
        folder
    }

    #[test]
    fn cpus_are_online_again_after_an_interrupt_and_after_a_failure() {
        let folder = folder();
        let mut switches = switches(folder.path());
        assert_eq!(switches.len(), 3, "one is offline, and stays so");
        let online = |switches: &[PathBuf]| {
            switches.iter().all(|switch| std::fs::read_to_string(switch).unwrap().trim() == "1")
        };

        let stop = AtomicBool::new(false);
        let ended = thread::scope(|scope| {
            let toggling = scope.spawn(|| toggle(&switches, u32::MAX, &stop));
            while online(&switches) {
                thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
            toggling.join().unwrap()
        });
        assert!(matches!(ended, Err(ProbeError::Interrupted)));
        assert!(online(&switches));

        switches.insert(2, folder.path().to_owned());
        let failed = toggle(&switches, 1, &AtomicBool::new(false)).err().unwrap().to_string();
        assert!(failed.contains(&folder.path().display().to_string()), "{failed}");
        switches.remove(2);
        assert!(online(&switches));
        assert_eq!(std::fs::read_to_string(folder.path().join("cpu2/online")).unwrap(), "0\n");
    }
}
