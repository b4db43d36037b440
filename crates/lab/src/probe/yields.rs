//! N tasks that can run, and do nothing but yield.

use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use super::{ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let all: Arc<OnceLock<Vec<Thread>>> = Arc::default();
    let work = (0..tasks as usize).map(|number| {
        let all = Arc::clone(&all);
        move || {
            // When all are there, each wakes two: so the queue has its length after a few rounds. Nobody waits for the last:
            // under a scheduler of slices one with little left may not come before the others have used theirs up.
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
    let began = Instant::now();
    thread::scope(|scope| {
        let mut started = Vec::new();
        let done = threads(scope, work.collect(), &mut started);
        let first = started.first().cloned();
        let _ = all.set(started);
        first.iter().for_each(Thread::unpark);
        done
    })?;
    Ok((u64::from(tasks) * u64::from(rounds), began.elapsed().as_nanos() as u64))
}
