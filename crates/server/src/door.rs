//! The door: what every model does with a new connection before it serves it, and what it says when there is no room.

use std::io::Write;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, SendFlags, SocketFlags, sockopt};

use crate::linger::linger;
use crate::{ServeOptions, limits};

/// How long nobody is accepted when the system has no room for one more.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct Door {
    nodelay: bool,
    half_open_max: usize,
    half_open: AtomicUsize,
    told: AtomicBool,
}

/// A connection that is counted among those who are not registered yet, until this is dropped.
pub(crate) struct HalfOpen(Arc<Door>);

impl Door {
    pub(crate) fn new(options: &ServeOptions) -> Arc<Door> {
        Arc::new(Door {
            nodelay: options.nodelay,
            half_open_max: options.half_open_max,
            half_open: AtomicUsize::new(0),
            told: AtomicBool::new(false),
        })
    }

    /// Lets a new connection in, unless too many are not registered: then it is told so, and may be dropped.
    pub(crate) fn admit(self: &Arc<Self>, socket: impl AsFd) -> Option<HalfOpen> {
        // One thread accepts, so nobody else takes the place between these two lines.
        if self.half_open.load(Ordering::Relaxed) >= self.half_open_max {
            turn_away(socket, "Too many unregistered connections");
            return None;
        }
        self.half_open.fetch_add(1, Ordering::Relaxed);
        // Fails only for a connection that is gone already, which its reader will find out.
        let _ = sockopt::set_tcp_nodelay(socket, self.nodelay);
        Some(HalfOpen(Arc::clone(self)))
    }

    /// Tells the operator, once, why not all who come are served.
    pub(crate) fn tell(&self, what: &str, why: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            // Those who are served are served on, also when nobody reads this.
            let _ = writeln!(std::io::stderr(), "klatch: {what}: {why}");
        }
    }

    /// Nobody can be accepted for now. Connections wait in the backlog; those that are here are served on.
    pub(crate) fn tell_of_no_room(&self, errno: Errno) {
        let why = match errno {
            Errno::MFILE => limits::about_open_files(),
            other => std::io::Error::from(other).to_string(),
        };
        self.tell("cannot accept more connections for now", &why);
    }
}

impl Drop for HalfOpen {
    fn drop(&mut self) {
        self.0.half_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes the next connection that waits; `AGAIN` when none does.
pub(crate) fn accept(listener: impl AsFd, flags: SocketFlags) -> Result<(OwnedFd, SocketAddr), Errno> {
    loop {
        match net::acceptfrom_with(&listener, flags | SocketFlags::CLOEXEC) {
            Ok((socket, Some(from))) => {
                if let Ok(from) = SocketAddr::try_from(from) {
                    return Ok((socket, from));
                }
            }
            // It went away before it was accepted.
            Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Says why to a connection that is closed before it had a session.
pub(crate) fn turn_away(socket: impl AsFd, reason: &str) {
    // Nothing more can be done for it if it does not take this.
    let line = format!("ERROR :{reason}\r\n");
    let _ = net::send(&socket, line.as_bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    linger(socket);
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn door(options: ServeOptions) -> (Arc<Door>, TcpListener) {
        (Door::new(&options), TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn come(listener: &TcpListener) -> (TcpStream, OwnedFd) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, from) = accept(listener, SocketFlags::empty()).unwrap();
        assert_eq!(from, client.local_addr().unwrap());
        (client, socket)
    }

    #[test]
    fn nodelay_is_as_the_options_say() {
        for nodelay in [true, false] {
            let (door, listener) = door(ServeOptions { nodelay, ..ServeOptions::default() });
            let (_client, socket) = come(&listener);
            assert!(door.admit(&socket).is_some());
            assert_eq!(sockopt::tcp_nodelay(&socket), Ok(nodelay));
        }
    }

    #[test]
    fn a_refused_client_that_still_sends_gets_the_last_line() {
        let (door, listener) = door(ServeOptions { half_open_max: 0, ..ServeOptions::default() });
        let (mut client, refused) = come(&listener);
        client.write_all(&[b'x'; 64 * 1024]).unwrap();
        assert!(door.admit(&refused).is_none());
        drop(refused);
        client.write_all(&[b'x'; 64 * 1024]).unwrap();
        let mut told = String::new();
        client.read_to_string(&mut told).unwrap();
        assert_eq!(told, "ERROR :Too many unregistered connections\r\n");
    }

    #[test]
    fn a_refused_client_that_never_closes_is_cut_off() {
        let (door, listener) = door(ServeOptions { half_open_max: 0, ..ServeOptions::default() });
        let (mut client, refused) = come(&listener);
        assert!(door.admit(&refused).is_none());
        drop(refused);
        // It ends by an error only once the other side has closed: until then the kernel takes what is written.
        let began = std::time::Instant::now();
        while client.write_all(&[b'x'; 1024]).is_ok() {
            assert!(began.elapsed() < Duration::from_secs(20), "the connection stays open");
        }
    }

    #[test]
    fn who_is_too_much_is_told_and_a_place_can_be_taken_again() {
        let (door, listener) = door(ServeOptions { half_open_max: 1, ..ServeOptions::default() });
        let (_client, socket) = come(&listener);
        let first = door.admit(&socket);
        let (mut client, refused) = come(&listener);
        assert!(door.admit(&refused).is_none());
        drop(refused);
        let mut told = String::new();
        client.read_to_string(&mut told).unwrap();
        assert_eq!(told, "ERROR :Too many unregistered connections\r\n");
        drop(first);
        assert!(door.admit(&socket).is_some());
    }
}
