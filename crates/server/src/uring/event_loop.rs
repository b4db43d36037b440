//! One event loop. Each turn submits and waits, dispatches the commands of completed receives, which fills the queues
//! of other connections, and then submits the next line of every connection that has one and is not sending.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use klatch_protocol::service::{Flow, Service, Visit};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use super::acceptor::Acceptor;
use super::ring::{Completion, Received, Ring, SendBuffer};
use crate::admission::HalfOpen;
use crate::mailbox::{Arrival, Mailbox, PendingWork};
use crate::request_clock::{Check, RequestClock};
use crate::send_queue::{Next, SendQueue, Writer};
use crate::slots::Slots;
use crate::{ServeError, ServeOptions};

const WAKEUP: usize = 0;
const STOP: usize = 1;
/// So many bytes are sent together at most, and a line.
const BATCH_BYTES: usize = 64 * 1024;

/// A connection as its senders see it.
pub(crate) struct ConnectionIo {
    socket: OwnedFd,
    slot: usize,
    mailbox: Arc<Mailbox>,
    /// No more input is wanted. Input that arrives after the shutdown can still be read.
    stopped: AtomicBool,
}

impl Writer for ConnectionIo {
    fn wake(&self) {
        self.mailbox.mark_dirty(self.slot);
    }

    fn stop_reading(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Fails only for a connection that is gone already, and then nobody reads.
        let _ = shutdown(&self.socket, Shutdown::Read);
    }
}

struct Connection<V> {
    visit: V,
    out: SendQueue<ConnectionIo>,
    /// Until it is registered.
    half_open: Option<HalfOpen>,
    request: RequestClock,
    /// The visit is over; its last lines are on their way.
    closing: bool,
    /// Shut down; the ring still has to let go of it.
    shut_down: bool,
    receiving: bool,
    sending: bool,
}

pub(super) struct EventLoop<S: Service<SendQueue<ConnectionIo>>> {
    coalesce: bool,
    sendq_bytes: usize,
    ring: Ring,
    service: Arc<S>,
    mailbox: Arc<Mailbox>,
    /// Only in the first loop.
    acceptor: Option<Acceptor>,
    patience: Duration,
    slots: Slots<Connection<S::Visit>>,
}

impl<S: Service<SendQueue<ConnectionIo>>> EventLoop<S> {
    pub(super) fn new(
        options: &ServeOptions,
        mailbox: &Arc<Mailbox>,
        service: &Arc<S>,
    ) -> Result<EventLoop<S>, ServeError> {
        Ok(EventLoop {
            coalesce: options.coalesce,
            sendq_bytes: options.sendq_bytes,
            ring: Ring::new()?,
            service: Arc::clone(service),
            mailbox: Arc::clone(mailbox),
            acceptor: None,
            patience: options.patience(),
            slots: Slots::new(options.patience()),
        })
    }

    /// Makes this loop accept the connections of all loops, and handle the stop.
    pub(super) fn set_acceptor(&mut self, acceptor: Acceptor) {
        self.acceptor = Some(acceptor);
    }

    pub(super) fn run(&mut self) -> Result<(), ServeError> {
        let _owner = self.mailbox.own();
        self.ring.start()?;
        let done = self.work();
        self.ring.finish();
        done
    }

    fn work(&mut self) -> Result<(), ServeError> {
        self.ring.poll(&*self.mailbox, WAKEUP);
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.start(&mut self.ring, STOP);
        }
        let mut pending = PendingWork::default();
        loop {
            let deadline = self.deadline();
            let timeout = if self.mailbox.prepare_to_wait() {
                deadline.map(|at| at.saturating_duration_since(Instant::now()))
            } else {
                Some(Duration::ZERO)
            };
            let count = self.ring.wait(timeout).map_err(ServeError::system("wait for io_uring"))?;
            self.mailbox.finish_wait();
            for number in 0..count {
                self.on_completion(number);
            }
            if deadline.is_some() {
                self.expire_timeouts();
            }
            while self.mailbox.exchange(&mut pending) {
                if pending.closed {
                    // Ends all connections at once, without QUIT lines to the others.
                    self.slots.iter().for_each(|connection| connection.out.shutdown());
                    return Ok(());
                }
                pending.arrivals.drain(..).for_each(|arrival| self.add_connection(arrival));
                pending.dirty.drain(..).for_each(|slot| self.send_next(slot));
            }
        }
    }

    fn on_completion(&mut self, number: usize) {
        match self.ring.completion(number) {
            Completion::Accepted { socket, armed } => {
                if let Some(acceptor) = &mut self.acceptor {
                    acceptor.on_accepted(socket, armed, &mut self.ring);
                }
            }
            Completion::Readable { token: STOP, .. } => self.mailbox.close(),
            Completion::Readable { armed, .. } => {
                self.mailbox.drain_wakeup();
                if !armed {
                    self.ring.poll(&*self.mailbox, WAKEUP);
                }
            }
            Completion::Received { slot, received, armed } => self.on_received(slot, received, armed),
            Completion::Sent { slot, sent } => self.on_sent(slot, sent),
        }
    }

    /// When there is something to do though nothing happens.
    fn deadline(&mut self) -> Option<Instant> {
        let is_pending = |connection: &Connection<S::Visit>| {
            connection.half_open.is_some() || connection.closing && !connection.shut_down
        };
        let accept = self.acceptor.as_ref().and_then(|acceptor| acceptor.resume_at);
        [self.slots.next_deadline(is_pending), accept].into_iter().flatten().min()
    }

    fn expire_timeouts(&mut self) {
        let now = Instant::now();
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.resume(now, &mut self.ring);
        }
        while let Some(slot) = self.slots.pop_expired(now) {
            match self.slots.get_mut(slot) {
                Some(connection) if connection.closing => self.shut_down(slot),
                Some(connection) if connection.half_open.is_some() => {
                    connection.visit.close(b"Registration timed out");
                    self.begin_closing(slot);
                }
                _ => {}
            }
        }
        while let Some(slot) = self.slots.pop_check(now) {
            let Some(connection) = self.slots.get_mut(slot).filter(|connection| !connection.closing) else {
                continue;
            };
            match connection.request.check(now, self.patience) {
                Check::Idle => {}
                Check::Waiting => self.slots.start_check(slot, now),
                Check::Overdue => {
                    connection.visit.close(b"Request timed out");
                    self.begin_closing(slot);
                }
            }
        }
    }

    /// A new connection is this loop's.
    fn add_connection(&mut self, Arrival { socket, from, half_open }: Arrival) {
        self.slots.insert_with(Instant::now(), |slot| {
            self.ring.receive(slot, &socket);
            let io = ConnectionIo {
                socket,
                slot,
                mailbox: Arc::clone(&self.mailbox),
                stopped: AtomicBool::new(false),
            };
            let out = SendQueue::new(self.sendq_bytes, io);
            let visit = self.service.enter(from.ip(), out.clone());
            Some(Connection {
                half_open: (!visit.registered()).then_some(half_open),
                visit,
                out,
                request: RequestClock::default(),
                closing: false,
                shut_down: false,
                receiving: true,
                sending: false,
            })
        });
    }

    fn on_received(&mut self, slot: usize, received: Result<Received, Errno>, armed: bool) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        connection.receiving = armed;
        if connection.shut_down {
            if let Ok(received) = received {
                self.ring.recycle(received);
            }
            return self.release_slot(slot);
        }
        match received {
            Ok(received) => {
                let bytes = self.ring.bytes(&received);
                let at_end = bytes.is_empty() || connection.out.writer().stopped.load(Ordering::Relaxed);
                let flow =
                    if connection.closing || at_end { Flow::Continue } else { connection.visit.feed(bytes) };
                self.ring.recycle(received);
                if connection.visit.registered() {
                    connection.half_open = None;
                }
                if at_end {
                    return self.on_end_of_input(slot);
                }
                let starts = connection.request.follow(connection.visit.incomplete_request());
                if flow == Flow::Close && !connection.closing {
                    self.begin_closing(slot);
                } else if starts {
                    self.slots.start_check(slot, Instant::now());
                }
            }
            // No buffer was free: those that were taken are given back in this turn.
            Err(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return self.drop_connection(slot, b"Connection reset"),
        }
        if !armed && let Some(connection) = self.slots.get_mut(slot) {
            connection.receiving = true;
            self.ring.receive(slot, &connection.out.writer().socket);
        }
    }

    /// The end of the input: of the connection's, or the one that an overflow makes.
    fn on_end_of_input(&mut self, slot: usize) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        if connection.closing {
            // The client may still read the last lines. They are being sent, or the time-out ends the connection.
            return;
        }
        if S::REPLIES_ONLY && !connection.out.overflowed() {
            // The client may have ended its output alone; it still gets its replies.
            connection.visit.hang_up(b"Connection closed");
            return self.begin_closing(slot);
        }
        if !connection.out.overflowed() {
            return self.drop_connection(slot, b"Connection closed");
        }
        connection.visit.hang_up(b"SendQ exceeded");
        connection.out.close_with(S::closing_message(b"SendQ exceeded"));
        self.begin_closing(slot);
    }

    fn on_sent(&mut self, slot: usize, sent: Result<(), Errno>) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        connection.sending = false;
        if connection.shut_down {
            self.release_slot(slot);
        } else if sent.is_err() {
            self.drop_connection(slot, b"Connection reset");
        } else {
            self.send_next(slot);
        }
    }

    /// Sends what waits, if nothing is being sent.
    fn send_next(&mut self, slot: usize) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        if connection.sending || connection.shut_down {
            return;
        }
        let together = connection.out.pop_batch(self.coalesce, BATCH_BYTES);
        let buffer = match together.is_empty() {
            false => SendBuffer::Batch(together),
            true => match connection.out.next() {
                Next::Write(line) => SendBuffer::Line(line),
                Next::Wait => return,
                Next::Stop if connection.closing => return self.shut_down(slot),
                Next::Stop => return,
            },
        };
        connection.sending = true;
        self.ring.send(slot, &connection.out.writer().socket, buffer);
    }

    /// The visit is over; the connection stays until its last lines are sent, or its time is over.
    fn begin_closing(&mut self, slot: usize) {
        if let Some(connection) = self.slots.get_mut(slot) {
            connection.closing = true;
            connection.out.close();
            self.slots.start_timeout(slot, Instant::now());
        }
    }

    /// The connection is gone.
    fn drop_connection(&mut self, slot: usize, reason: &[u8]) {
        if let Some(connection) = self.slots.get_mut(slot) {
            connection.visit.hang_up(reason);
            self.shut_down(slot);
        }
    }

    /// Shuts the connection down, which ends its operations.
    fn shut_down(&mut self, slot: usize) {
        if let Some(connection) = self.slots.get_mut(slot) {
            connection.shut_down = true;
            // A client that sees this connection close may connect in its place, so the place is free before the close.
            connection.half_open = None;
            connection.out.shutdown();
            let _ = shutdown(&connection.out.writer().socket, Shutdown::Both);
            self.release_slot(slot);
        }
    }

    /// Removes a connection that is shut down, once the ring has no operation for its slot.
    fn release_slot(&mut self, slot: usize) {
        self.slots.remove_if(slot, |connection| !connection.receiving && !connection.sending);
    }
}
