//! The way out to one connection of an event loop. Lines go into its [`Queue`], from any loop, and its loop is told to
//! look after it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klatch_chat::{Outbox, session};
use rustix::io::Errno;
use rustix::net::{self, SendFlags};

use super::queue::Queue;
use crate::inbox::Inbox;

/// So many bytes are written together at most, unless the connection is jammed.
const GATHER_BYTES: usize = 64 * 1024;

/// What all links of a loop share.
pub(super) struct Owner {
    pub(super) coalesce: bool,
    /// Deliveries are written when they come, and not when the loop looks after the connection.
    pub(super) at_once: bool,
    pub(super) sendq_bytes: usize,
    pub(super) inbox: Arc<Inbox>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
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
pub(super) struct Link(Arc<Output>);

struct Output {
    socket: OwnedFd,
    slot: usize,
    owner: Arc<Owner>,
    state: Mutex<State>,
}

struct State {
    queue: Queue,
    condition: Condition,
    /// The connection took less than it was given; its loop will hear when it takes more.
    jammed: bool,
    noted: bool,
}

/// What its loop has to know.
pub(super) struct Report {
    pub(super) condition: Condition,
    pub(super) jammed: bool,
    /// Nothing waits.
    pub(super) done: bool,
}

impl Outbox for Link {
    fn send(&self, line: &Arc<[u8]>) {
        let output = &*self.0;
        let mut state = output.state();
        if state.condition == Condition::Fine {
            state.queue.push_answer(line);
            output.wait(&mut state);
        }
    }

    fn deliver(&self, line: &Arc<[u8]>) {
        let output = &*self.0;
        let mut state = output.state();
        if state.condition != Condition::Fine {
            return;
        }
        let waited = state.queue.len() > 0;
        if !output.owner.at_once {
            state.queue.push(line);
        } else if state.queue.take(line, |bytes| output.write(bytes)).is_err() {
            state.condition = Condition::Broken;
            return output.note(&mut state);
        }
        if state.queue.len() > 0 {
            state.jammed |= output.owner.at_once && !waited;
            output.wait(&mut state);
        }
    }
}

impl Link {
    pub(super) fn new(socket: OwnedFd, slot: usize, owner: Arc<Owner>) -> Link {
        let queue = if owner.coalesce { Queue::open() } else { Queue::classic() };
        let state = State { queue, condition: Condition::Fine, jammed: false, noted: false };
        Link(Arc::new(Output { socket, slot, owner, state: Mutex::new(state) }))
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.state().queue.len()
    }

    /// The connection takes more: writes what waits.
    pub(super) fn flush(&self) {
        let mut state = self.0.state();
        self.0.flush(&mut state);
        self.0.note(&mut state);
    }

    /// The loop looks: writes what waits, unless the connection is jammed, and tells how things are.
    pub(super) fn look(&self) -> Report {
        let mut state = self.0.state();
        state.noted = false;
        if state.condition != Condition::Broken && !state.jammed {
            self.0.flush(&mut state);
        }
        Report { condition: state.condition, jammed: state.jammed, done: state.queue.len() == 0 }
    }

    /// Takes nothing more; what waits may still be written.
    pub(super) fn end(&self) {
        self.0.state().end();
    }

    /// Forgets what waits, and says as the last thing why.
    pub(super) fn end_with_error(&self, reason: &[u8]) {
        let mut state = self.0.state();
        state.queue.end_with(&session::closing_line(reason));
        state.end();
        self.0.flush(&mut state);
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

impl State {
    fn end(&mut self) {
        if self.condition != Condition::Broken {
            self.condition = Condition::Ended;
        }
    }
}

impl Output {
    /// Nobody panics with this lock held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something waits: its loop is to write it, unless that is so much that it has to be written now.
    fn wait(&self, state: &mut State) {
        let (waiting, limit) = (state.queue.len(), self.owner.sendq_bytes);
        if waiting > limit || waiting > GATHER_BYTES && !state.jammed {
            self.flush(state);
            if state.queue.len() > limit {
                state.condition = Condition::Overflowed;
            }
        }
        self.note(state);
    }

    fn note(&self, state: &mut State) {
        if !std::mem::replace(&mut state.noted, true) {
            self.owner.inbox.note(self.slot);
        }
    }

    /// Writes what waits, as far as the connection takes it.
    fn flush(&self, state: &mut State) {
        if state.queue.flush(|bytes| self.write(bytes)).is_err() {
            state.condition = Condition::Broken;
        }
        state.jammed = state.queue.len() > 0;
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
}
