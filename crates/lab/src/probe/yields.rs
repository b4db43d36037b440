//! N tasks that can run, and do nothing but yield.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use super::{ProbeError, threads};

pub(super) fn run(tasks: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let all: Arc<OnceLock<Vec<Thread>>> = Arc::default();
    let awake = Arc::new(AtomicU32::new(0));
    let work = (0..tasks as usize).map(|number| {
        let (all, awake) = (Arc::clone(&all), Arc::clone(&awake));
        move || {
            // Each wakes the next when all are there, and yields until the last is awake: then the queue has its length.
            let others = loop {
                match all.get() {
                    Some(others) => break others,
                    None => thread::park(),
                }
            };
            others.get(number + 1).iter().for_each(|next| next.unpark());
            awake.fetch_add(1, Ordering::Relaxed);
            while (awake.load(Ordering::Relaxed) as usize) < others.len() {
                thread::yield_now();
            }
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
