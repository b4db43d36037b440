//! The connections of one event loop, polled with epoll.

use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use klatch_protocol::old_epoll::OldEpoll;
use klatch_record::CONNECTIONS_PER_SOURCE;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::addresses::{Addresses, connect_from};
use crate::channel::{Channel, ClientEndpoint};
use crate::line_speed::RECEIVE_BUFFER_BYTES;
use crate::protocol::UserId;

/// The key of the loop's own wake-up among the users' indexes.
pub(crate) const WAKE_KEY: u64 = u64::MAX;
const EVENTS_MAX: usize = 512;
/// What epoll reports of a slow line: input when it arrives, and its end.
const SLOW: EventFlags = EventFlags::ET.union(EventFlags::RDHUP);

pub(crate) struct Connections {
    epoll: OwnedFd,
    /// Only on a kernel that does not wait in nanoseconds.
    old_epoll: Option<OldEpoll>,
    addresses: Addresses,
    connect_timeout: Duration,
    server: ClientEndpoint,
}

/// A connection that epoll reported.
#[derive(Clone, Copy)]
pub(crate) struct Ready {
    /// The user's index within the loop, or [`WAKE_KEY`].
    pub(crate) key: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The server sends nothing more.
    pub(crate) ended: bool,
}

impl Ready {
    fn of(key: u64, flags: EventFlags) -> Ready {
        // The next read returns the error or the end of the stream.
        let readable = flags.intersects(EventFlags::IN | EventFlags::ERR | EventFlags::HUP);
        let ended = flags.intersects(EventFlags::RDHUP | EventFlags::ERR | EventFlags::HUP);
        Ready { key, readable, writable: flags.contains(EventFlags::OUT), ended }
    }
}

impl Connections {
    pub(crate) fn new(
        addresses: Addresses,
        connect_timeout: Duration,
        wake: impl AsFd,
        server: ClientEndpoint,
    ) -> std::io::Result<Connections> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, wake, EventData::new_u64(WAKE_KEY), EventFlags::IN)?;
        let mut none = [MaybeUninit::uninit(); 1];
        let old_epoll = match epoll::wait(&epoll, &mut none, Some(&Timespec::default())) {
            Err(Errno::NOSYS) => Some(OldEpoll::new(&epoll)?),
            _ => None,
        };
        Ok(Connections { epoll, old_epoll, addresses, connect_timeout, server })
    }

    /// Connects a user and polls its connection for input until it is closed. A `slow` line has a small receive buffer, and
    /// its input is reported when it arrives, not as long as it waits.
    pub(crate) fn connect(&self, index: usize, id: UserId, slow: bool) -> std::io::Result<TcpStream> {
        let receive_buffer = slow.then_some(RECEIVE_BUFFER_BYTES);
        let stream = connect_user(&self.addresses, id, self.connect_timeout, receive_buffer)?;
        stream.set_nonblocking(true)?;
        let flags = if slow { EventFlags::IN | SLOW } else { EventFlags::IN };
        epoll::add(&self.epoll, &stream, EventData::new_u64(index as u64), flags)?;
        Ok(stream)
    }

    /// The channel of a user's new connection.
    pub(crate) fn channel(&self, id: UserId) -> Option<Box<Channel>> {
        Channel::new(&self.server, id)
    }

    /// Turns polling for room in the socket's send buffer on or off.
    pub(crate) fn set_write_interest(
        &self,
        stream: &TcpStream,
        index: usize,
        on: bool,
        slow: bool,
    ) -> std::io::Result<()> {
        let mut flags = if on { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        flags.set(SLOW, slow);
        Ok(epoll::modify(&self.epoll, stream, EventData::new_u64(index as u64), flags)?)
    }

    /// Waits for events, for at most `timeout_ns` (`None`: no limit), and lists them in `ready`.
    pub(crate) fn wait(&self, timeout_ns: Option<u64>, ready: &mut Vec<Ready>) -> std::io::Result<()> {
        let timeout = timeout_ns
            .map(|ns| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 });
        ready.clear();
        if let Some(old) = &self.old_epoll {
            // Rounded down, nothing is sent late: what is left is waited for in steps of 0.
            let timeout_ms = timeout_ns.map(|ns| ns / 1_000_000);
            return old.wait(timeout_ms, |key, flags| {
                ready.push(Ready::of(key, EventFlags::from_bits_retain(flags)))
            });
        }
        let mut events = [MaybeUninit::uninit(); EVENTS_MAX];
        let events: &[Event] = match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => &[],
            Err(error) => return Err(error.into()),
        };
        ready.extend(events.iter().map(|event| Ready::of(event.data.u64(), event.flags)));
        Ok(())
    }
}

/// Connects this user, with TCP_NODELAY.
pub(crate) fn connect_user(
    addresses: &Addresses,
    id: UserId,
    timeout: Duration,
    receive_buffer: Option<usize>,
) -> std::io::Result<TcpStream> {
    let stream = match addresses.only_loopback() {
        Some(address) => connect_from(source(id).into(), address, timeout, receive_buffer)?,
        None => {
            let stream = addresses.connect(number(id), timeout)?;
            // The window that the handshake offered is larger; it shrinks as bytes arrive.
            receive_buffer.map_or(Ok(()), |bytes| sockopt::set_socket_recv_buffer_size(&stream, bytes))?;
            stream
        }
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The number of a user among all of the workload.
fn number(id: UserId) -> u64 {
    u64::from(id.room) * u64::from(id.users) + u64::from(id.user)
}

/// The source address of a user of this machine: 127.0.0.1, 127.0.0.2 … Every address has its own local ports. Only half of
/// them are found quickly: the kernel tries all ports of one parity first.
fn source(id: UserId) -> Ipv4Addr {
    let further = number(id) / u64::from(CONNECTIONS_PER_SOURCE);
    // Room and user numbers do not exhaust 127.0.0.0/8.
    Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + further as u32)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn local_users_connect_from_several_addresses() {
        let id = |room, user| UserId { room, user, users: 20 };
        let address = |room, user| source(id(room, user)).to_string();
        assert_eq!(
            [address(1, 0), address(499, 19), address(500, 0)],
            ["127.0.0.1", "127.0.0.1", "127.0.0.2"]
        );
        assert_eq!(address(10_000, 19), "127.0.0.21");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for id in [id(1, 0), id(600, 0)] {
            let stream = connect_from(source(id).into(), address, Duration::from_secs(5), None).unwrap();
            assert_eq!(stream.local_addr().unwrap().ip(), source(id));
            assert_eq!(listener.accept().unwrap().1, stream.local_addr().unwrap());
        }
    }
}
