//! The alert at the end of a connection whose records the kernel makes. No library of ours can send a record of another type.
#![allow(unsafe_code)]

use std::io::Error;
use std::os::fd::{AsFd, AsRawFd};

/// Level "warning" and description "close_notify"; RFC 8446, section 6.
const CLOSE_NOTIFY: [u8; 2] = [1, 0];
/// Type of a record with an alert; RFC 8446, section 5.1.
const ALERT: u8 = 21;
const CONTROL_BYTES: usize = 32;

/// Control data, aligned as its header has to be.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Announces that this side sends nothing more.
///
/// # Errors
/// The connection is broken, or takes nothing now.
pub fn send_close_notify(socket: impl AsFd) -> Result<(), Error> {
    let mut alert = CLOSE_NOTIFY;
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: alert.as_mut_ptr().cast(), iov_len: alert.len() };
    // SAFETY: all zeros is a valid value of this plain C struct. The control data has room for a header and one byte, which the
    // macros find by the length that is set here; all that the message points to outlives the call.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(1) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_TLS;
        (*header).cmsg_type = libc::TLS_SET_RECORD_TYPE;
        (*header).cmsg_len = libc::CMSG_LEN(1) as _;
        *libc::CMSG_DATA(header) = ALERT;
        libc::sendmsg(socket.as_fd().as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    if sent < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_data_has_room_for_a_record_type() {
        // SAFETY: it computes a length.
        assert!(unsafe { libc::CMSG_SPACE(1) } as usize <= CONTROL_BYTES);
    }
}
