//! Threads that compute and share locks, acquired in tiers like the monitors of the Java virtual machine of the 2005 paper: spin, yield
//! and try again, block, and all again. The simulator's workload `locks` has the same parts.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::times::{SharedTimes, Stopwatch, Times};
use super::{Done, ProbeError, threads};

/// The locks, and what threads do with and without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockTiers {
    /// Locks, each as likely as the others.
    pub locks: u32,
    /// CPU time of a thread between two sections, µs.
    pub think_us: u32,
    /// CPU time in a section, µs.
    pub hold_us: u32,
    /// Sleep in a section, as if for a disk, µs.
    pub sleep_us: u32,
    /// First tier: tries in a row, with a pause of the CPU between them.
    pub spins: u32,
    /// Second tier: calls of `sched_yield`, each followed by a try.
    pub yields: u32,
    /// Third tier, if neither of the others has helped.
    pub block: Block,
}

/// What a thread does that has neither spun nor yielded its way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It blocks in a futex until the owner wakes it.
    Futex,
    /// It goes on yielding.
    Yield,
}

/// How the threads acquired their locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquisitions {
    /// At the first try.
    pub at_once: u64,
    /// Locks acquired in the first tier.
    pub by_spinning: u64,
    /// Locks acquired in the second tier.
    pub by_yielding: u64,
    /// Locks acquired after the thread had blocked.
    pub by_blocking: u64,
    /// Calls of `sched_yield` by all threads.
    pub yields: u64,
}

pub(super) fn run(tasks: u32, rounds: u32, tiers: LockTiers) -> Result<Done, ProbeError> {
    let locks: Arc<Vec<Lock>> = Arc::new((0..tiers.locks).map(|_| Lock::default()).collect());
    let counts = Arc::new(Counts::default());
    let waits = SharedTimes::new();
    let work = (0..tasks).map(|task| {
        let (locks, counts, waits) = (Arc::clone(&locks), Arc::clone(&counts), &waits);
        // Each thread has its own sequence of locks, the same in every run.
        let mut random = u64::from(task).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            let mut times = Times::new();
            for _ in 0..rounds {
                compute(tiers.think_us);
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let lock = &locks[((random >> 33) % locks.len() as u64) as usize];
                let tried = Instant::now();
                lock.acquire(tiers, &counts);
                times.since(tried);
                compute(tiers.hold_us);
                if tiers.sleep_us > 0 {
                    thread::sleep(Duration::from_micros(tiers.sleep_us.into()));
                }
                lock.release();
            }
            waits.add(&times);
        }
    });
    let work = work.collect();
    let watch = Stopwatch::start();
    thread::scope(|scope| threads(scope, work, &mut Vec::new()))?;
    let elapsed = watch.stop();
    let done = Done::new("section", u64::from(tasks) * u64::from(rounds), elapsed);
    Ok(Done { acquisitions: Some(counts.total()), ..done.with("acquire", waits.take()) })
}

/// Computes for this much CPU time of the thread.
fn compute(us: u32) {
    let cpu_time = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let end = cpu_time() + u64::from(us) * 1_000;
    while us > 0 && cpu_time() < end {
        spin_loop();
    }
}

#[derive(Default)]
struct Counts {
    at_once: AtomicU64,
    by_spinning: AtomicU64,
    by_yielding: AtomicU64,
    by_blocking: AtomicU64,
    yields: AtomicU64,
}

impl Counts {
    fn total(&self) -> Acquisitions {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Acquisitions {
            at_once: read(&self.at_once),
            by_spinning: read(&self.by_spinning),
            by_yielding: read(&self.by_yielding),
            by_blocking: read(&self.by_blocking),
            yields: read(&self.yields),
        }
    }
}

#[derive(Default)]
struct Lock {
    taken: AtomicBool,
    blocked: Mutex<()>,
    freed: Condvar,
}

impl Lock {
    fn acquire(&self, tiers: LockTiers, counts: &Counts) {
        let acquired = if self.try_acquire() {
            &counts.at_once
        } else if let Some(tier) = self.spin_and_yield(tiers, counts) {
            tier
        } else {
            // A woken thread begins with the first tier again, as another one may have been faster.
            while !self.block() && self.spin_and_yield(tiers, counts).is_none() {}
            &counts.by_blocking
        };
        acquired.fetch_add(1, Ordering::Relaxed);
    }

    /// The first two tiers. Returns the count of the one in which the lock was acquired.
    fn spin_and_yield<'a>(&self, tiers: LockTiers, counts: &'a Counts) -> Option<&'a AtomicU64> {
        if (0..tiers.spins).any(|_| self.spin()) {
            Some(&counts.by_spinning)
        } else {
            self.yield_until(tiers, counts).then_some(&counts.by_yielding)
        }
    }

    fn spin(&self) -> bool {
        spin_loop();
        self.try_acquire()
    }

    /// Yields as often as the tier allows. Returns whether the lock was acquired.
    fn yield_until(&self, tiers: LockTiers, counts: &Counts) -> bool {
        let mut yields = 0;
        while tiers.block == Block::Yield || yields < tiers.yields {
            thread::yield_now();
            yields += 1;
            if self.try_acquire() {
                counts.yields.fetch_add(yields.into(), Ordering::Relaxed);
                return true;
            }
        }
        counts.yields.fetch_add(yields.into(), Ordering::Relaxed);
        false
    }

    /// Blocks until the lock is released. Returns whether the lock was acquired before that.
    fn block(&self) -> bool {
        let blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if self.try_acquire() {
            return true;
        }
        drop(self.freed.wait(blocked));
        false
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

#[cfg(test)]
mod tests {
    use super::*;

    const TIERS: LockTiers = LockTiers {
        locks: 1,
        think_us: 0,
        hold_us: 200,
        sleep_us: 100,
        spins: 0,
        yields: 3,
        block: Block::Futex,
    };

    #[test]
    fn every_section_is_entered_by_one_of_the_tiers() {
        let done = run(4, 20, TIERS).unwrap();
        let (steps, counts) = (done.steps, done.acquisitions.unwrap());
        let Acquisitions { at_once, by_spinning, by_yielding, by_blocking, yields } = counts;
        assert_eq!(at_once + by_spinning + by_yielding + by_blocking, steps);
        assert!(by_spinning == 0 && by_blocking > 0 && yields >= 3 * by_blocking, "{counts:?}");
    }

    #[test]
    fn a_thread_that_only_yields_never_blocks_and_one_without_yields_only_blocks() {
        let counts = |tiers| run(4, 20, tiers).unwrap().acquisitions.unwrap();
        let yielding = counts(LockTiers { block: Block::Yield, ..TIERS });
        assert!(yielding.by_blocking == 0 && yielding.by_yielding > 0, "{yielding:?}");
        let blocking = counts(LockTiers { yields: 0, ..TIERS });
        assert!(blocking.yields == 0 && blocking.by_blocking > 0, "{blocking:?}");
    }

    #[test]
    fn one_thread_acquires_every_lock_at_once() {
        let counts = run(1, 50, LockTiers { locks: 3, ..TIERS }).unwrap().acquisitions;
        assert_eq!(counts.unwrap(), Acquisitions { at_once: 50, ..Acquisitions::default() });
    }
}
