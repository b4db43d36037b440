//! The connections of one event loop, watched by epoll.

use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// Stands for the loop's own wake-up among the users' numbers.
pub(crate) const WAKE: u64 = u64::MAX;
const EVENTS_MAX: usize = 512;

pub(crate) struct Links {
    epoll: OwnedFd,
    addresses: Vec<SocketAddr>,
    connect_timeout: Duration,
}

/// A connection at which something happened.
#[derive(Clone, Copy)]
pub(crate) struct Ready {
    /// The user's number within the loop, or [`WAKE`].
    pub(crate) who: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}

impl Links {
    pub(crate) fn new(
        addresses: Vec<SocketAddr>,
        connect_timeout: Duration,
        wake: impl AsFd,
    ) -> std::io::Result<Links> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Links { epoll, addresses, connect_timeout })
    }

    /// Connects user number `who`, and watches for what he hears.
    pub(crate) fn connect(&self, who: usize) -> std::io::Result<TcpStream> {
        let stream = connect_any(&self.addresses, self.connect_timeout)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(&self.epoll, &stream, EventData::new_u64(who as u64), EventFlags::IN)?;
        Ok(stream)
    }

    /// Watches also (or no longer) for room in the socket's send buffer.
    pub(crate) fn watch_output(&self, stream: &TcpStream, who: usize, on: bool) -> std::io::Result<()> {
        let flags = if on { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        Ok(epoll::modify(&self.epoll, stream, EventData::new_u64(who as u64), flags)?)
    }

    pub(crate) fn forget(&self, stream: &TcpStream) {
        // A socket that epoll does not know is forgotten already.
        let _ = epoll::delete(&self.epoll, stream);
    }

    /// Waits for events, for `timeout_ns` at most (`None`: for ever), and lists them in `ready`.
    pub(crate) fn wait(&self, timeout_ns: Option<u64>, ready: &mut Vec<Ready>) -> std::io::Result<()> {
        let timeout = timeout_ns
            .map(|ns| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 });
        ready.clear();
        let mut events = [MaybeUninit::uninit(); EVENTS_MAX];
        let events: &[Event] = match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => &[],
            Err(error) => return Err(error.into()),
        };
        ready.extend(events.iter().map(|event| {
            let flags = event.flags;
            // Errors and hang-ups show in the next read.
            let readable = flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP);
            Ready { who: event.data.u64(), readable, writable: flags.contains(EventFlags::OUT) }
        }));
        Ok(())
    }
}

/// A host name can have several addresses; the error is that of the last.
pub(crate) fn connect_any(addresses: &[SocketAddr], timeout: Duration) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::other("the host has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
