//! The connections of one check, and its deadlines.

use std::cell::{Cell, RefCell};
use std::net::{SocketAddr, TcpStream};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketType, sockopt};

use super::Client;
use super::connection::Connection;
use crate::finding::{CheckError, Checked, wrong};

/// The time-out of a whole check as a multiple of the time-out of one answer.
const CHECK_TIMEOUT_FACTOR: u32 = 6;

/// The connections of one check. It starts with none, and all are closed at its end.
pub(crate) struct Net {
    address: SocketAddr,
    /// Longest time for one answer.
    answer_timeout: Duration,
    /// The end of the whole check.
    deadline: Instant,
    /// The unique prefix of the check's nicks and rooms.
    prefix: String,
    named: Cell<usize>,
    connections: RefCell<Vec<Weak<RefCell<Connection>>>>,
}

impl Net {
    pub(crate) fn new(address: SocketAddr, answer_timeout: Duration, prefix: String) -> Rc<Net> {
        let deadline = Instant::now() + answer_timeout * CHECK_TIMEOUT_FACTOR;
        let (named, connections) = (Cell::new(0), RefCell::default());
        Rc::new(Net { address, answer_timeout, deadline, prefix, named, connections })
    }

    /// A new unique nick of at most 9 bytes, the limit of the strictest IRC servers.
    pub(crate) fn nick(&self) -> String {
        self.named.set(self.named.get() + 1);
        format!("{}{}", self.prefix, self.named.get())
    }

    /// A new unique room.
    pub(crate) fn room(&self) -> String {
        format!("#{}", self.nick())
    }

    /// The deadline of an answer that is requested now.
    pub(crate) fn until(&self) -> Instant {
        self.deadline.min(Instant::now() + self.answer_timeout)
    }

    /// Describes the time-out that has expired, for error messages.
    pub(super) fn waited(&self) -> String {
        if Instant::now() < self.deadline {
            format!("{} s went by", self.answer_timeout.as_secs_f64())
        } else {
            format!(
                "the {} s of the whole check are over",
                (self.answer_timeout * CHECK_TIMEOUT_FACTOR).as_secs_f64()
            )
        }
    }

    /// A new connection, not registered.
    pub(crate) fn connect(self: &Rc<Self>) -> Checked<Client> {
        let connected = TcpStream::connect_timeout(&self.address, self.answer_timeout);
        self.client(connected.map_err(|error| no_connection(&error))?)
    }

    /// A new connection with a small receive buffer.
    pub(crate) fn connect_narrow(self: &Rc<Self>) -> Checked<Client> {
        const RECEIVE_BUFFER_BYTES: usize = 8 * 1024;
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        // The buffer must shrink before the handshake, which announces the window.
        let connected = net::socket(family, SocketType::STREAM, None).and_then(|socket| {
            sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER_BYTES)?;
            net::connect(&socket, &self.address)?;
            Ok(TcpStream::from(socket))
        });
        self.client(connected.map_err(|errno| no_connection(&errno.into()))?)
    }

    fn client(self: &Rc<Self>, socket: TcpStream) -> Checked<Client> {
        let ready = socket.set_nodelay(true).and_then(|()| socket.set_nonblocking(true));
        ready.map_err(|error| no_connection(&error))?;
        let connection = Rc::new(RefCell::new(Connection::new(socket)));
        self.connections.borrow_mut().push(Rc::downgrade(&connection));
        Ok(Client::new(Rc::clone(self), connection))
    }

    /// A registered user with a new nick.
    pub(crate) fn user(self: &Rc<Self>) -> Checked<Client> {
        let mut client = self.connect()?;
        client.register(&self.nick())?;
        Ok(client)
    }

    /// `count` new users who have joined the room.
    pub(crate) fn users_in(self: &Rc<Self>, room: &str, count: usize) -> Checked<Vec<Client>> {
        (0..count)
            .map(|_| {
                let client = self.user()?;
                client.join(room)?;
                Ok(client)
            })
            .collect()
    }

    /// Waits until any connection is ready, and moves its bytes. Returns `false` if none was ready by `until`.
    pub(super) fn poll_once(&self, until: Instant) -> Checked<bool> {
        let connections: Vec<Rc<RefCell<Connection>>> = {
            let mut connections = self.connections.borrow_mut();
            connections.retain(|connection| connection.strong_count() > 0);
            connections.iter().filter_map(Weak::upgrade).collect()
        };
        let connections: Vec<_> =
            connections.iter().filter(|connection| connection.borrow().ended.is_none()).collect();
        let borrowed: Vec<_> = connections.iter().map(|connection| connection.borrow()).collect();
        let interests = borrowed.iter().map(|connection| {
            let mut interest = PollFlags::empty();
            interest.set(PollFlags::IN, connection.reads);
            interest.set(PollFlags::OUT, connection.has_output());
            PollFd::new(&connection.socket, interest)
        });
        let mut polled: Vec<_> = interests.collect();
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return wrong(format!("poll failed: {errno}")),
        }
        let events: Vec<PollFlags> = polled.iter().map(PollFd::revents).collect();
        drop(polled);
        drop(borrowed);
        for (connection, events) in connections.into_iter().zip(events) {
            let mut connection = connection.borrow_mut();
            if events.contains(PollFlags::OUT) {
                connection.write();
            }
            if connection.reads && events.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                connection.read();
            } else if events.intersects(PollFlags::HUP | PollFlags::ERR) {
                connection.ended = Some("was closed".into());
            }
        }
        Ok(true)
    }
}

fn no_connection(error: &std::io::Error) -> CheckError {
    CheckError::Wrong(format!("no connection: {error}"))
}
