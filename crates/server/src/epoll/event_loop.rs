//! One loop. What a turn of it does: wait; read from those who have said something and do what they ask for, which
//! writes to others; then look after the connections that need it.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use klatch_chat::{Flow, ServerState, Session};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags};

use super::link::{Condition, Link, Owner};
use super::reception::Reception;
use crate::door::{self, HalfOpen};
use crate::inbox::{Arrival, Inbox, Letters};
use crate::linger::linger;
use crate::waiting::{Ticket, Waiting};
use crate::{ServeError, ServeOptions};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const BELL: u64 = u64::MAX - 2;
const EVENTS_MAX: usize = 1024;
/// Where deliveries are put together, the loop listens again after each such part of the connections that wait: one
/// connection of few, more of many, so that nobody waits long for being written to.
const PARTS: usize = 256;
/// Of so many that wait the one with the most to be written comes first: it is the least likely to get more.
const CANDIDATES: usize = 16;
/// Every so many writes the one that waits longest comes first, so that all have their turn.
const TURN_OF_THE_FIRST: u32 = 4;
const BUFFER_BYTES: usize = 64 * 1024;

struct Connection {
    session: Session<Link>,
    link: Link,
    serial: u64,
    /// Until it is registered.
    half_open: Option<HalfOpen>,
    /// The session is over; its last lines are on their way.
    closing: bool,
    interest: epoll::EventFlags,
}

pub(super) struct EventLoop {
    epoll: OwnedFd,
    state: Arc<ServerState<Link>>,
    owner: Arc<Owner>,
    /// The first loop has it.
    reception: Option<Reception>,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    arrived: u64,
    waiting: Waiting,
    /// Slots to look after.
    noted: VecDeque<usize>,
    /// Connections looked after.
    looks: u32,
    buffer: Box<[u8]>,
}

impl EventLoop {
    pub(super) fn new(
        options: &ServeOptions,
        inbox: &Arc<Inbox>,
        state: &Arc<ServerState<Link>>,
    ) -> Result<EventLoop, ServeError> {
        let epoll =
            epoll::create(epoll::CreateFlags::CLOEXEC).map_err(ServeError::system("open an epoll"))?;
        let owner = Owner {
            coalesce: options.coalesce,
            at_once: !options.coalesce && options.loops() == 1,
            sendq_bytes: options.sendq_bytes,
            inbox: Arc::clone(inbox),
        };
        let new = EventLoop {
            epoll,
            state: Arc::clone(state),
            owner: Arc::new(owner),
            reception: None,
            slots: Vec::new(),
            free: Vec::new(),
            arrived: 0,
            waiting: Waiting::new(Duration::from_secs(options.registration_timeout_s.into())),
            noted: VecDeque::new(),
            looks: 0,
            buffer: vec![0; BUFFER_BYTES].into(),
        };
        new.watch(&**inbox, BELL)?;
        Ok(new)
    }

    /// Accepts the connections for all loops, and ends when `stop` becomes readable.
    pub(super) fn receive(&mut self, reception: Reception, stop: BorrowedFd<'_>) -> Result<(), ServeError> {
        self.watch(&reception, LISTENER)?;
        self.watch(stop, STOP)?;
        self.reception = Some(reception);
        Ok(())
    }

    fn watch(&self, what: impl AsFd, token: u64) -> Result<(), ServeError> {
        epoll::add(&self.epoll, what, epoll::EventData::new_u64(token), epoll::EventFlags::IN)
            .map_err(ServeError::system("use epoll"))
    }

    pub(super) fn run(&mut self) -> Result<(), ServeError> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut letters = Letters::default();
        loop {
            let deadline = self.deadline();
            let timeout = if self.noted.is_empty() && self.owner.inbox.may_sleep() {
                deadline.map(|at| at.saturating_duration_since(Instant::now()))
            } else {
                Some(Duration::ZERO)
            };
            let timeout = timeout
                .map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() });
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(ServeError::system("wait for events")(errno)),
            }
            self.owner.inbox.woken();
            for event in &events {
                match event.data.u64() {
                    STOP => self.owner.inbox.close(),
                    LISTENER => self.accept(),
                    BELL => self.owner.inbox.silence_bell(),
                    slot => self.serve(slot as usize, event.flags),
                }
            }
            if deadline.is_some() {
                self.keep_time();
            }
            while self.owner.inbox.exchange(&mut letters) {
                if letters.closed {
                    self.fall_silent();
                    return Ok(());
                }
                letters.arrivals.drain(..).for_each(|arrival| self.welcome(arrival));
                self.noted.extend(letters.noted.drain(..));
            }
            self.look_after_some();
        }
    }

    /// When there is something to do though nothing happens.
    fn deadline(&mut self) -> Option<Instant> {
        let slots = &self.slots;
        let counts = |ticket: Ticket| match &slots[ticket.slot] {
            Some(connection) if connection.serial == ticket.serial => {
                connection.half_open.is_some() || connection.closing
            }
            _ => false,
        };
        let accept = self.reception.as_ref().and_then(|reception| reception.again_at);
        [self.waiting.next(counts), accept].into_iter().flatten().min()
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        if let Some(reception) = &mut self.reception
            && reception.again_at.is_some_and(|at| at <= now)
        {
            reception.again_at = None;
            self.listen_for_connections(true);
        }
        while let Some(ticket) = self.waiting.overdue(now) {
            match &mut self.slots[ticket.slot] {
                Some(connection) if connection.serial != ticket.serial => {}
                Some(connection) if connection.closing => self.remove(ticket.slot),
                Some(connection) if connection.half_open.is_some() => {
                    connection.session.close(b"Registration timed out");
                    self.begin_closing(ticket.slot);
                }
                _ => {}
            }
        }
    }

    fn accept(&mut self) {
        if let Some(reception) = &mut self.reception {
            reception.accept();
            if reception.again_at.is_some() {
                self.listen_for_connections(false);
            }
        }
    }

    fn listen_for_connections(&self, yes: bool) {
        let interest = if yes { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        if let Some(reception) = &self.reception {
            // The listener is in the epoll; there is nothing that could fail.
            let _ = epoll::modify(&self.epoll, reception, epoll::EventData::new_u64(LISTENER), interest);
        }
    }

    /// A new connection is this loop's.
    fn welcome(&mut self, Arrival { socket, from, half_open }: Arrival) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let interest = epoll::EventFlags::IN;
        if epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(slot as u64), interest).is_err() {
            door::turn_away(&socket, "Out of memory");
            self.free.push(slot);
            return;
        }
        let link = Link::new(socket, slot, Arc::clone(&self.owner));
        let session = Session::new(&self.state, from.ip(), link.clone());
        self.arrived += 1;
        let serial = self.arrived;
        let half_open = Some(half_open);
        self.slots[slot] = Some(Connection { session, link, serial, half_open, closing: false, interest });
        self.waiting.begin(Ticket { slot, serial }, Instant::now());
    }

    /// Something happened at a connection.
    fn serve(&mut self, slot: usize, flags: epoll::EventFlags) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        if flags.contains(epoll::EventFlags::OUT) {
            connection.link.flush();
        }
        if !flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            return;
        }
        match net::recv(&connection.link, &mut self.buffer[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => self.lose(slot, b"Connection closed"),
            Ok(_) if connection.closing => {}
            Ok((count, _)) => {
                let flow = connection.session.feed(&self.buffer[..count]);
                if connection.half_open.is_some() && connection.session.registered() {
                    connection.half_open = None;
                }
                if flow == Flow::Close {
                    self.begin_closing(slot);
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.lose(slot, b"Connection reset"),
        }
    }

    /// Looks after those that were noted, the first first. Where deliveries are put together only after a part of them:
    /// what is said meanwhile reaches the rest in the same write.
    fn look_after_some(&mut self) {
        let some = if self.owner.coalesce { self.noted.len().div_ceil(PARTS) } else { self.noted.len() };
        for _ in 0..some {
            if let Some(slot) = self.next_noted() {
                self.look_after(slot);
            }
        }
    }

    fn next_noted(&mut self) -> Option<usize> {
        self.looks = self.looks.wrapping_add(1);
        if !self.owner.coalesce || self.looks.is_multiple_of(TURN_OF_THE_FIRST) {
            return self.noted.pop_front();
        }
        let waiting =
            |place: &usize| self.slots[self.noted[*place]].as_ref().map_or(0, |one| one.link.waiting());
        let most = (0..self.noted.len().min(CANDIDATES)).rev().max_by_key(waiting);
        // The others keep their order, so that the first has its turn.
        self.noted.remove(most?)
    }

    /// A connection was noted.
    fn look_after(&mut self, slot: usize) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        let report = connection.link.look();
        match report.condition {
            Condition::Overflowed => {
                connection.session.hang_up(b"SendQ exceeded");
                connection.link.end_with_error(b"SendQ exceeded");
                return self.begin_closing(slot);
            }
            Condition::Broken => return self.lose(slot, b"Connection reset"),
            Condition::Ended if connection.closing && report.done => return self.remove(slot),
            Condition::Fine | Condition::Ended => {}
        }
        let mut interest = epoll::EventFlags::empty();
        interest.set(epoll::EventFlags::IN, !connection.closing);
        interest.set(epoll::EventFlags::OUT, report.jammed);
        if interest != connection.interest {
            connection.interest = interest;
            let data = epoll::EventData::new_u64(slot as u64);
            if epoll::modify(&self.epoll, &connection.link, data, interest).is_err() {
                self.lose(slot, b"Connection reset");
            }
        }
    }

    /// The session is over; the connection stays until its last lines are written, or its time is over.
    fn begin_closing(&mut self, slot: usize) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.closing = true;
            connection.link.end();
            self.waiting.begin(Ticket { slot, serial: connection.serial }, Instant::now());
            // At once: nothing is to be read any more, also not the end of what it says.
            self.look_after(slot);
        }
    }

    /// The connection is gone.
    fn lose(&mut self, slot: usize, reason: &[u8]) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.session.hang_up(reason);
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: usize) {
        if let Some(mut connection) = self.slots[slot].take() {
            // Who sees that it is gone may come in its place.
            connection.half_open = None;
            linger(&connection.link);
            self.free.push(slot);
        }
    }

    /// Ends all at once: nobody is told that the others leave.
    fn fall_silent(&self) {
        self.slots.iter().flatten().for_each(|connection| connection.link.end());
    }
}
