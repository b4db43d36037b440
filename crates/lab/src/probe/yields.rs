//! N runnable tasks that only yield.

use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use super::{ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let all: Arc<OnceLock<Vec<Thread>>> = Arc::default();
    let work = (0..tasks as usize).map(|number| {
        let all = Arc::clone(&all);
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
            (0..rounds).for_each(|_| thread::yield_now());
        }
    });
    let started = Instant::now();
    thread::scope(|scope| {
        let mut spawned = Vec::new();
        let result = threads(scope, work.collect(), &mut spawned);
        let first = spawned.first().cloned();
        let _ = all.set(spawned);
        first.iter().for_each(Thread::unpark);
        result
    })?;
    Ok((u64::from(tasks) * u64::from(rounds), started.elapsed().as_nanos() as u64))
}
