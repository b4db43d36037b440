//! The listening socket, with its options and its backlog.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::ServeError;

/// Length of the listen backlog: the users of a crowd all connect at once.
const BACKLOG: i32 = 4096;

/// Listens, without blocking, on `listen` (an address or host name, and a port). Also returns the address it really is. The kernel
/// ends an accepted connection to which it could not pass on any bytes for `stall_max`.
pub(crate) fn listen(listen: &str, stall_max: Duration) -> Result<(OwnedFd, SocketAddr), ServeError> {
    let wrong = |reason| ServeError::Address { listen: listen.into(), reason };
    let address = listen.to_socket_addrs().map_err(wrong)?.next();
    let address = address.ok_or_else(|| wrong(std::io::Error::other("the name has no address")))?;
    bound(&address, stall_max).map_err(|errno| ServeError::Listen {
        address: address.to_string(),
        reason: explain(errno, &address),
    })
}

fn bound(address: &SocketAddr, stall_max: Duration) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    // Connections of a server that just ended do not keep the next one from starting.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    // Accepted connections inherit it. A thread that writes to a client that does not read would otherwise wait for ever.
    sockopt::set_tcp_user_timeout(&socket, u32::try_from(stall_max.as_millis()).unwrap_or(u32::MAX))?;
    net::bind(&socket, address)?;
    net::listen(&socket, BACKLOG)?;
    let real = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok((socket, real))
}

fn explain(errno: Errno, address: &SocketAddr) -> String {
    match errno {
        Errno::ADDRINUSE => "address already in use; stop the other program or choose another port".into(),
        Errno::ACCESS => {
            format!("permission denied; choose a port above 1023 (port {} is reserved)", address.port())
        }
        Errno::ADDRNOTAVAIL => "this machine does not have that address; choose one that it has".into(),
        other => std::io::Error::from(other).to_string(),
    }
}
