//! The addresses of a server, and those from which a crowd connects.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use klatch_record::{AddressChoice, Connecting};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::system::bind_address_without_port;

/// The addresses of a server, which all connections of a crowd share. One that does not answer is tried again only if no other one does.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    all: Arc<[Address]>,
    choice: AddressChoice,
    /// Local addresses, which take turns; empty if the system chooses.
    sources: Arc<[IpAddr]>,
    /// The next address of choice `all`.
    next: Arc<AtomicUsize>,
    /// Held during the first attempt at an address, so that a dead one costs its time-out once.
    first_attempt: Arc<Mutex<()>>,
}

/// One address of a server.
#[derive(Debug)]
struct Address {
    socket: SocketAddr,
    state: AtomicU8,
    /// A connection was made to it.
    is_used: AtomicBool,
}

/// No connection was tried yet.
const UNKNOWN: u8 = 0;
const ALIVE: u8 = 1;
const DEAD: u8 = 2;

impl Addresses {
    pub(crate) fn new(all: Vec<SocketAddr>, connecting: &Connecting) -> Addresses {
        let mut different = Vec::new();
        for socket in all {
            if !different.contains(&socket) {
                different.push(socket);
            }
        }
        let address =
            |socket| Address { socket, state: AtomicU8::new(UNKNOWN), is_used: AtomicBool::new(false) };
        Addresses {
            all: different.into_iter().map(address).collect(),
            choice: connecting.addresses,
            sources: connecting.sources.clone().into(),
            next: Arc::default(),
            first_attempt: Arc::default(),
        }
    }

    /// The only address, if it is one of IPv4 on loopback and the source addresses are not set.
    pub(crate) fn only_loopback(&self) -> Option<SocketAddr> {
        match &self.all[..] {
            [Address { socket, .. }] if self.sources.is_empty() => {
                Some(*socket).filter(|socket| socket.is_ipv4() && socket.ip().is_loopback())
            }
            _ => None,
        }
    }

    /// The addresses to which connections were made; empty if there is only one.
    pub(crate) fn used(&self) -> Vec<String> {
        let used = self.all.iter().filter(|address| address.is_used.load(Ordering::Relaxed));
        used.map(|address| address.socket.ip().to_string()).filter(|_| self.all.len() > 1).collect()
    }

    /// Makes the connection of this `number`. The error is that of the last address that was tried.
    pub(crate) fn connect(&self, number: u64, timeout: Duration) -> std::io::Result<TcpStream> {
        let count = self.all.len();
        let start = match self.choice {
            AddressChoice::First => 0,
            AddressChoice::All => self.next.fetch_add(1, Ordering::Relaxed) % count.max(1),
        };
        let turns = self.all[start..].iter().chain(&self.all[..start]);
        let (dead, others): (Vec<&Address>, Vec<&Address>) = turns.partition(|address| address.is(DEAD));
        let mut last = Error::other("the host has no address");
        for address in others.into_iter().chain(dead) {
            match self.attempt(address, number, timeout) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn attempt(&self, address: &Address, number: u64, timeout: Duration) -> std::io::Result<TcpStream> {
        let is_first = self.all.len() > 1 && address.is(UNKNOWN);
        let held = is_first.then(|| self.first_attempt.lock().unwrap_or_else(PoisonError::into_inner));
        if held.is_some() && address.is(DEAD) {
            // Meanwhile another connection was tried in vain.
            return Err(ErrorKind::TimedOut.into());
        }
        let made = self.open(address.socket, number, timeout);
        address.state.store(if made.is_ok() { ALIVE } else { DEAD }, Ordering::Relaxed);
        address.is_used.fetch_or(made.is_ok(), Ordering::Relaxed);
        made
    }

    fn open(&self, server: SocketAddr, number: u64, timeout: Duration) -> std::io::Result<TcpStream> {
        if self.sources.is_empty() {
            return TcpStream::connect_timeout(&server, timeout);
        }
        let fitting: Vec<&IpAddr> =
            self.sources.iter().filter(|source| source.is_ipv4() == server.is_ipv4()).collect();
        let Some(source) = fitting.get(number as usize % fitting.len().max(1)) else {
            let family = if server.is_ipv4() { "IPv4" } else { "IPv6" };
            return Err(Error::other(format!("no source address is one of {family}, as {} is", server.ip())));
        };
        connect_from(**source, server, timeout, None).map_err(|error| match error.kind() {
            ErrorKind::AddrNotAvailable => {
                Error::new(error.kind(), format!("cannot connect from the source address {source}: {error}"))
            }
            _ => error,
        })
    }
}

impl Address {
    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::Relaxed) == state
    }
}

/// Connects from a local address, whose port the system chooses.
pub(crate) fn connect_from(
    source: IpAddr,
    server: SocketAddr,
    timeout: Duration,
    receive_buffer: Option<usize>,
) -> std::io::Result<TcpStream> {
    let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    if source != Ipv4Addr::LOCALHOST {
        // Defers the choice of the port until the peer is known, so connections to other servers can share it.
        bind_address_without_port(&socket)?;
        rustix::net::bind(&socket, &SocketAddr::new(source, 0))?;
    }
    if let Some(bytes) = receive_buffer {
        sockopt::set_socket_recv_buffer_size(&socket, bytes)?;
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    match rustix::net::connect(&socket, &server) {
        Ok(()) => Ok(socket.into()),
        Err(Errno::INPROGRESS) => Err(ErrorKind::TimedOut.into()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(5);

    fn listener(address: &str) -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    fn peer(addresses: &Addresses, number: u64) -> SocketAddr {
        addresses.connect(number, TIMEOUT).unwrap().peer_addr().unwrap()
    }

    #[test]
    fn an_address_that_does_not_answer_is_tried_once() {
        let (listening, alive) = listener("127.0.0.1:0");
        let dead = listener("127.0.0.2:0").1;
        let addresses = Addresses::new(vec![dead, alive, alive], &Connecting::default());
        let of_other_loop = addresses.clone();
        assert_eq!(peer(&addresses, 1), alive);
        // Whoever listens at the first address now is not asked.
        let _late = TcpListener::bind(dead).unwrap();
        for addresses in [&addresses, &of_other_loop] {
            assert_eq!(peer(addresses, 1), alive);
        }
        assert_eq!(addresses.used(), ["127.0.0.1"]);
        drop(listening);
        assert_eq!(peer(&addresses, 1), dead);
        assert_eq!(addresses.used(), ["127.0.0.2", "127.0.0.1"]);
    }

    #[test]
    fn all_addresses_that_answer_take_turns() {
        let [first, second] = ["127.0.0.1:0", "127.0.0.3:0"].map(listener);
        let dead = listener("127.0.0.2:0").1;
        let connecting = Connecting { addresses: AddressChoice::All, ..Connecting::default() };
        let addresses = Addresses::new(vec![first.1, dead, second.1], &connecting);
        let peers: Vec<SocketAddr> = (0..30).map(|number| peer(&addresses, number)).collect();
        let count = |address| peers.iter().filter(|peer| **peer == address).count();
        assert_eq!(count(first.1) + count(second.1), 30);
        assert!(count(first.1) >= 10 && count(second.1) >= 10, "{peers:?}");
        assert_eq!(addresses.used(), ["127.0.0.1", "127.0.0.3"]);
    }

    #[test]
    fn source_addresses_take_turns_and_are_of_the_family_of_the_server() {
        let (listening, server) = listener("127.0.0.1:0");
        let sources = ["127.0.0.5", "::1", "127.0.0.6"].map(|source| source.parse().unwrap());
        let connecting = Connecting { sources: sources.into(), ..Connecting::default() };
        let addresses = Addresses::new(vec![server], &connecting);
        let of = |number| addresses.connect(number, TIMEOUT).unwrap().local_addr().unwrap().ip().to_string();
        assert_eq!([of(0), of(1), of(2)], ["127.0.0.5", "127.0.0.6", "127.0.0.5"]);
        assert_eq!(listening.accept().unwrap().1.ip().to_string(), "127.0.0.5");
        let of_6 = Connecting { sources: vec!["::1".parse().unwrap()], ..Connecting::default() };
        let error = Addresses::new(vec![server], &of_6).connect(0, TIMEOUT).unwrap_err().to_string();
        assert_eq!(error, "no source address is one of IPv4, as 127.0.0.1 is");
        let absent = Connecting { sources: vec!["192.0.2.1".parse().unwrap()], ..Connecting::default() };
        let error = Addresses::new(vec![server], &absent).connect(0, TIMEOUT).unwrap_err().to_string();
        assert!(error.starts_with("cannot connect from the source address 192.0.2.1: "), "{error}");
    }
}
