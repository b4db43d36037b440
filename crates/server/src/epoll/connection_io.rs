//! The output of one connection of an event loop. Any loop may append lines to its [`Queue`], and marks it dirty for the
//! loop that owns it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klatch_protocol::service::{Outbox, Seal};
use rustix::io::Errno;
use rustix::net::{self, SendFlags};

use super::write_buffer::WriteBuffer;
use crate::mailbox::Mailbox;

/// Most bytes of one write, unless the socket's buffer was full before.
const BATCH_BYTES: usize = 64 * 1024;

/// What all links of a loop share.
pub(super) struct LoopContext {
    pub(super) coalesce: bool,
    /// What the connections get is lines; a closing message is one too.
    pub(super) has_lines: bool,
    /// Deliveries are written at once, not when the loop services the connection.
    pub(super) write_through: bool,
    pub(super) sendq_bytes: usize,
    pub(super) mailbox: Arc<Mailbox>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    Open,
    /// More waits than may wait.
    Overflowed,
    /// The connection is gone.
    Broken,
    /// Nothing more is taken.
    Closed,
}

/// The way out to one connection; clones are the same.
#[derive(Clone)]
pub(crate) struct ConnectionIo(Arc<Shared>);

struct Shared {
    socket: OwnedFd,
    slot: usize,
    context: Arc<LoopContext>,
    state: Mutex<State>,
}

struct State {
    buffer: WriteBuffer,
    condition: Condition,
    /// The socket's buffer is full; the loop polls for room in it.
    write_blocked: bool,
    dirty: bool,
    /// The kernel makes the records of TLS.
    in_kernel: bool,
}

/// The state of the output, for the loop.
pub(super) struct OutputStatus {
    pub(super) condition: Condition,
    pub(super) write_blocked: bool,
    /// The buffer is empty.
    pub(super) done: bool,
}

impl Outbox for ConnectionIo {
    fn send(&self, line: &Arc<[u8]>) {
        let shared = &*self.0;
        let mut state = shared.state();
        if state.condition == Condition::Open {
            state.buffer.push_answer(line);
            shared.on_queued(&mut state);
        }
    }

    fn is_open(&self) -> bool {
        self.0.state().condition == Condition::Open
    }

    fn deliver(&self, line: &Arc<[u8]>) {
        let shared = &*self.0;
        let mut state = shared.state();
        if state.condition != Condition::Open {
            return;
        }
        let waited = state.buffer.len() > 0;
        if !shared.context.write_through {
            state.buffer.push(line);
        } else if state.buffer.take(line, |bytes| shared.write(bytes)).is_err() {
            state.condition = Condition::Broken;
            return shared.mark_dirty(&mut state);
        }
        if state.buffer.len() > 0 {
            state.write_blocked |= shared.context.write_through && !waited;
            shared.on_queued(&mut state);
        }
    }

    fn seal_batches(&self, seal: &Arc<dyn Seal>) -> bool {
        self.0.state().buffer.seal_batches(seal)
    }

    fn give_socket(
        &self,
        take: &mut dyn FnMut(BorrowedFd<'_>) -> std::io::Result<bool>,
    ) -> std::io::Result<bool> {
        let mut state = self.0.state();
        self.0.flush(&mut state);
        if state.buffer.len() == 0 && state.condition == Condition::Open {
            state.in_kernel = take(self.0.socket.as_fd())?;
        }
        Ok(state.in_kernel)
    }
}

impl ConnectionIo {
    pub(super) fn new(socket: OwnedFd, slot: usize, context: Arc<LoopContext>) -> ConnectionIo {
        let buffer =
            if context.coalesce { WriteBuffer::open(context.has_lines) } else { WriteBuffer::classic() };
        let condition = Condition::Open;
        let state = State { buffer, condition, write_blocked: false, dirty: false, in_kernel: false };
        ConnectionIo(Arc::new(Shared { socket, slot, context, state: Mutex::new(state) }))
    }

    /// Number of bytes in the buffer.
    pub(super) fn queued_bytes(&self) -> usize {
        self.0.state().buffer.len()
    }

    /// The connection takes more: writes what waits.
    pub(super) fn flush(&self) {
        let mut state = self.0.state();
        self.0.flush(&mut state);
        self.0.mark_dirty(&mut state);
    }

    /// Writes the buffer, unless the connection is write-blocked, and returns its state. Called when the loop services the connection.
    pub(super) fn flush_and_poll(&self) -> OutputStatus {
        let mut state = self.0.state();
        state.dirty = false;
        if state.condition != Condition::Broken && !state.write_blocked {
            self.0.flush(&mut state);
        }
        OutputStatus {
            condition: state.condition,
            write_blocked: state.write_blocked,
            done: state.buffer.len() == 0,
        }
    }

    /// Takes nothing more; what waits may still be written.
    pub(super) fn end(&self) {
        self.0.state().end();
    }

    /// Whether the kernel makes the records of TLS.
    pub(super) fn is_in_kernel(&self) -> bool {
        self.0.state().in_kernel
    }

    /// Sends the alert at the end of a connection whose records the kernel makes, unless a part of the bytes before is missing.
    pub(super) fn say_end(&self) {
        let state = self.0.state();
        if state.in_kernel && state.condition != Condition::Broken && state.buffer.len() == 0 {
            // The client may be gone.
            let _ = klatch_protocol::tls::send_close_notify(&self.0.socket);
        }
    }

    /// Empties the buffer, and writes only a last message.
    pub(super) fn close_with(&self, last: &Arc<[u8]>) {
        let mut state = self.0.state();
        state.buffer.end_with(last);
        state.end();
        self.0.flush(&mut state);
    }
}

impl AsFd for ConnectionIo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

impl State {
    fn end(&mut self) {
        if self.condition != Condition::Broken {
            self.condition = Condition::Closed;
        }
    }
}

impl Shared {
    /// Nobody panics with this lock held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something waits: its loop is to write it, unless that is so much that it has to be written now.
    fn on_queued(&self, state: &mut State) {
        let (waiting, limit) = (state.buffer.len(), self.context.sendq_bytes);
        if waiting > limit || waiting > BATCH_BYTES && !state.write_blocked {
            self.flush(state);
            if state.buffer.len() > limit {
                state.condition = Condition::Overflowed;
            }
        }
        self.mark_dirty(state);
    }

    fn mark_dirty(&self, state: &mut State) {
        if !std::mem::replace(&mut state.dirty, true) {
            self.context.mailbox.mark_dirty(self.slot);
        }
    }

    /// Writes what waits, as far as the connection takes it.
    fn flush(&self, state: &mut State) {
        if state.buffer.flush(|bytes| self.write(bytes)).is_err() {
            state.condition = Condition::Broken;
        }
        state.write_blocked = state.buffer.len() > 0;
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
}
