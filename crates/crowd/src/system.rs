//! The two calls of the C library for which rustix has no replacement.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd};

/// Lets `bind` to port 0 leave the choice of the port to `connect`, so that connections to other servers can share it.
pub(crate) fn bind_address_without_port(socket: impl AsFd) -> Result<()> {
    let on: libc::c_int = 1;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel reads `on`, whose size is given.
    let result = unsafe {
        libc::setsockopt(
            fd,
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Time on CLOCK_MONOTONIC in ns, which all processes of a machine share.
///
/// rustix would look up the vDSO in memory, which valgrind does not map.
pub(crate) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes only `now`.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    assert_eq!(result, 0, "every Linux has CLOCK_MONOTONIC");
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
