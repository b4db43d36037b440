//! Threads that compute and share one lock, acquired in three tiers like the Java virtual machine of the 2005 paper: try,
//! yield and try again, block. The owner of the lock sleeps briefly, as if for a disk.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{ProbeError, threads};

/// Yields before a thread blocks.
const YIELDS: u32 = 40;
/// Loop iterations of work without and with the lock; each is a few instructions.
const OUTSIDE: u32 = 20_000;
const INSIDE: u32 = 2_000;
/// Sleep while holding the lock.
const WAIT: Duration = Duration::from_micros(200);

pub(super) fn run(tasks: u32, rounds: u32) -> Result<(u64, u64), ProbeError> {
    let lock = Arc::new(Lock::default());
    let work = (0..tasks).map(|_| {
        let lock = Arc::clone(&lock);
        move || {
            for _ in 0..rounds {
                compute(OUTSIDE);
                lock.acquire();
                compute(INSIDE);
                thread::sleep(WAIT);
                lock.release();
            }
        }
    });
    let started = Instant::now();
    thread::scope(|scope| threads(scope, work.collect(), &mut Vec::new()))?;
    Ok((u64::from(tasks) * u64::from(rounds), started.elapsed().as_nanos() as u64))
}

fn compute(steps: u32) {
    (0..steps).for_each(|step| {
        black_box(step);
    });
}

#[derive(Default)]
struct Lock {
    taken: AtomicBool,
    blocked: Mutex<()>,
    freed: Condvar,
}

impl Lock {
    fn acquire(&self) {
        for _ in 0..YIELDS {
            if self.try_acquire() {
                return;
            }
            thread::yield_now();
        }
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.try_acquire() {
            blocked = self.freed.wait(blocked).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn try_acquire(&self) -> bool {
        !self.taken.swap(true, Ordering::Acquire)
    }

    fn release(&self) {
        // Under the mutex, so that no thread blocks between its failed try and this notification.
        let _blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        self.taken.store(false, Ordering::Release);
        self.freed.notify_one();
    }
}
