//! The connections of one event loop, watched by epoll.

use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use klatch_record::CONNECTIONS_PER_SOURCE;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::protocol::Seat;
use crate::system::bind_address_without_port;

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

    /// Connects user number `who`, who has this seat, and watches for what he hears until the connection is closed.
    pub(crate) fn connect(&self, who: usize, seat: Seat) -> std::io::Result<TcpStream> {
        let stream = connect_user(&self.addresses, seat, self.connect_timeout)?;
        stream.set_nonblocking(true)?;
        epoll::add(&self.epoll, &stream, EventData::new_u64(who as u64), EventFlags::IN)?;
        Ok(stream)
    }

    /// Watches also (or no longer) for room in the socket's send buffer.
    pub(crate) fn watch_output(&self, stream: &TcpStream, who: usize, on: bool) -> std::io::Result<()> {
        let flags = if on { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        Ok(epoll::modify(&self.epoll, stream, EventData::new_u64(who as u64), flags)?)
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

/// The connection of the user who has this seat.
pub(crate) fn connect_user(
    addresses: &[SocketAddr],
    seat: Seat,
    timeout: Duration,
) -> std::io::Result<TcpStream> {
    let stream = match addresses[..] {
        [SocketAddr::V4(address)] if address.ip().is_loopback() => {
            connect_from(source(seat), address, timeout)?
        }
        _ => connect_any(addresses, timeout)?,
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Where a user of this machine connects from: 127.0.0.1, 127.0.0.2 … Every address has its own local ports, of which
/// only half is found quickly: the kernel looks at all of one parity before it takes one of the other.
fn source(seat: Seat) -> Ipv4Addr {
    let place = u64::from(seat.room) * u64::from(seat.users) + u64::from(seat.user);
    let further = place / u64::from(CONNECTIONS_PER_SOURCE);
    // Room and user numbers are far from filling 127.0.0.0/8.
    Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + further as u32)
}

fn connect_from(source: Ipv4Addr, address: SocketAddrV4, timeout: Duration) -> std::io::Result<TcpStream> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    if source != Ipv4Addr::LOCALHOST {
        // The port is chosen when the other end is known, so that it is shared by connections to other servers.
        bind_address_without_port(&socket)?;
        rustix::net::bind(&socket, &SocketAddrV4::new(source, 0))?;
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => Ok(socket.into()),
        Err(Errno::INPROGRESS) => Err(std::io::ErrorKind::TimedOut.into()),
        Err(errno) => Err(errno.into()),
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn users_of_this_machine_come_from_several_addresses() {
        let seat = |room, user| Seat { room, user, users: 20 };
        let told = |room, user| source(seat(room, user)).to_string();
        assert_eq!([told(1, 0), told(499, 19), told(500, 0)], ["127.0.0.1", "127.0.0.1", "127.0.0.2"]);
        assert_eq!(told(10_000, 19), "127.0.0.21");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { unreachable!() };
        for seat in [seat(1, 0), seat(600, 0)] {
            let stream = connect_from(source(seat), address, Duration::from_secs(5)).unwrap();
            assert_eq!(stream.local_addr().unwrap().ip(), source(seat));
            assert_eq!(listener.accept().unwrap().1, stream.local_addr().unwrap());
        }
    }
}
