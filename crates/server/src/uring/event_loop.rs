//! One loop. What a turn of it does: submit, and wait; do what those who have said something ask for, which fills
//! the queues of others; then give the ring the next line of every connection that has one and is not sending.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use klatch_chat::{Flow, ServerState, Session};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use super::reception::Reception;
use super::ring::{Done, Parcel, Received, Ring};
use crate::door::HalfOpen;
use crate::inbox::{Arrival, Inbox, Letters};
use crate::outgoing::{Next, Outgoing, Writer};
use crate::waiting::{Ticket, Waiting};
use crate::{ServeError, ServeOptions};

const BELL: usize = 0;
const STOP: usize = 1;
/// So many bytes are sent together at most, and a line.
const GATHER_BYTES: usize = 64 * 1024;

/// A connection as those see it who have lines for it.
pub(super) struct Wire {
    socket: OwnedFd,
    slot: usize,
    inbox: Arc<Inbox>,
}

impl Writer for Wire {
    fn wake(&self) {
        self.inbox.note(self.slot);
    }

    fn stop_reading(&self) {
        // Fails only for a connection that is gone already, and then nobody reads.
        let _ = shutdown(&self.socket, Shutdown::Read);
    }
}

struct Connection {
    session: Session<Outgoing<Wire>>,
    out: Outgoing<Wire>,
    serial: u64,
    /// Until it is registered.
    half_open: Option<HalfOpen>,
    /// The session is over; its last lines are on their way.
    closing: bool,
    /// Shut down; the ring still has to let go of it.
    ended: bool,
    receiving: bool,
    sending: bool,
}

pub(super) struct EventLoop {
    coalesce: bool,
    sendq_bytes: usize,
    ring: Ring,
    state: Arc<ServerState<Outgoing<Wire>>>,
    inbox: Arc<Inbox>,
    /// The first loop has it.
    reception: Option<Reception>,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    arrived: u64,
    waiting: Waiting,
}

impl EventLoop {
    pub(super) fn new(
        options: &ServeOptions,
        inbox: &Arc<Inbox>,
        state: &Arc<ServerState<Outgoing<Wire>>>,
    ) -> Result<EventLoop, ServeError> {
        Ok(EventLoop {
            coalesce: options.coalesce,
            sendq_bytes: options.sendq_bytes,
            ring: Ring::new()?,
            state: Arc::clone(state),
            inbox: Arc::clone(inbox),
            reception: None,
            slots: Vec::new(),
            free: Vec::new(),
            arrived: 0,
            waiting: Waiting::new(Duration::from_secs(options.registration_timeout_s.into())),
        })
    }

    /// Accepts the connections for all loops, and hears when they have to stop.
    pub(super) fn receive(&mut self, reception: Reception) {
        self.reception = Some(reception);
    }

    pub(super) fn run(&mut self) -> Result<(), ServeError> {
        self.ring.start()?;
        let done = self.work();
        self.ring.finish();
        done
    }

    fn work(&mut self) -> Result<(), ServeError> {
        self.ring.poll(&*self.inbox, BELL);
        if let Some(reception) = &mut self.reception {
            reception.open(&mut self.ring, STOP);
        }
        let mut letters = Letters::default();
        loop {
            let deadline = self.deadline();
            let timeout = if self.inbox.may_sleep() {
                deadline.map(|at| at.saturating_duration_since(Instant::now()))
            } else {
                Some(Duration::ZERO)
            };
            let count = self.ring.wait(timeout).map_err(ServeError::system("wait for io_uring"))?;
            self.inbox.woken();
            for number in 0..count {
                self.act_on(number);
            }
            if deadline.is_some() {
                self.keep_time();
            }
            while self.inbox.exchange(&mut letters) {
                if letters.closed {
                    // Ends all at once: nobody is told that the others leave.
                    self.slots.iter().flatten().for_each(|connection| connection.out.fall_silent());
                    return Ok(());
                }
                letters.arrivals.drain(..).for_each(|arrival| self.welcome(arrival));
                letters.noted.drain(..).for_each(|slot| self.send_next(slot));
            }
        }
    }

    fn act_on(&mut self, number: usize) {
        match self.ring.done(number) {
            Done::Accepted { socket, armed } => {
                if let Some(reception) = &mut self.reception {
                    reception.take(socket, armed, &mut self.ring);
                }
            }
            Done::Readable { token: STOP, .. } => self.inbox.close(),
            Done::Readable { armed, .. } => {
                self.inbox.silence_bell();
                if !armed {
                    self.ring.poll(&*self.inbox, BELL);
                }
            }
            Done::Received { slot, received, armed } => self.received(slot, received, armed),
            Done::Sent { slot, sent } => self.sent(slot, sent),
        }
    }

    /// When there is something to do though nothing happens.
    fn deadline(&mut self) -> Option<Instant> {
        let slots = &self.slots;
        let counts = |ticket: Ticket| match &slots[ticket.slot] {
            Some(connection) if connection.serial == ticket.serial => {
                connection.half_open.is_some() || connection.closing && !connection.ended
            }
            _ => false,
        };
        let accept = self.reception.as_ref().and_then(|reception| reception.again_at);
        [self.waiting.next(counts), accept].into_iter().flatten().min()
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        if let Some(reception) = &mut self.reception {
            reception.keep_time(now, &mut self.ring);
        }
        while let Some(ticket) = self.waiting.overdue(now) {
            match &mut self.slots[ticket.slot] {
                Some(connection) if connection.serial != ticket.serial => {}
                Some(connection) if connection.closing => self.end(ticket.slot),
                Some(connection) if connection.half_open.is_some() => {
                    connection.session.close(b"Registration timed out");
                    self.begin_closing(ticket.slot);
                }
                _ => {}
            }
        }
    }

    /// A new connection is this loop's.
    fn welcome(&mut self, Arrival { socket, from, half_open }: Arrival) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.ring.receive(slot, &socket);
        let wire = Wire { socket, slot, inbox: Arc::clone(&self.inbox) };
        let out = Outgoing::new(self.sendq_bytes, wire);
        self.arrived += 1;
        let serial = self.arrived;
        self.slots[slot] = Some(Connection {
            session: Session::new(&self.state, from.ip(), out.clone()),
            out,
            serial,
            half_open: Some(half_open),
            closing: false,
            ended: false,
            receiving: true,
            sending: false,
        });
        self.waiting.begin(Ticket { slot, serial }, Instant::now());
    }

    fn received(&mut self, slot: usize, received: Result<Received, Errno>, armed: bool) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        connection.receiving = armed;
        if connection.ended {
            if let Ok(received) = received {
                self.ring.give_back(received);
            }
            return self.forget(slot);
        }
        match received {
            Ok(received) => {
                let bytes = self.ring.bytes(&received);
                let at_end = bytes.is_empty();
                let flow = if connection.closing { Flow::Continue } else { connection.session.feed(bytes) };
                self.ring.give_back(received);
                if connection.session.registered() {
                    connection.half_open = None;
                }
                if at_end {
                    return self.at_end(slot);
                }
                if flow == Flow::Close && !connection.closing {
                    self.begin_closing(slot);
                }
            }
            // No buffer was free: those that were taken are given back in this turn.
            Err(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return self.lose(slot, b"Connection reset"),
        }
        if !armed && let Some(connection) = &mut self.slots[slot] {
            connection.receiving = true;
            self.ring.receive(slot, &connection.out.writer().socket);
        }
    }

    /// The end of the input: of the connection's, or the one that an overflow makes.
    fn at_end(&mut self, slot: usize) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        if connection.closing {
            // Who has hung up may still hear the last lines. They are on their way, or the time for them will be over.
            return;
        }
        if !connection.out.overflowed() {
            return self.lose(slot, b"Connection closed");
        }
        connection.session.hang_up(b"SendQ exceeded");
        connection.out.end_with_error(b"SendQ exceeded");
        self.begin_closing(slot);
    }

    fn sent(&mut self, slot: usize, sent: Result<(), Errno>) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        connection.sending = false;
        if connection.ended {
            self.forget(slot);
        } else if sent.is_err() {
            self.lose(slot, b"Connection reset");
        } else {
            self.send_next(slot);
        }
    }

    /// Sends what waits, if nothing is being sent.
    fn send_next(&mut self, slot: usize) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        if connection.sending || connection.ended {
            return;
        }
        let together = connection.out.take_together(self.coalesce, GATHER_BYTES);
        let parcel = match together.is_empty() {
            false => Parcel::Gathered(together),
            true => match connection.out.next() {
                Next::Write(line) => Parcel::Line(line),
                Next::Wait => return,
                Next::Stop if connection.closing => return self.end(slot),
                Next::Stop => return,
            },
        };
        connection.sending = true;
        self.ring.send(slot, &connection.out.writer().socket, parcel);
    }

    /// The session is over; the connection stays until its last lines are sent, or its time is over.
    fn begin_closing(&mut self, slot: usize) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.closing = true;
            connection.out.end();
            self.waiting.begin(Ticket { slot, serial: connection.serial }, Instant::now());
        }
    }

    /// The connection is gone.
    fn lose(&mut self, slot: usize, reason: &[u8]) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.session.hang_up(reason);
            self.end(slot);
        }
    }

    /// Shuts the connection down, which ends its operations.
    fn end(&mut self, slot: usize) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.ended = true;
            // Who sees that it is gone may come in its place.
            connection.half_open = None;
            connection.out.fall_silent();
            let _ = shutdown(&connection.out.writer().socket, Shutdown::Both);
            self.forget(slot);
        }
    }

    /// Forgets a connection that has ended, when no operation has its slot any more.
    fn forget(&mut self, slot: usize) {
        if self.slots[slot].take_if(|one| !one.receiving && !one.sending).is_some() {
            self.free.push(slot);
        }
    }
}
