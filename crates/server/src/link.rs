//! The way out to one connection of an event loop: lines go into its [`Queue`], and the loop is told which connections
//! need it before it waits again.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

use klatch_chat::{Outbox, session};
use rustix::io::Errno;
use rustix::net::{self, SendFlags};

use crate::queue::Queue;

/// So many bytes are written together at most, unless the connection is jammed.
const GATHER_BYTES: usize = 64 * 1024;

/// What all links of a loop share.
pub(crate) struct Turn {
    pub(crate) coalesce: bool,
    pub(crate) sendq_bytes: usize,
    /// Slots of the connections that need the loop.
    pub(crate) noted: RefCell<Vec<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Fine,
    /// More waits than may wait.
    Overflowed,
    /// The connection is gone.
    Broken,
    /// Nothing more is taken.
    Ended,
}

/// The way out to one connection; clones are the same.
#[derive(Clone)]
pub(crate) struct Link(Rc<Output>);

struct Output {
    socket: OwnedFd,
    slot: usize,
    turn: Rc<Turn>,
    queue: RefCell<Queue>,
    condition: Cell<Condition>,
    /// The connection took less than it was given; it will be heard of when it takes more.
    jammed: Cell<bool>,
    noted: Cell<bool>,
}

impl Outbox for Link {
    fn send(&self, line: &Arc<[u8]>) {
        let output = &*self.0;
        if output.condition.get() != Condition::Fine {
            return;
        }
        let taken = output.queue.borrow_mut().take(line, |bytes| output.write(bytes));
        if taken.is_err() {
            output.condition.set(Condition::Broken);
            return self.note();
        }
        let waiting = self.waiting();
        if waiting == 0 {
            return;
        }
        self.note();
        if !output.turn.coalesce {
            output.jammed.set(true);
        }
        let limit = output.turn.sendq_bytes;
        if waiting > limit || waiting > GATHER_BYTES && !output.jammed.get() {
            self.flush();
            if self.waiting() > limit {
                output.condition.set(Condition::Overflowed);
            }
        }
    }
}

impl Link {
    pub(crate) fn new(socket: OwnedFd, slot: usize, turn: Rc<Turn>) -> Link {
        let queue = RefCell::new(if turn.coalesce { Queue::open() } else { Queue::classic() });
        Link(Rc::new(Output {
            socket,
            slot,
            turn,
            queue,
            condition: Cell::new(Condition::Fine),
            jammed: Cell::new(false),
            noted: Cell::new(false),
        }))
    }

    /// Has the loop look at this connection before it waits again.
    pub(crate) fn note(&self) {
        if !self.0.noted.replace(true) {
            self.0.turn.noted.borrow_mut().push(self.0.slot);
        }
    }

    /// The loop looks now.
    pub(crate) fn unnote(&self) {
        self.0.noted.set(false);
    }

    /// Writes what waits, as far as the connection takes it.
    pub(crate) fn flush(&self) {
        let output = &*self.0;
        if output.queue.borrow_mut().flush(|bytes| output.write(bytes)).is_err() {
            output.condition.set(Condition::Broken);
        }
        output.jammed.set(self.waiting() > 0);
    }

    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.0.queue.borrow().len()
    }

    pub(crate) fn jammed(&self) -> bool {
        self.0.jammed.get()
    }

    pub(crate) fn condition(&self) -> Condition {
        self.0.condition.get()
    }

    /// Takes nothing more; what waits may still be written.
    pub(crate) fn end(&self) {
        if self.condition() != Condition::Broken {
            self.0.condition.set(Condition::Ended);
        }
    }

    /// Forgets what waits, and says as the last thing why.
    pub(crate) fn end_with_error(&self, reason: &[u8]) {
        self.0.queue.borrow_mut().end_with(&session::closing_line(reason));
        self.end();
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

impl Output {
    fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
}
