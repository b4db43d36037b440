//! Admission control: what every model does with a new connection before it serves it, and how it rejects one.

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

pub(crate) struct AdmissionControl {
    nodelay: bool,
    half_open_max: usize,
    half_open: AtomicUsize,
    warned: AtomicBool,
}

/// A connection that counts as unregistered until this is dropped.
pub(crate) struct HalfOpen(Arc<AdmissionControl>);

impl AdmissionControl {
    pub(crate) fn new(options: &ServeOptions) -> Arc<AdmissionControl> {
        Arc::new(AdmissionControl {
            nodelay: options.nodelay,
            half_open_max: options.half_open_max,
            half_open: AtomicUsize::new(0),
            warned: AtomicBool::new(false),
        })
    }

    /// Admits a new connection, or rejects it with a reason if too many are unregistered; the caller then drops it.
    pub(crate) fn admit(self: &Arc<Self>, socket: impl AsFd) -> Option<HalfOpen> {
        // One thread accepts, so nobody else takes the place between these two lines.
        if self.half_open.load(Ordering::Relaxed) >= self.half_open_max {
            reject(socket, "Too many unregistered connections");
            return None;
        }
        self.half_open.fetch_add(1, Ordering::Relaxed);
        // Fails only for a connection that is gone already, which its reader will find out.
        let _ = sockopt::set_tcp_nodelay(socket, self.nodelay);
        Some(HalfOpen(Arc::clone(self)))
    }

    /// Warns the operator, once, that not all connections are served.
    pub(crate) fn warn_once(&self, what: &str, why: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            // A failed write does not affect the connections that are served.
            let _ = writeln!(std::io::stderr(), "klatch: {what}: {why}");
        }
    }

    /// Nobody can be accepted for now. Connections wait in the backlog; those that are here are served on.
    pub(crate) fn warn_accept_failed(&self, errno: Errno) {
        let why = match errno {
            Errno::MFILE => limits::about_open_files(),
            other => std::io::Error::from(other).to_string(),
        };
        self.warn_once("cannot accept more connections for now", &why);
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

/// Sends the reason to a connection that is closed before it has a session.
pub(crate) fn reject(socket: impl AsFd, reason: &str) {
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

    fn admission(options: ServeOptions) -> (Arc<AdmissionControl>, TcpListener) {
        (AdmissionControl::new(&options), TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn connect(listener: &TcpListener) -> (TcpStream, OwnedFd) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, from) = accept(listener, SocketFlags::empty()).unwrap();
        assert_eq!(from, client.local_addr().unwrap());
        (client, socket)
    }

    #[test]
    fn nodelay_follows_the_options() {
        for nodelay in [true, false] {
            let (admission, listener) = admission(ServeOptions { nodelay, ..ServeOptions::default() });
            let (_client, socket) = connect(&listener);
            assert!(admission.admit(&socket).is_some());
            assert_eq!(sockopt::tcp_nodelay(&socket), Ok(nodelay));
        }
    }

    #[test]
    fn a_refused_client_that_still_sends_gets_the_last_line() {
        let (admission, listener) = admission(ServeOptions { half_open_max: 0, ..ServeOptions::default() });
        let (mut client, refused) = connect(&listener);
        client.write_all(&[b'x'; 64 * 1024]).unwrap();
        assert!(admission.admit(&refused).is_none());
        drop(refused);
        client.write_all(&[b'x'; 64 * 1024]).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ERROR :Too many unregistered connections\r\n");
    }

    #[test]
    fn a_refused_client_that_never_closes_is_cut_off() {
        let (admission, listener) = admission(ServeOptions { half_open_max: 0, ..ServeOptions::default() });
        let (mut client, refused) = connect(&listener);
        assert!(admission.admit(&refused).is_none());
        drop(refused);
        // It ends by an error only once the other side has closed: until then the kernel takes what is written.
        let began = std::time::Instant::now();
        while client.write_all(&[b'x'; 1024]).is_ok() {
            assert!(began.elapsed() < Duration::from_secs(20), "the connection stays open");
        }
    }

    #[test]
    fn a_rejected_connection_gets_the_reason_and_a_free_place_is_reused() {
        let (admission, listener) = admission(ServeOptions { half_open_max: 1, ..ServeOptions::default() });
        let (_client, socket) = connect(&listener);
        let first = admission.admit(&socket);
        let (mut client, refused) = connect(&listener);
        assert!(admission.admit(&refused).is_none());
        drop(refused);
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ERROR :Too many unregistered connections\r\n");
        drop(first);
        assert!(admission.admit(&socket).is_some());
    }
}
