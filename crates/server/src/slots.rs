//! The connections of one event loop. Each has a slot, which is its number in events and in the mailbox. Slots are used
//! again, so each connection also has a generation: a time-out of an earlier connection does not end its successor.

use std::time::{Duration, Instant};

use crate::timeout_queue::{ConnectionKey, TimeoutQueue};

pub(crate) struct Slots<C> {
    entries: Vec<Option<Entry<C>>>,
    free: Vec<usize>,
    /// Generation of the newest connection.
    generation: u64,
    timeouts: TimeoutQueue,
    /// Connections to look at again, because a request was incomplete.
    checks: TimeoutQueue,
}

/// Longest time between two looks at an incomplete request. Requests may be late by as much.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

struct Entry<C> {
    generation: u64,
    connection: C,
}

impl<C> Slots<C> {
    /// `timeout` is the time from each [`Slots::start_timeout`] to its expiry.
    pub(crate) fn new(timeout: Duration) -> Slots<C> {
        Slots {
            entries: Vec::new(),
            free: Vec::new(),
            generation: 0,
            timeouts: TimeoutQueue::new(timeout),
            checks: TimeoutQueue::new(timeout.min(CHECK_INTERVAL)),
        }
    }

    /// Adds the connection that `new` makes for its slot, and starts its time-out. If `new` returns `None`, the slot
    /// stays free.
    pub(crate) fn insert_with(&mut self, now: Instant, new: impl FnOnce(usize) -> Option<C>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        let Some(connection) = new(slot) else {
            return self.free.push(slot);
        };
        self.generation += 1;
        self.entries[slot] = Some(Entry { generation: self.generation, connection });
        self.start_timeout(slot, now);
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&C> {
        self.entries[slot].as_ref().map(|entry| &entry.connection)
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut C> {
        self.entries[slot].as_mut().map(|entry| &mut entry.connection)
    }

    /// Removes the connection of a slot if `condition` holds for it.
    pub(crate) fn remove_if(&mut self, slot: usize, condition: impl FnOnce(&C) -> bool) -> Option<C> {
        let removed = self.entries[slot].take_if(|entry| condition(&entry.connection))?;
        self.free.push(slot);
        Some(removed.connection)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &C> {
        self.entries.iter().flatten().map(|entry| &entry.connection)
    }

    /// Starts a time-out of the connection in this slot. Those started before stay.
    pub(crate) fn start_timeout(&mut self, slot: usize, now: Instant) {
        if let Some(entry) = &self.entries[slot] {
            self.timeouts.start(ConnectionKey { slot, generation: entry.generation }, now);
        }
    }

    /// Makes [`Slots::pop_check`] return this slot soon, unless its connection is removed before.
    pub(crate) fn start_check(&mut self, slot: usize, now: Instant) {
        if let Some(entry) = &self.entries[slot] {
            self.checks.start(ConnectionKey { slot, generation: entry.generation }, now);
        }
    }

    /// The earliest time-out of a connection that `is_pending`, or check. Drops the time-outs before it.
    pub(crate) fn next_deadline(&mut self, is_pending: impl Fn(&C) -> bool) -> Option<Instant> {
        let entries = &self.entries;
        let timeout = self.timeouts.next_deadline(|key| {
            let entry = entries[key.slot].as_ref().filter(|entry| entry.generation == key.generation);
            entry.is_some_and(|entry| is_pending(&entry.connection))
        });
        let check = self.checks.next_deadline(|_| true);
        [timeout, check].into_iter().flatten().min()
    }

    /// Takes out one time-out that has expired, and returns the slot of its connection.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<usize> {
        Self::pop(&self.entries, &mut self.timeouts, now)
    }

    /// Takes out one check that is due, and returns the slot of its connection.
    pub(crate) fn pop_check(&mut self, now: Instant) -> Option<usize> {
        Self::pop(&self.entries, &mut self.checks, now)
    }

    fn pop(entries: &[Option<Entry<C>>], queue: &mut TimeoutQueue, now: Instant) -> Option<usize> {
        while let Some(key) = queue.pop_expired(now) {
            if entries[key.slot].as_ref().is_some_and(|entry| entry.generation == key.generation) {
                return Some(key.slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn insert(slots: &mut Slots<&'static str>, now: Instant, name: &'static str) -> Option<usize> {
        let mut place = None;
        slots.insert_with(now, |slot| {
            place = Some(slot);
            Some(name)
        });
        place
    }

    #[test]
    fn slots_are_used_again() {
        let (mut slots, now) = (Slots::new(SECOND), Instant::now());
        assert_eq!(insert(&mut slots, now, "a"), Some(0));
        assert_eq!(insert(&mut slots, now, "b"), Some(1));
        assert_eq!(slots.remove_if(0, |_| false), None);
        assert_eq!(slots.remove_if(0, |_| true), Some("a"));
        assert_eq!(slots.remove_if(0, |_| true), None);
        assert_eq!(slots.get(0), None);
        assert_eq!(slots.get_mut(1), Some(&mut "b"));
        slots.insert_with(now, |_| None);
        assert_eq!(slots.get(0), None);
        assert_eq!(insert(&mut slots, now, "c"), Some(0));
        assert_eq!(insert(&mut slots, now, "d"), Some(2));
        assert_eq!(slots.iter().copied().collect::<Vec<_>>(), ["c", "b", "d"]);
    }

    #[test]
    fn a_timeout_does_not_reach_the_next_connection_of_its_slot() {
        let (mut slots, start) = (Slots::new(10 * SECOND), Instant::now());
        insert(&mut slots, start, "first");
        slots.remove_if(0, |_| true);
        insert(&mut slots, start + SECOND, "second");
        assert_eq!(slots.pop_expired(start + 10 * SECOND), None);
        assert_eq!(slots.next_deadline(|_| true), Some(start + 11 * SECOND));
        assert_eq!(slots.pop_expired(start + 11 * SECOND), Some(0));
        assert_eq!(slots.next_deadline(|_| true), None);
    }

    #[test]
    fn the_next_deadline_is_that_of_a_pending_connection() {
        let (mut slots, start) = (Slots::new(10 * SECOND), Instant::now());
        insert(&mut slots, start, "registered");
        insert(&mut slots, start + SECOND, "half-open");
        assert_eq!(slots.next_deadline(|name| *name == "half-open"), Some(start + 11 * SECOND));
        slots.start_timeout(0, start + 2 * SECOND);
        assert_eq!(slots.next_deadline(|name| *name == "registered"), Some(start + 12 * SECOND));
    }
}
