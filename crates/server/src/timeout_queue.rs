//! A queue of connections by deadline. All have the same time-out, so they expire in the order in which they start.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A connection: its slot, and its generation number, because slots are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionKey {
    pub(crate) slot: usize,
    pub(crate) generation: u64,
}

pub(crate) struct TimeoutQueue {
    time: Duration,
    queue: VecDeque<(Instant, ConnectionKey)>,
}

impl TimeoutQueue {
    pub(crate) fn new(time: Duration) -> TimeoutQueue {
        TimeoutQueue { time, queue: VecDeque::new() }
    }

    /// The clock of `key` starts now.
    pub(crate) fn start(&mut self, key: ConnectionKey, now: Instant) {
        self.queue.push_back((now + self.time, key));
    }

    /// The next moment at which the time of one that `is_pending` is over. Forgets those before it that do not.
    pub(crate) fn next_deadline(&mut self, is_pending: impl Fn(ConnectionKey) -> bool) -> Option<Instant> {
        while let Some(&(deadline, key)) = self.queue.front() {
            if is_pending(key) {
                return Some(deadline);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Takes out one connection whose time is over.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<ConnectionKey> {
        let over = self.queue.front().is_some_and(|(deadline, _)| *deadline <= now);
        if over { self.queue.pop_front().map(|(_, key)| key) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_expire_in_the_order_of_their_start() {
        let second = Duration::from_secs(1);
        let mut waiting = TimeoutQueue::new(10 * second);
        let start = Instant::now();
        let keys = [0, 1, 2].map(|slot| ConnectionKey { slot, generation: 7 });
        for (key, at) in keys.into_iter().zip(0..) {
            waiting.start(key, start + second * at);
        }
        assert_eq!(waiting.next_deadline(|key| key.slot != 0), Some(start + 11 * second));
        assert_eq!(waiting.pop_expired(start + 10 * second), None);
        assert_eq!(waiting.pop_expired(start + 12 * second), Some(keys[1]));
        assert_eq!(waiting.pop_expired(start + 12 * second), Some(keys[2]));
        assert_eq!(waiting.pop_expired(start + 99 * second), None);
        assert_eq!(waiting.next_deadline(|_| true), None);
    }
}
