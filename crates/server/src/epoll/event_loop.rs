//! One event loop. Each turn waits for events, reads from connections with input and dispatches their commands, which
//! marks other connections dirty, and then services dirty connections.

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use klatch_protocol::old_epoll::OldEpoll;
use klatch_protocol::service::{Flow, Service, Visit};
use klatch_protocol::tls::ControlRecord;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags};

use super::acceptor::Acceptor;
use super::connection_io::{Condition, ConnectionIo, LoopContext};
use crate::admission::{self, HalfOpen};
use crate::linger::linger;
use crate::mailbox::{Arrival, Mailbox, PendingWork};
use crate::request_clock::{Check, RequestClock};
use crate::slots::Slots;
use crate::{ServeError, ServeOptions};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const WAKEUP: u64 = u64::MAX - 2;
const EVENTS_MAX: usize = 1024;
/// With batched deliveries, the loop polls again after each such part of the dirty connections: after one connection if
/// there are few, and more if there are many, so that none waits long.
const PARTS: usize = 256;
/// Number of dirty connections among which the longest send queue is written first: its client is the least likely to send more.
/// Without this choice a message takes 10 % more CPU time: research/notes/2026-11-23-duet.md.
const CANDIDATES: usize = 16;
/// Every fourth write takes the connection that has waited longest, so that each is written eventually.
const TURN_OF_THE_FIRST: u32 = 4;
const BUFFER_BYTES: usize = 64 * 1024;

struct Connection<V> {
    visit: V,
    io: ConnectionIo,
    /// Until it is registered.
    half_open: Option<HalfOpen>,
    request: RequestClock,
    /// The visit is over; its last lines are on their way.
    closing: bool,
    interest: epoll::EventFlags,
}

pub(super) struct EventLoop<S: Service<ConnectionIo>> {
    epoll: OwnedFd,
    /// Only on a kernel that does not wait in nanoseconds.
    old_epoll: Option<OldEpoll>,
    service: Arc<S>,
    context: Arc<LoopContext>,
    /// Only in the first loop.
    acceptor: Option<Acceptor>,
    patience: Duration,
    slots: Slots<Connection<S::Visit>>,
    /// Slots of dirty connections, in the order in which they became dirty.
    dirty: VecDeque<usize>,
    /// Number of connections serviced so far, modulo 2^32.
    services: u32,
    buffer: Box<[u8]>,
}

impl<S: Service<ConnectionIo>> EventLoop<S> {
    pub(super) fn new(
        options: &ServeOptions,
        mailbox: &Arc<Mailbox>,
        service: &Arc<S>,
    ) -> Result<EventLoop<S>, ServeError> {
        let epoll =
            epoll::create(epoll::CreateFlags::CLOEXEC).map_err(ServeError::system("open an epoll"))?;
        let mut none = [MaybeUninit::uninit(); 1];
        let old_epoll = match epoll::wait(&epoll, &mut none, Some(&Timespec::default())) {
            Err(Errno::NOSYS) => Some(OldEpoll::new(&epoll).map_err(ServeError::system("open an epoll"))?),
            _ => None,
        };
        let context = LoopContext {
            coalesce: options.coalesce,
            has_lines: !S::closing_message(b"").is_empty(),
            write_through: !options.coalesce && options.loops() == 1,
            sendq_bytes: options.sendq_bytes,
            mailbox: Arc::clone(mailbox),
        };
        let new = EventLoop {
            epoll,
            old_epoll,
            service: Arc::clone(service),
            context: Arc::new(context),
            acceptor: None,
            patience: options.patience(),
            slots: Slots::new(options.patience()),
            dirty: VecDeque::new(),
            services: 0,
            buffer: vec![0; BUFFER_BYTES].into(),
        };
        new.register(&**mailbox, WAKEUP)?;
        Ok(new)
    }

    /// Accepts the connections for all loops, and ends when `stop` becomes readable.
    pub(super) fn set_acceptor(
        &mut self,
        acceptor: Acceptor,
        stop: BorrowedFd<'_>,
    ) -> Result<(), ServeError> {
        self.register(&acceptor, LISTENER)?;
        self.register(stop, STOP)?;
        self.acceptor = Some(acceptor);
        Ok(())
    }

    fn register(&self, source: impl AsFd, token: u64) -> Result<(), ServeError> {
        epoll::add(&self.epoll, source, epoll::EventData::new_u64(token), epoll::EventFlags::IN)
            .map_err(ServeError::system("use epoll"))
    }

    pub(super) fn run(&mut self) -> Result<(), ServeError> {
        match self.old_epoll.take() {
            Some(old) => self.run_with(|_, events, timeout| {
                let whole_ms = |time: Duration| time.as_nanos().div_ceil(1_000_000) as u64;
                let event = |key, flags| epoll::Event {
                    flags: epoll::EventFlags::from_bits_retain(flags),
                    data: epoll::EventData::new_u64(key),
                };
                old.wait(timeout.map(whole_ms), |key, flags| events.push(event(key, flags)))
            }),
            None => self.run_with(|epoll, events, timeout| {
                let timeout = timeout.map(|time| Timespec {
                    tv_sec: time.as_secs() as i64,
                    tv_nsec: time.subsec_nanos().into(),
                });
                match epoll::wait(epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
                    Ok(_) | Err(Errno::INTR) => Ok(()),
                    Err(errno) => Err(errno.into()),
                }
            }),
        }
    }

    fn run_with(
        &mut self,
        wait: impl Fn(&OwnedFd, &mut Vec<epoll::Event>, Option<Duration>) -> io::Result<()>,
    ) -> Result<(), ServeError> {
        let _owner = self.context.mailbox.own();
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut pending = PendingWork::default();
        loop {
            let deadline = self.deadline();
            let timeout = if self.dirty.is_empty() && self.context.mailbox.prepare_to_wait() {
                deadline.map(|at| at.saturating_duration_since(Instant::now()))
            } else {
                Some(Duration::ZERO)
            };
            events.clear();
            wait(&self.epoll, &mut events, timeout).map_err(ServeError::system("wait for events"))?;
            self.context.mailbox.finish_wait();
            for event in &events {
                match event.data.u64() {
                    STOP => self.context.mailbox.close(),
                    LISTENER => self.accept(),
                    WAKEUP => self.context.mailbox.drain_wakeup(),
                    slot => self.on_ready(slot as usize, event.flags),
                }
            }
            if deadline.is_some() {
                self.expire_timeouts();
            }
            while self.context.mailbox.exchange(&mut pending) {
                if pending.closed {
                    self.shutdown();
                    return Ok(());
                }
                pending.arrivals.drain(..).for_each(|arrival| self.add_connection(arrival));
                self.dirty.extend(pending.dirty.drain(..));
            }
            self.service_some();
        }
    }

    /// The next time at which work is due without an event.
    fn deadline(&mut self) -> Option<Instant> {
        let is_pending =
            |connection: &Connection<S::Visit>| connection.half_open.is_some() || connection.closing;
        let accept = self.acceptor.as_ref().and_then(|acceptor| acceptor.resume_at);
        [self.slots.next_deadline(is_pending), accept].into_iter().flatten().min()
    }

    fn expire_timeouts(&mut self) {
        let now = Instant::now();
        if let Some(acceptor) = &mut self.acceptor
            && acceptor.resume_at.is_some_and(|at| at <= now)
        {
            acceptor.resume_at = None;
            self.listen_for_connections(true);
        }
        while let Some(slot) = self.slots.pop_expired(now) {
            match self.slots.get_mut(slot) {
                Some(connection) if connection.closing => self.remove(slot),
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

    fn accept(&mut self) {
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.accept();
            if acceptor.resume_at.is_some() {
                self.listen_for_connections(false);
            }
        }
    }

    fn listen_for_connections(&self, yes: bool) {
        let interest = if yes { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        if let Some(acceptor) = &self.acceptor {
            // The listener is in the epoll; there is nothing that could fail.
            let _ = epoll::modify(&self.epoll, acceptor, epoll::EventData::new_u64(LISTENER), interest);
        }
    }

    /// Adds a connection to this loop.
    fn add_connection(&mut self, Arrival { socket, from, half_open }: Arrival) {
        let interest = epoll::EventFlags::IN;
        self.slots.insert_with(Instant::now(), |slot| {
            let data = epoll::EventData::new_u64(slot as u64);
            if epoll::add(&self.epoll, &socket, data, interest).is_err() {
                admission::reject(&socket, "Out of memory");
                return None;
            }
            let io = ConnectionIo::new(socket, slot, Arc::clone(&self.context));
            let visit = self.service.enter(from.ip(), io.clone());
            let half_open = (!visit.registered()).then_some(half_open);
            Some(Connection {
                visit,
                io,
                half_open,
                request: RequestClock::default(),
                closing: false,
                interest,
            })
        });
    }

    /// Something happened at a connection.
    fn on_ready(&mut self, slot: usize, flags: epoll::EventFlags) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        if flags.contains(epoll::EventFlags::OUT) {
            connection.io.flush();
        }
        if !flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            return;
        }
        match net::recv(&connection.io, &mut self.buffer[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) if S::REPLIES_ONLY && !connection.closing => {
                // The client may have ended its output alone; it still gets its replies.
                connection.visit.hang_up(b"Connection closed");
                self.begin_closing(slot);
            }
            Ok((0, _)) => self.drop_connection(slot, b"Connection closed"),
            Ok(_) if connection.closing => {}
            Ok((count, _)) => {
                let flow = connection.visit.feed(&self.buffer[..count]);
                if connection.half_open.is_some() && connection.visit.registered() {
                    connection.half_open = None;
                }
                let starts = connection.request.follow(connection.visit.incomplete_request());
                if flow == Flow::Close {
                    self.begin_closing(slot);
                } else if starts {
                    self.slots.start_check(slot, Instant::now());
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::IO) if connection.io.is_in_kernel() => {
                match klatch_protocol::tls::receive_control_record(&connection.io) {
                    Ok(ControlRecord::Ignored) => {}
                    Ok(ControlRecord::Close) => self.drop_connection(slot, b"Connection closed"),
                    Err(_) => self.drop_connection(slot, b"TLS error"),
                }
            }
            Err(_) => self.drop_connection(slot, b"Connection reset"),
        }
    }

    /// Services dirty connections, the oldest first. With batched deliveries only a part of them, so that messages
    /// that arrive meanwhile reach the rest in the same write.
    fn service_some(&mut self) {
        let some = if self.context.coalesce { self.dirty.len().div_ceil(PARTS) } else { self.dirty.len() };
        for _ in 0..some {
            if let Some(slot) = self.next_dirty() {
                self.service(slot);
            }
        }
    }

    fn next_dirty(&mut self) -> Option<usize> {
        self.services = self.services.wrapping_add(1);
        if !self.context.coalesce || self.services.is_multiple_of(TURN_OF_THE_FIRST) {
            return self.dirty.pop_front();
        }
        let waiting =
            |place: &usize| self.slots.get(self.dirty[*place]).map_or(0, |one| one.io.queued_bytes());
        let most = (0..self.dirty.len().min(CANDIDATES)).rev().max_by_key(waiting);
        // The others stay in order, so that the oldest is taken in its turn.
        self.dirty.remove(most?)
    }

    /// Services a dirty connection.
    fn service(&mut self, slot: usize) {
        let Some(connection) = self.slots.get_mut(slot) else {
            return;
        };
        let status = connection.io.flush_and_poll();
        match status.condition {
            Condition::Overflowed => {
                connection.visit.hang_up(b"SendQ exceeded");
                connection.io.close_with(&S::closing_message(b"SendQ exceeded"));
                return self.begin_closing(slot);
            }
            Condition::Broken => return self.drop_connection(slot, b"Connection reset"),
            Condition::Closed if connection.closing && status.done => return self.remove(slot),
            Condition::Open | Condition::Closed => {}
        }
        let mut interest = epoll::EventFlags::empty();
        interest.set(epoll::EventFlags::IN, !connection.closing);
        interest.set(epoll::EventFlags::OUT, status.write_blocked);
        if interest != connection.interest {
            connection.interest = interest;
            let data = epoll::EventData::new_u64(slot as u64);
            if epoll::modify(&self.epoll, &connection.io, data, interest).is_err() {
                self.drop_connection(slot, b"Connection reset");
            }
        }
    }

    /// The visit is over; the connection stays until its last lines are written, or its time is over.
    fn begin_closing(&mut self, slot: usize) {
        if let Some(connection) = self.slots.get_mut(slot) {
            connection.closing = true;
            connection.io.end();
            self.slots.start_timeout(slot, Instant::now());
            // At once: no more input is to be read, not even an incomplete line.
            self.service(slot);
        }
    }

    /// The connection is gone.
    fn drop_connection(&mut self, slot: usize, reason: &[u8]) {
        if let Some(connection) = self.slots.get_mut(slot) {
            connection.visit.hang_up(reason);
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: usize) {
        if let Some(mut connection) = self.slots.remove_if(slot, |_| true) {
            // A client that sees this connection close may connect in its place, so the place is free before the close.
            connection.half_open = None;
            connection.io.say_end();
            // Without another descriptor, the end of this one removes it from the epoll too.
            if connection.visit.may_send_more() && linger(&connection.io) {
                // It was registered, so this fails only for want of memory; then events of a free slot are ignored.
                let _ = epoll::delete(&self.epoll, &connection.io);
            }
        }
    }

    /// Ends all connections at once, without QUIT lines to the others.
    fn shutdown(&self) {
        self.slots.iter().for_each(|connection| connection.io.end());
    }
}
