//! N runnable tasks that only yield.

use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use super::times::{SharedTimes, Stopwatch, Times};
use super::{Done, ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32) -> Result<Done, ProbeError> {
    let all: Arc<OnceLock<Vec<Thread>>> = Arc::default();
    let absences = SharedTimes::new();
    let work = (0..tasks as usize).map(|number| {
        let (all, absences) = (Arc::clone(&all), &absences);
        move || {
            // Once all threads exist, each wakes two others, so the queue reaches its length within a few rounds. There is no
            // barrier: under a scheduler with slices, a thread with little time left may run only after all others.
            let others = loop {
                match all.get() {
                    Some(others) => break others,
                    None => thread::park(),
                }
            };
            others.iter().skip(2 * number + 1).take(2).for_each(Thread::unpark);
            let (mut times, mut at) = (Times::new(), Instant::now());
            for _ in 0..rounds {
                thread::yield_now();
                at = times.since(at);
            }
            absences.add(&times);
        }
    });
    let work = work.collect();
    let watch = Stopwatch::start();
    thread::scope(|scope| {
        let mut spawned = Vec::new();
        let result = threads(scope, work, &mut spawned);
        let first = spawned.first().cloned();
        let _ = all.set(spawned);
        first.iter().for_each(Thread::unpark);
        result
    })?;
    let elapsed = watch.stop();
    Ok(Done::new("yield", u64::from(tasks) * u64::from(rounds), elapsed).with("yield", absences.take()))
}
