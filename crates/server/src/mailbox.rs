//! Messages to an event loop from other threads and from itself: connections that need service, new connections, and the
//! end. An eventfd wakes a loop that waits. A loop marks its own connections in a list of its thread, without the lock.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::admission::HalfOpen;

pub(crate) struct Arrival {
    pub(crate) socket: OwnedFd,
    pub(crate) from: SocketAddr,
    pub(crate) half_open: HalfOpen,
}

#[derive(Default)]
pub(crate) struct PendingWork {
    /// Slots of connections that need the loop.
    pub(crate) dirty: Vec<usize>,
    /// Connections that were accepted for this loop.
    pub(crate) arrivals: Vec<Arrival>,
    /// The loop is over.
    pub(crate) closed: bool,
}

thread_local! {
    /// Address of the mailbox whose loop runs on this thread; 0 if there is none.
    static OWN: Cell<usize> = const { Cell::new(0) };
    /// Slots of dirty connections of that loop that the loop has marked itself.
    static OWN_DIRTY: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Ends the ownership of a mailbox by this thread when dropped.
pub(crate) struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        OWN.set(0);
        OWN_DIRTY.with_borrow_mut(Vec::clear);
    }
}

impl PendingWork {
    fn is_empty(&self) -> bool {
        self.dirty.is_empty() && self.arrivals.is_empty() && !self.closed
    }
}

pub(crate) struct Mailbox {
    pending: Mutex<PendingWork>,
    asleep: AtomicBool,
    wakeup_fd: OwnedFd,
}

impl Mailbox {
    pub(crate) fn new() -> Result<Mailbox, Errno> {
        let wakeup_fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Mailbox { pending: Mutex::default(), asleep: AtomicBool::new(false), wakeup_fd })
    }

    /// Makes this thread the one whose loop has this mailbox, until the result is dropped.
    pub(crate) fn own(&self) -> Owner {
        OWN.set(self.address());
        Owner
    }

    fn is_own(&self) -> bool {
        OWN.get() == self.address()
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// A connection needs the loop before it waits again.
    pub(crate) fn mark_dirty(&self, slot: usize) {
        if self.is_own() {
            return OWN_DIRTY.with_borrow_mut(|dirty| dirty.push(slot));
        }
        self.lock().dirty.push(slot);
        self.wake();
    }

    pub(crate) fn hand_over(&self, arrival: Arrival) {
        self.lock().arrivals.push(arrival);
        self.wake();
    }

    /// Makes the loop end.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    /// Marks the loop as waiting, so that senders wake it. Returns `false` if work is pending, and it must not wait.
    pub(crate) fn prepare_to_wait(&self) -> bool {
        if self.is_own() && OWN_DIRTY.with_borrow(|dirty| !dirty.is_empty()) {
            return false;
        }
        // A sender takes the lock either after this, sees the flag and wakes the loop, or before, and its work is seen.
        self.asleep.store(true, Ordering::Relaxed);
        let nothing = self.lock().is_empty();
        if !nothing {
            self.finish_wait();
        }
        nothing
    }

    pub(crate) fn finish_wait(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Exchanges `pending`, which is empty or handled, for the work that has arrived; `false` if there is none.
    pub(crate) fn exchange(&self, pending: &mut PendingWork) -> bool {
        std::mem::swap(&mut *self.lock(), pending);
        if self.is_own() {
            OWN_DIRTY.with_borrow_mut(|dirty| pending.dirty.append(dirty));
        }
        !pending.is_empty()
    }

    /// Resets the eventfd after a wake-up.
    pub(crate) fn drain_wakeup(&self) {
        let _ = rustix::io::read(&self.wakeup_fd, &mut [0; 8]);
    }

    fn wake(&self) {
        if self.asleep.swap(false, Ordering::Relaxed) {
            // Cannot fail: the counter is far from its end.
            let _ = rustix::io::write(&self.wakeup_fd, &1u64.to_ne_bytes());
        }
    }

    /// Nobody panics with this lock held.
    fn lock(&self) -> MutexGuard<'_, PendingWork> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The eventfd, which is readable after a wake-up.
impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wakeup_fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_woken(mailbox: &Mailbox) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(mailbox, PollFlags::IN)], Some(&now)).unwrap() == 1
    }

    #[test]
    fn the_wakeup_fd_is_written_only_for_a_waiting_loop() {
        let (mailbox, mut pending) = (Mailbox::new().unwrap(), PendingWork::default());
        mailbox.mark_dirty(3);
        mailbox.mark_dirty(4);
        assert!(!is_woken(&mailbox));
        assert!(!mailbox.prepare_to_wait());
        assert!(mailbox.exchange(&mut pending));
        assert_eq!(pending.dirty, [3, 4]);
        pending.dirty.clear();
        assert!(!mailbox.exchange(&mut pending));
        assert!(mailbox.prepare_to_wait());
        mailbox.close();
        assert!(is_woken(&mailbox));
        mailbox.drain_wakeup();
        assert!(!is_woken(&mailbox));
        assert!(mailbox.exchange(&mut pending) && pending.closed);
    }

    #[test]
    fn a_loop_marks_its_own_connections_without_the_lock() {
        let (mailbox, other) = (Mailbox::new().unwrap(), Mailbox::new().unwrap());
        let mut pending = PendingWork::default();
        let owner = mailbox.own();
        mailbox.mark_dirty(1);
        other.mark_dirty(2);
        std::thread::scope(|scope| scope.spawn(|| mailbox.mark_dirty(3)).join()).unwrap();
        assert_eq!((&*mailbox.lock().dirty, &*other.lock().dirty), (&[3][..], &[2][..]));
        assert!(mailbox.exchange(&mut pending));
        assert_eq!(pending.dirty, [3, 1]);
        pending.dirty.clear();
        mailbox.mark_dirty(4);
        assert!(!mailbox.prepare_to_wait());
        drop(owner);
        mailbox.mark_dirty(5);
        assert!(mailbox.exchange(&mut pending));
        assert_eq!(pending.dirty, [5]);
    }

    #[test]
    fn no_mark_is_lost_while_the_loop_goes_to_sleep() {
        const MARKS: usize = 20_000;
        // A wake-up that is lost shows as a sleep that nothing ends.
        let timeout = Timespec { tv_sec: 10, tv_nsec: 0 };
        let mailbox = Arc::new(Mailbox::new().unwrap());
        let others = [0, 1].map(|_| {
            let mailbox = Arc::clone(&mailbox);
            std::thread::spawn(move || (0..MARKS).for_each(|slot| mailbox.mark_dirty(slot)))
        });
        let (mut pending, mut received) = (PendingWork::default(), 0);
        while received < 2 * MARKS {
            if mailbox.prepare_to_wait() {
                let ready = poll(&mut [PollFd::new(&*mailbox, PollFlags::IN)], Some(&timeout)).unwrap();
                assert_eq!(ready, 1, "no wake-up after {received} of {} marks", 2 * MARKS);
                mailbox.finish_wait();
                mailbox.drain_wakeup();
            }
            while mailbox.exchange(&mut pending) {
                received += pending.dirty.drain(..).count();
            }
        }
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(received, 2 * MARKS);
    }
}
