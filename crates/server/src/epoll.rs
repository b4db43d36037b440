//! One thread, one loop, level-triggered epoll. What a turn of the loop does: wait; read from those who have said
//! something and do what they ask for, which writes to others; then look after the connections that need it.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use klatch_chat::{Flow, Hall, Session};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SocketFlags};

use crate::door::{self, ACCEPT_PAUSE, Door, HalfOpen};
use crate::link::{Condition, Link, Turn};
use crate::waiting::{Ticket, Waiting};
use crate::{ServeError, ServeOptions};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const EVENTS_MAX: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// Connections accepted in one turn, so that a flood of them keeps nobody else waiting.
const ACCEPTS_MAX: usize = 256;

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

struct Server {
    door: Arc<Door>,
    epoll: OwnedFd,
    listener: OwnedFd,
    hall: Arc<Hall<Link>>,
    turn: Rc<Turn>,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    accepted: u64,
    waiting: Waiting,
    accept_again: Option<Instant>,
    buffer: Box<[u8]>,
}

pub(crate) fn run(
    listener: OwnedFd,
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: impl FnOnce() -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(ServeError::system("open an epoll"))?;
    for (fd, token) in [(listener.as_fd(), LISTENER), (stop, STOP)] {
        epoll::add(&epoll, fd, epoll::EventData::new_u64(token), epoll::EventFlags::IN)
            .map_err(ServeError::system("use epoll"))?;
    }
    let mut server = Server {
        door: Door::new(options),
        epoll,
        listener,
        hall: crate::open_hall(),
        turn: Rc::new(Turn {
            coalesce: options.coalesce,
            sendq_bytes: options.sendq_bytes,
            noted: Default::default(),
        }),
        slots: Vec::new(),
        free: Vec::new(),
        accepted: 0,
        waiting: Waiting::new(Duration::from_secs(options.registration_timeout_s.into())),
        accept_again: None,
        buffer: vec![0; BUFFER_BYTES].into(),
    };
    ready()?;
    let mut events = Vec::with_capacity(EVENTS_MAX);
    loop {
        let timeout = server.timeout();
        events.clear();
        match epoll::wait(&server.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(ServeError::system("wait for events")(errno)),
        }
        for event in &events {
            match event.data.u64() {
                STOP => {
                    server.fall_silent();
                    return Ok(());
                }
                LISTENER => server.accept(),
                slot => server.serve(slot as usize, event.flags),
            }
        }
        if timeout.is_some() {
            server.keep_time();
        }
        server.look_after();
    }
}

impl Server {
    /// How long to wait for events at most.
    fn timeout(&mut self) -> Option<Timespec> {
        let slots = &self.slots;
        let counts = |ticket: Ticket| match &slots[ticket.slot] {
            Some(connection) if connection.serial == ticket.serial => {
                connection.half_open.is_some() || connection.closing
            }
            _ => false,
        };
        let next = [self.waiting.next(counts), self.accept_again].into_iter().flatten().min()?;
        let left = next.saturating_duration_since(Instant::now());
        Some(Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() })
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        if self.accept_again.is_some_and(|at| at <= now) {
            self.accept_again = None;
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
        for _ in 0..ACCEPTS_MAX {
            let accepted = door::accept(&self.listener, SocketFlags::NONBLOCK);
            match accepted.and_then(|(socket, from)| self.welcome(socket, from)) {
                Ok(()) => {}
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    self.listen_for_connections(false);
                    self.accept_again = Some(Instant::now() + ACCEPT_PAUSE);
                    return self.door.tell_of_no_room(errno);
                }
            }
        }
    }

    fn welcome(&mut self, socket: OwnedFd, from: SocketAddr) -> Result<(), Errno> {
        let Some(half_open) = self.door.admit(&socket) else {
            return Ok(());
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let interest = epoll::EventFlags::IN;
        if let Err(errno) = epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(slot as u64), interest)
        {
            self.free.push(slot);
            return Err(errno);
        }
        let link = Link::new(socket, slot, Rc::clone(&self.turn));
        let session = self.hall.enter(from.ip(), link.clone());
        self.accepted += 1;
        let serial = self.accepted;
        self.slots[slot] =
            Some(Connection { session, link, serial, half_open: Some(half_open), closing: false, interest });
        self.waiting.begin(Ticket { slot, serial }, Instant::now());
        Ok(())
    }

    fn listen_for_connections(&self, yes: bool) {
        let interest = if yes { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        // The listener is in the epoll; there is nothing that could fail.
        let _ = epoll::modify(&self.epoll, &self.listener, epoll::EventData::new_u64(LISTENER), interest);
    }

    /// Something happened at a connection.
    fn serve(&mut self, slot: usize, flags: epoll::EventFlags) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        if flags.contains(epoll::EventFlags::OUT) {
            connection.link.flush();
            connection.link.note();
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

    /// The connections that were noted in this turn.
    fn look_after(&mut self) {
        loop {
            let noted = self.turn.noted.take();
            if noted.is_empty() {
                return;
            }
            for slot in noted {
                self.look_after_one(slot);
            }
        }
    }

    fn look_after_one(&mut self, slot: usize) {
        let Some(connection) = &mut self.slots[slot] else {
            return;
        };
        let link = &connection.link;
        link.unnote();
        if link.condition() == Condition::Overflowed {
            connection.session.hang_up(b"SendQ exceeded");
            link.end_with_error(b"SendQ exceeded");
            link.flush();
            return self.begin_closing(slot);
        }
        if link.waiting() > 0 && !link.jammed() {
            link.flush();
        }
        if link.condition() == Condition::Broken {
            return self.lose(slot, b"Connection reset");
        }
        if connection.closing && link.waiting() == 0 {
            return self.remove(slot);
        }
        let mut interest = epoll::EventFlags::empty();
        interest.set(epoll::EventFlags::IN, !connection.closing);
        interest.set(epoll::EventFlags::OUT, link.jammed());
        if interest != connection.interest {
            connection.interest = interest;
            let data = epoll::EventData::new_u64(slot as u64);
            if epoll::modify(&self.epoll, link, data, interest).is_err() {
                self.lose(slot, b"Connection reset");
            }
        }
    }

    /// The session is over; the connection stays until its last lines are written, or its time is over.
    fn begin_closing(&mut self, slot: usize) {
        if let Some(connection) = &mut self.slots[slot] {
            connection.closing = true;
            connection.link.end();
            connection.link.note();
            self.waiting.begin(Ticket { slot, serial: connection.serial }, Instant::now());
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
        if let Some(connection) = self.slots[slot].take() {
            door::discard_input(&connection.link);
            self.free.push(slot);
        }
    }

    /// Ends all at once: nobody is told that the others leave.
    fn fall_silent(&mut self) {
        self.slots.iter().flatten().for_each(|connection| connection.link.end());
    }
}
