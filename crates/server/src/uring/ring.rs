//! A ring, and the few operations that a chat server asks of it, as safe functions: whatever an operation uses belongs
//! to the ring until the operation is done.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags};

use super::buffers::Buffers;
use crate::ServeError;

const ENTRIES: u32 = 1024;
const COMPLETIONS: u32 = 8 * ENTRIES;

const ACCEPT: u64 = 0;
const POLL: u64 = 1;
const RECEIVE: u64 = 2;
const SEND: u64 = 3;
/// The lower bits of a token are the operation, the others its slot.
const KIND_BITS: u32 = 2;

/// What is sent: a line, or several that were batch.
pub(super) enum SendBuffer {
    Line(Arc<[u8]>),
    Batch(Vec<u8>),
}

/// Something was done. `armed`: it will be done again.
pub(super) enum Completion {
    Accepted { socket: Result<OwnedFd, Errno>, armed: bool },
    Readable { token: usize, armed: bool },
    Received { slot: usize, received: Result<Received, Errno>, armed: bool },
    Sent { slot: usize, sent: Result<(), Errno> },
}

/// Bytes in a buffer; no buffer at the end of the input.
pub(super) struct Received {
    buffer: Option<u16>,
    count: usize,
}

pub(super) struct Ring {
    uring: IoUring,
    buffers: ManuallyDrop<Buffers>,
    /// By slot: what is under way.
    in_flight: ManuallyDrop<Vec<Option<SendBuffer>>>,
    /// Operations that did not fit into the ring.
    backlog: VecDeque<squeue::Entry>,
    completions: Vec<cqueue::Entry>,
    /// Operations may be under way.
    busy: bool,
}

impl Ring {
    pub(super) fn new() -> Result<Ring, ServeError> {
        let unsupported = |error: io::Error| ServeError::IoUring { reason: explain(error) };
        let uring = IoUring::builder()
            .setup_cqsize(COMPLETIONS)
            .setup_submit_all()
            // Completions are taken when the loop asks for them, by the one thread that has the ring.
            .setup_single_issuer()
            .setup_defer_taskrun()
            // The thread that starts it is that one.
            .setup_r_disabled()
            .build(ENTRIES)
            .map_err(unsupported)?;
        let buffers = Buffers::new();
        // SAFETY: `drop` keeps the buffers for as long as an operation may be under way.
        unsafe { buffers.register(&uring.submitter()) }.map_err(unsupported)?;
        Ok(Ring {
            uring,
            buffers: ManuallyDrop::new(buffers),
            in_flight: ManuallyDrop::default(),
            backlog: VecDeque::new(),
            completions: Vec::new(),
            busy: false,
        })
    }

    /// The ring is this thread's from now on.
    pub(super) fn start(&mut self) -> Result<(), ServeError> {
        self.busy = true;
        self.uring.submitter().register_enable_rings().map_err(ServeError::system("start an io_uring"))
    }

    /// Cancels whatever is under way.
    pub(super) fn finish(&mut self) {
        self.backlog.clear();
        let cancelled = self.uring.submitter().register_sync_cancel(None, CancelBuilder::any());
        self.busy = match cancelled {
            Ok(()) => false,
            Err(error) => Errno::from_io_error(&error) != Some(Errno::NOENT),
        };
    }

    /// Accepts every connection, as blocking sockets; each completion has `token`.
    pub(super) fn accept(&mut self, listener: impl AsFd) {
        let flags = SocketFlags::CLOEXEC.bits() as i32;
        self.push(opcode::AcceptMulti::new(fd(listener)).flags(flags).build(), ACCEPT, 0);
    }

    /// Completes with `token` whenever the source becomes readable.
    pub(super) fn poll(&mut self, what: impl AsFd, token: usize) {
        let flags = PollFlags::IN.bits().into();
        self.push(opcode::PollAdd::new(fd(what), flags).multi(true).build(), POLL, token);
    }

    /// Receives from a connection, repeatedly, into provided buffers.
    pub(super) fn receive(&mut self, slot: usize, socket: impl AsFd) {
        self.push(opcode::RecvMulti::new(fd(socket), Buffers::GROUP).build(), RECEIVE, slot);
    }

    /// Sends all of `buffer`. Nothing else may be under way for this slot.
    pub(super) fn send(&mut self, slot: usize, socket: impl AsFd, buffer: SendBuffer) {
        if self.in_flight.len() <= slot {
            self.in_flight.resize_with(slot + 1, || None);
        }
        assert!(self.in_flight[slot].is_none(), "one send at a time");
        let bytes: &[u8] = match &buffer {
            SendBuffer::Line(line) => line,
            SendBuffer::Batch(bytes) => bytes,
        };
        let flags = SendFlags::NOSIGNAL.bits() | RecvFlags::WAITALL.bits();
        let send = opcode::Send::new(fd(socket), bytes.as_ptr(), bytes.len() as u32).flags(flags as i32);
        let send = send.build();
        // Moves the buffer, but not its bytes: they are on the heap.
        self.in_flight[slot] = Some(buffer);
        self.push(send, SEND, slot);
    }

    fn push(&mut self, entry: squeue::Entry, kind: u64, token: usize) {
        let entry = entry.user_data(kind | (token as u64) << KIND_BITS);
        // SAFETY: the memory that the entry points to stays allocated: bytes in `in_flight` until they are sent, `buffers` to the end.
        if !self.backlog.is_empty() || unsafe { self.uring.submission().push(&entry) }.is_err() {
            self.backlog.push_back(entry);
        }
    }

    /// Submits all operations, waits for one to be done (`None`: as long as it takes), and returns how many are.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> Result<usize, Errno> {
        let timeout = if self.refill() { timeout } else { Some(Duration::ZERO) };
        let submitter = self.uring.submitter();
        let submitted = match timeout {
            None => submitter.submit_and_wait(1),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        };
        match submitted.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
            // Busy: completions have to be taken before more can be submitted.
            Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
            Err(errno) => return Err(errno),
        }
        self.completions.clear();
        self.completions.extend(self.uring.completion());
        Ok(self.completions.len())
    }

    /// Moves the backlog into the ring. `false`: it is longer than that.
    fn refill(&mut self) -> bool {
        while let Some(entry) = self.backlog.front() {
            // SAFETY: as in `push`.
            if unsafe { self.uring.submission().push(entry) }.is_err() {
                return false;
            }
            self.backlog.pop_front();
        }
        true
    }

    /// What was done, by its number in the last wait; each is asked for once.
    pub(super) fn completion(&mut self, number: usize) -> Completion {
        let entry = &self.completions[number];
        let (name, flags) = (entry.user_data(), entry.flags());
        let token = (name >> KIND_BITS) as usize;
        let armed = cqueue::more(flags);
        let result = match entry.result() {
            count @ 0.. => Ok(count as usize),
            negative => Err(Errno::from_raw_os_error(-negative)),
        };
        match name & ((1 << KIND_BITS) - 1) {
            ACCEPT => {
                // SAFETY: the descriptor is new and owned by nothing else.
                let socket = result.map(|raw| unsafe { OwnedFd::from_raw_fd(raw as i32) });
                Completion::Accepted { socket, armed }
            }
            POLL => Completion::Readable { token, armed },
            RECEIVE => {
                let buffer = cqueue::buffer_select(flags);
                let received = result.map(|count| Received { buffer, count });
                Completion::Received { slot: token, received, armed }
            }
            _ => {
                let buffer = self.in_flight[token].take();
                let whole = buffer.map_or(0, |buffer| buffer.len());
                let sent =
                    result.and_then(|count| if count == whole { Ok(()) } else { Err(Errno::CONNRESET) });
                Completion::Sent { slot: token, sent }
            }
        }
    }

    /// The bytes that were received; none at the end of the input.
    pub(super) fn bytes(&self, received: &Received) -> &[u8] {
        received.buffer.map_or(&[], |buffer| self.buffers.filled(buffer, received.count))
    }

    /// The bytes have been read.
    pub(super) fn recycle(&mut self, received: Received) {
        if let Some(buffer) = received.buffer {
            self.buffers.recycle(buffer);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // What may still be under way would go on using this memory.
        if !self.busy {
            // SAFETY: dropped once, here.
            unsafe {
                ManuallyDrop::drop(&mut self.buffers);
                ManuallyDrop::drop(&mut self.in_flight);
            }
        }
    }
}

impl SendBuffer {
    fn len(&self) -> usize {
        match self {
            SendBuffer::Line(line) => line.len(),
            SendBuffer::Batch(bytes) => bytes.len(),
        }
    }
}

fn fd(what: impl AsFd) -> Fd {
    Fd(what.as_fd().as_raw_fd())
}

fn explain(error: io::Error) -> String {
    match Errno::from_io_error(&error) {
        Some(Errno::NOSYS) => "this kernel has no io_uring; take another model".into(),
        Some(Errno::INVAL) => {
            "the io_uring of this kernel is too old, Linux 6.1 or newer is needed; take another model".into()
        }
        Some(Errno::PERM | Errno::ACCESS) => {
            "it is forbidden here; allow it with `sysctl -w kernel.io_uring_disabled=0`, in a container by its seccomp profile too, or take another model"
                .into()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_why_io_uring_is_forbidden_is_reported() {
        let text = |errno: Errno| explain(errno.into());
        assert!(text(Errno::NOSYS).starts_with("this kernel has no io_uring"));
        assert!(text(Errno::INVAL).contains("Linux 6.1 or newer"));
        assert!(text(Errno::PERM).contains("sysctl -w kernel.io_uring_disabled=0"));
        assert_eq!(text(Errno::NOMEM), io::Error::from(Errno::NOMEM).to_string());
    }
}
