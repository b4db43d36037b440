//! The connections of one check, and its time.

use std::cell::{Cell, RefCell};
use std::net::{SocketAddr, TcpStream};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketType, sockopt};

use super::Client;
use super::link::Link;
use crate::finding::{Checked, Trouble, wrong};

/// A whole check takes at most so many times what one answer may take.
const CHECK_PATIENCES: u32 = 6;

/// The connections of one check. A check starts with none, and all of them end with it.
pub(crate) struct Net {
    address: SocketAddr,
    /// How long something that has to come may take.
    patience: Duration,
    /// When the check has to be over.
    deadline: Instant,
    /// What the names of its users and rooms begin with, so that no other check has the same.
    prefix: String,
    named: Cell<usize>,
    links: RefCell<Vec<Weak<RefCell<Link>>>>,
}

impl Net {
    pub(crate) fn new(address: SocketAddr, patience: Duration, prefix: String) -> Rc<Net> {
        let deadline = Instant::now() + patience * CHECK_PATIENCES;
        let (named, links) = (Cell::new(0), RefCell::default());
        Rc::new(Net { address, patience, deadline, prefix, named, links })
    }

    /// A nick that nobody else has; at most 9 bytes, the most that every IRC server takes.
    pub(crate) fn nick(&self) -> String {
        self.named.set(self.named.get() + 1);
        format!("{}{}", self.prefix, self.named.get())
    }

    /// A room that nobody is in.
    pub(crate) fn room(&self) -> String {
        format!("#{}", self.nick())
    }

    /// Until when an answer may come that is asked for now.
    pub(crate) fn until(&self) -> Instant {
        self.deadline.min(Instant::now() + self.patience)
    }

    /// How long somebody has waited in vain, in words.
    pub(super) fn waited(&self) -> String {
        if Instant::now() < self.deadline {
            format!("{} s went by", self.patience.as_secs_f64())
        } else {
            format!("the {} s of the whole check are over", (self.patience * CHECK_PATIENCES).as_secs_f64())
        }
    }

    /// A connection that has said nothing yet.
    pub(crate) fn connect(self: &Rc<Self>) -> Checked<Client> {
        let connected = TcpStream::connect_timeout(&self.address, self.patience);
        self.client(connected.map_err(|error| no_connection(&error))?)
    }

    /// A connection that takes few bytes before somebody reads.
    pub(crate) fn connect_narrow(self: &Rc<Self>) -> Checked<Client> {
        const RECEIVE_BUFFER_BYTES: usize = 8 * 1024;
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        // The buffer has to be small before the server hears how large it is.
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
        let link = Rc::new(RefCell::new(Link::new(socket)));
        self.links.borrow_mut().push(Rc::downgrade(&link));
        Ok(Client::new(Rc::clone(self), link))
    }

    /// A registered user with a nick of its own.
    pub(crate) fn user(self: &Rc<Self>) -> Checked<Client> {
        let mut client = self.connect()?;
        client.register(&self.nick())?;
        Ok(client)
    }

    /// `count` users who are in the room.
    pub(crate) fn users_in(self: &Rc<Self>, room: &str, count: usize) -> Checked<Vec<Client>> {
        (0..count)
            .map(|_| {
                let client = self.user()?;
                client.join(room)?;
                Ok(client)
            })
            .collect()
    }

    /// Waits until bytes come or go, and moves them, on any connection. `false`: nothing did by `until`.
    pub(super) fn turn(&self, until: Instant) -> Checked<bool> {
        let links: Vec<Rc<RefCell<Link>>> = {
            let mut links = self.links.borrow_mut();
            links.retain(|link| link.strong_count() > 0);
            links.iter().filter_map(Weak::upgrade).collect()
        };
        let links: Vec<_> = links.iter().filter(|link| link.borrow().ended.is_none()).collect();
        let borrowed: Vec<_> = links.iter().map(|link| link.borrow()).collect();
        let wanted = borrowed.iter().map(|link| {
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, link.reads);
            wanted.set(PollFlags::OUT, link.has_output());
            PollFd::new(&link.socket, wanted)
        });
        let mut polled: Vec<_> = wanted.collect();
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
        for (link, events) in links.into_iter().zip(events) {
            let mut link = link.borrow_mut();
            if events.contains(PollFlags::OUT) {
                link.write();
            }
            if link.reads && events.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                link.read();
            } else if events.intersects(PollFlags::HUP | PollFlags::ERR) {
                link.ended = Some("was closed".into());
            }
        }
        Ok(true)
    }
}

fn no_connection(error: &std::io::Error) -> Trouble {
    Trouble::Wrong(format!("no connection: {error}"))
}
