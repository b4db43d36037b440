//! Spinning locks. A waiting CPU does nothing else; when the lock is released, a random one of the waiting CPUs gets it, as with the
//! test-and-set locks of Linux 2.4.

use serde::Serialize;

use crate::events::Cycles;
use crate::random::Random;

/// What lockmeter counts of a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockCounts {
    /// Acquisitions, with and without waiting.
    pub acquired: u64,
    /// Acquisitions for which a CPU waited.
    pub contended: u64,
    /// Cycles for which it was held.
    pub held: Cycles,
    /// Cycles for which CPUs waited for it.
    pub waited: Cycles,
}

impl LockCounts {
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            acquired: self.acquired - earlier.acquired,
            contended: self.contended - earlier.contended,
            held: self.held - earlier.held,
            waited: self.waited - earlier.waited,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            acquired: self.acquired + other.acquired,
            contended: self.contended + other.contended,
            held: self.held + other.held,
            waited: self.waited + other.waited,
        }
    }
}

#[derive(Default)]
pub(crate) struct Lock {
    holder: Option<usize>,
    waiting: Vec<usize>,
    pub(crate) counts: LockCounts,
}

impl Lock {
    /// Acquires the lock for `cpu` if it is free; else `cpu` waits. Returns whether it has the lock.
    pub(crate) fn acquire(&mut self, cpu: usize) -> bool {
        if self.holder.is_some() {
            self.waiting.push(cpu);
            return false;
        }
        self.holder = Some(cpu);
        self.counts.acquired += 1;
        true
    }

    /// Releases the lock. Returns its next holder, and how many CPUs waited.
    ///
    /// # Panics
    /// `cpu` does not hold it.
    pub(crate) fn release(&mut self, cpu: usize, random: &mut Random) -> Option<(usize, u64)> {
        assert_eq!(self.holder, Some(cpu), "only the holder releases a lock");
        self.holder = None;
        let waiting = self.waiting.len();
        if waiting == 0 {
            return None;
        }
        let winner = self.waiting.swap_remove(random.below(waiting as u64) as usize);
        self.holder = Some(winner);
        self.counts.acquired += 1;
        self.counts.contended += 1;
        Some((winner, waiting as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waiting_cpu_gets_the_lock_once() {
        let (mut lock, mut random) = (Lock::default(), Random::new(1));
        assert!(lock.acquire(0) && !lock.acquire(1) && !lock.acquire(2));
        let (first, waiting) = lock.release(0, &mut random).unwrap();
        let (second, left) = lock.release(first, &mut random).unwrap();
        assert_eq!((first + second, waiting, left), (3, 2, 1));
        assert_eq!(lock.release(second, &mut random), None);
        assert_eq!((lock.counts.acquired, lock.counts.contended), (3, 2));
    }

    #[test]
    #[should_panic(expected = "only the holder")]
    fn another_cpu_cannot_release_a_lock() {
        let mut lock = Lock::default();
        lock.acquire(0);
        lock.release(1, &mut Random::new(1));
    }
}
