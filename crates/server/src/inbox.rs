//! What a loop is told by others, and by itself for later: which of its connections need it, which are new, and that
//! it is over. A loop that sleeps is woken by its bell.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::door::HalfOpen;

pub(crate) struct Arrival {
    pub(crate) socket: OwnedFd,
    pub(crate) from: SocketAddr,
    pub(crate) half_open: HalfOpen,
}

#[derive(Default)]
pub(crate) struct Letters {
    /// Slots of connections that need the loop.
    pub(crate) noted: Vec<usize>,
    /// New connections.
    pub(crate) arrivals: Vec<Arrival>,
    /// The loop is over.
    pub(crate) closed: bool,
}

impl Letters {
    fn is_empty(&self) -> bool {
        self.noted.is_empty() && self.arrivals.is_empty() && !self.closed
    }
}

pub(crate) struct Inbox {
    letters: Mutex<Letters>,
    asleep: AtomicBool,
    bell: OwnedFd,
}

impl Inbox {
    pub(crate) fn new() -> Result<Inbox, Errno> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Inbox { letters: Mutex::default(), asleep: AtomicBool::new(false), bell })
    }

    /// A connection needs the loop before it waits again.
    pub(crate) fn note(&self, slot: usize) {
        self.letters().noted.push(slot);
        self.wake();
    }

    pub(crate) fn hand_over(&self, arrival: Arrival) {
        self.letters().arrivals.push(arrival);
        self.wake();
    }

    /// The loop is over.
    pub(crate) fn close(&self) {
        self.letters().closed = true;
        self.wake();
    }

    /// The loop is about to sleep until its bell or something else wakes it. `false`: it must not, there is something.
    pub(crate) fn may_sleep(&self) -> bool {
        // Whoever leaves something takes the lock after this, sees that the loop sleeps and rings, or took it before.
        self.asleep.store(true, Ordering::Relaxed);
        let nothing = self.letters().is_empty();
        if !nothing {
            self.woken();
        }
        nothing
    }

    pub(crate) fn woken(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Exchanges `letters`, which have been read, for those that came. `false`: none came.
    pub(crate) fn exchange(&self, letters: &mut Letters) -> bool {
        std::mem::swap(&mut *self.letters(), letters);
        !letters.is_empty()
    }

    /// The bell has been heard, and may ring again.
    pub(crate) fn silence_bell(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    fn wake(&self) {
        if self.asleep.swap(false, Ordering::Relaxed) {
            // Cannot fail: the counter is far from its end.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    /// Nobody panics with this lock held.
    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bell; readable when it rings.
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn rings(inbox: &Inbox) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(inbox, PollFlags::IN)], Some(&now)).unwrap() == 1
    }

    #[test]
    fn the_bell_rings_only_for_a_loop_that_sleeps() {
        let (inbox, mut letters) = (Inbox::new().unwrap(), Letters::default());
        inbox.note(3);
        inbox.note(4);
        assert!(!rings(&inbox));
        assert!(!inbox.may_sleep());
        assert!(inbox.exchange(&mut letters));
        assert_eq!(letters.noted, [3, 4]);
        letters.noted.clear();
        assert!(!inbox.exchange(&mut letters));
        assert!(inbox.may_sleep());
        inbox.close();
        assert!(rings(&inbox));
        inbox.silence_bell();
        assert!(!rings(&inbox));
        assert!(inbox.exchange(&mut letters) && letters.closed);
    }

    #[test]
    fn nothing_that_is_left_is_slept_over() {
        const NOTES: usize = 20_000;
        // A wake-up that is lost shows as a sleep that nothing ends.
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        let inbox = Arc::new(Inbox::new().unwrap());
        let others = [0, 1].map(|_| {
            let inbox = Arc::clone(&inbox);
            std::thread::spawn(move || (0..NOTES).for_each(|slot| inbox.note(slot)))
        });
        let (mut letters, mut came) = (Letters::default(), 0);
        while came < 2 * NOTES {
            if inbox.may_sleep() {
                let ready = poll(&mut [PollFd::new(&*inbox, PollFlags::IN)], Some(&patience)).unwrap();
                assert_eq!(ready, 1, "no wake-up after {came} of {} notes", 2 * NOTES);
                inbox.woken();
                inbox.silence_bell();
            }
            while inbox.exchange(&mut letters) {
                came += letters.noted.drain(..).count();
            }
        }
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(came, 2 * NOTES);
    }
}
