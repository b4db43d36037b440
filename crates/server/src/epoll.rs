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
use rustix::net::{self, RecvFlags, SendFlags, SocketFlags, sockopt};

use crate::link::{Condition, Link, Turn};
use crate::waiting::{Ticket, Waiting};
use crate::{ServeError, ServeOptions, limits};

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const EVENTS_MAX: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// Connections accepted in one turn, so that a flood of them keeps nobody else waiting.
const ACCEPTS_MAX: usize = 256;
/// How long nobody is accepted when the system has no room for one more.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

struct Connection {
    session: Session<Link>,
    link: Link,
    serial: u64,
    /// Counted among those who are not registered yet.
    half_open: bool,
    /// The session is over; its last lines are on their way.
    closing: bool,
    interest: epoll::EventFlags,
}

struct Server<'a> {
    options: &'a ServeOptions,
    epoll: OwnedFd,
    listener: OwnedFd,
    hall: Arc<Hall<Link>>,
    turn: Rc<Turn>,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    accepted: u64,
    half_open: usize,
    waiting: Waiting,
    accept_again: Option<Instant>,
    told_of_no_room: bool,
    buffer: Box<[u8]>,
}

pub(crate) fn run(listener: OwnedFd, options: &ServeOptions, stop: BorrowedFd<'_>) -> Result<(), ServeError> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(ServeError::system("open an epoll"))?;
    for (fd, token) in [(listener.as_fd(), LISTENER), (stop, STOP)] {
        epoll::add(&epoll, fd, epoll::EventData::new_u64(token), epoll::EventFlags::IN)
            .map_err(ServeError::system("use epoll"))?;
    }
    let mut server = Server {
        options,
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
        half_open: 0,
        waiting: Waiting::new(Duration::from_secs(options.registration_timeout_s.into())),
        accept_again: None,
        told_of_no_room: false,
        buffer: vec![0; BUFFER_BYTES].into(),
    };
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

impl Server<'_> {
    /// How long to wait for events at most.
    fn timeout(&mut self) -> Option<Timespec> {
        let slots = &self.slots;
        let counts = |ticket: Ticket| match &slots[ticket.slot] {
            Some(connection) if connection.serial == ticket.serial => {
                connection.half_open || connection.closing
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
                Some(connection) if connection.half_open => {
                    connection.session.close(b"Registration timed out");
                    self.begin_closing(ticket.slot);
                }
                _ => {}
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            let accepted = net::acceptfrom_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC);
            let welcomed = accepted.and_then(|(socket, from)| {
                let from = SocketAddr::try_from(from.ok_or(Errno::CONNABORTED)?)?;
                self.welcome(socket, from)
            });
            match welcomed {
                Ok(()) | Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO) => {}
                Err(Errno::AGAIN) => return,
                Err(errno) => return self.pause_accepting(errno),
            }
        }
    }

    fn welcome(&mut self, socket: OwnedFd, from: SocketAddr) -> Result<(), Errno> {
        if self.half_open >= self.options.half_open_max {
            // Nothing more can be done for it if it does not take this.
            let _ = net::send(&socket, b"ERROR :Too many unregistered connections\r\n", SendFlags::NOSIGNAL);
            let _ = net::recv(&socket, &mut self.buffer[..], RecvFlags::DONTWAIT);
            return Ok(());
        }
        // Fails only for a connection that is gone already, which the loop will find out.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
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
            Some(Connection { session, link, serial, half_open: true, closing: false, interest });
        self.half_open += 1;
        self.waiting.begin(Ticket { slot, serial }, Instant::now());
        Ok(())
    }

    /// Connections wait in the backlog until there is room; those that are here are served on.
    fn pause_accepting(&mut self, errno: Errno) {
        self.listen_for_connections(false);
        self.accept_again = Some(Instant::now() + ACCEPT_PAUSE);
        if self.told_of_no_room {
            return;
        }
        self.told_of_no_room = true;
        let here = self.slots.len() - self.free.len();
        let advice = match errno {
            Errno::MFILE => format!(
                "the limit of open files is {}; raise it before the start (`ulimit -Hn` as root, LimitNOFILE= in a unit)",
                limits::open_files()
            ),
            other => std::io::Error::from(other).to_string(),
        };
        eprintln!("klatch: cannot accept more than these {here} connections for now: {advice}");
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
                if connection.half_open && connection.session.registered() {
                    connection.half_open = false;
                    self.half_open -= 1;
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
            // What was said and not read would make the system throw away our last lines to it.
            let _ = net::recv(&connection.link, &mut self.buffer[..], RecvFlags::DONTWAIT);
            self.half_open -= usize::from(connection.half_open);
            self.free.push(slot);
        }
    }

    /// Ends all at once: nobody is told that the others leave.
    fn fall_silent(&mut self) {
        self.slots.iter().flatten().for_each(|connection| connection.link.end());
    }
}
