//! The slots of a session about which the library has something new.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Wake, Waker};

/// One bit for each slot. One thread uses it; it is atomic because a [`Waker`] must be.
pub(crate) struct ReadySlots(Box<[AtomicU64]>);

impl ReadySlots {
    /// A set for so many slots.
    pub(crate) fn new(slots: usize) -> Arc<ReadySlots> {
        Arc::new(ReadySlots((0..slots.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()))
    }

    /// Adds a slot.
    pub(crate) fn add(&self, slot: usize) {
        self.0[slot / 64].fetch_or(1 << (slot % 64), Ordering::Relaxed);
    }

    /// Takes the slot with the lowest number.
    pub(crate) fn take(&self) -> Option<usize> {
        self.0.iter().enumerate().find_map(|(place, word)| {
            let bits = word.load(Ordering::Relaxed);
            if bits == 0 {
                return None;
            }
            let bit = bits.trailing_zeros();
            word.fetch_and(!(1 << bit), Ordering::Relaxed);
            Some(place * 64 + bit as usize)
        })
    }

    /// What the library calls when there is something new about this slot.
    pub(crate) fn waker(self: &Arc<ReadySlots>, slot: usize) -> Waker {
        Arc::new(SlotWaker { ready: self.clone(), slot }).into()
    }
}

struct SlotWaker {
    ready: Arc<ReadySlots>,
    slot: usize,
}

impl Wake for SlotWaker {
    fn wake(self: Arc<SlotWaker>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<SlotWaker>) {
        self.ready.add(self.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_that_was_woken_is_taken_once() {
        let ready = ReadySlots::new(200);
        for slot in [199, 64, 0, 64, 63] {
            ready.waker(slot).wake_by_ref();
        }
        let taken: Vec<usize> = std::iter::from_fn(|| ready.take()).collect();
        assert_eq!(taken, [0, 63, 64, 199]);
    }
}
