//! One connection of the crowd: its socket, and the bytes that wait on their way in and out.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::channel::{Channel, read_through, too_long};

/// Unsent bytes at which a connection stops sending. This is the back-pressure of a server that does not read.
pub(crate) const OUT_MAX: usize = 64 * 1024;
/// Unsent bytes at which a connection fails. Messages stop at [`OUT_MAX`] and what a transport adds to them, so these are replies
/// to a server that asks without end, such as by pings, and reads none of them.
const WAITING_MAX: usize = 512 * 1024;

#[derive(Default)]
pub(crate) struct Link {
    pub(crate) stream: Option<TcpStream>,
    /// What lies between the protocol and the socket; `None` if nothing.
    pub(crate) channel: Option<Box<Channel>>,
    /// Bytes of the channel that the socket has not taken.
    raw: Vec<u8>,
    pub(crate) joined: bool,
    /// The time for which a timer is set, ns; 0 if none is.
    pub(crate) timer_ns: u64,
    /// Whether epoll reports room in the send buffer.
    pub(crate) write_interest: bool,
    /// Bytes to be sent. An empty output owns no memory.
    pub(crate) out: Vec<u8>,
    /// The beginning of an incomplete unit.
    partial: Vec<u8>,
    /// Before this time the line is busy with what was read, ns.
    pub(crate) next_read_ns: u64,
    /// There may be bytes to read, which epoll will not report again.
    pub(crate) unread: bool,
    /// The server sends nothing more, so the end follows the last bytes.
    pub(crate) ended: bool,
    /// A failure of the connection was reported.
    pub(crate) failed: bool,
}

/// How much of the output the socket took.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    All,
    /// The send buffer is full.
    Partly,
}

impl Link {
    /// Forgets the connection and all its bytes.
    pub(crate) fn reset(&mut self) {
        *self = Link { joined: self.joined, next_read_ns: self.next_read_ns, ..Link::default() };
    }

    /// Reads once, at most `most` bytes of the socket, into `buffer` after the incomplete unit of the previous read, which may have
    /// `unit_bytes_max` bytes. Returns both together and the number of bytes that the socket had; nothing if there is nothing to read, and
    /// 0 at the end of the stream.
    pub(crate) fn read<'a>(
        &mut self,
        buffer: &'a mut [u8],
        unit_bytes_max: usize,
        most: usize,
    ) -> std::io::Result<Option<(&'a [u8], usize)>> {
        let partial_len = self.partial.len();
        if partial_len > unit_bytes_max {
            return Err(too_long(unit_bytes_max));
        }
        buffer[..partial_len].copy_from_slice(&self.partial);
        let Some(stream) = &mut self.stream else { return Ok(None) };
        let read = match &mut self.channel {
            None => {
                let end = buffer.len().min(partial_len + most);
                stream.read(&mut buffer[partial_len..end]).map(|bytes| (bytes, bytes))
            }
            Some(channel) => match read_through(channel, stream, &mut buffer[partial_len..], most) {
                // Something of the channel itself.
                Ok((0, 0)) => return Ok(None),
                other => other,
            },
        };
        match read {
            Ok((_, 0)) => Ok(Some((&[], 0))),
            Ok((bytes, of_socket)) => {
                self.partial.clear();
                Ok(Some((&buffer[..partial_len + bytes], of_socket)))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Saves an incomplete unit for the next read.
    pub(crate) fn save_partial(&mut self, rest: &[u8]) {
        self.partial.extend_from_slice(rest);
    }

    /// Sends as much as the socket takes.
    ///
    /// # Errors
    /// The connection broke, or the server asks for replies and reads none.
    pub(crate) fn flush(&mut self) -> std::io::Result<Flushed> {
        let Some(stream) = &mut self.stream else { return Ok(Flushed::All) };
        let Some(channel) = &mut self.channel else {
            let flushed = write_some(stream, &mut self.out)?;
            return if flushed == Flushed::All { Ok(flushed) } else { self.check_waiting() };
        };
        // While the socket takes nothing, the output waits where its length is the back-pressure.
        if self.raw.len() < OUT_MAX {
            channel.send(&self.out, &mut self.raw);
            self.out.clear();
        }
        match write_some(stream, &mut self.raw)? {
            Flushed::All => channel.move_to_kernel(&*stream).map(|()| Flushed::All),
            Flushed::Partly => self.check_waiting(),
        }
    }

    /// The socket took only a part of the output.
    #[cold]
    fn check_waiting(&self) -> std::io::Result<Flushed> {
        let in_channel = self.channel.as_ref().map_or(0, |channel| channel.waiting_bytes());
        check_waiting(self.out.len() + self.raw.len() + in_channel).map(|()| Flushed::Partly)
    }

    /// Whether [`Link::flush`] has something to send.
    pub(crate) fn has_output(&self) -> bool {
        !self.out.is_empty()
            || !self.raw.is_empty()
            || self.channel.as_ref().is_some_and(|channel| channel.has_output())
    }
}

/// Writes as much of `bytes` as the socket takes, and removes it.
fn write_some(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<Flushed> {
    let mut written = 0;
    while written < bytes.len() {
        match stream.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    bytes.drain(..written);
    Ok(if bytes.is_empty() { Flushed::All } else { Flushed::Partly })
}

/// Checks the number of bytes that wait for a server to read.
///
/// # Errors
/// It asks for replies without end and reads none of them.
pub(crate) fn check_waiting(bytes: usize) -> std::io::Result<()> {
    if bytes <= WAITING_MAX {
        return Ok(());
    }
    let kib = WAITING_MAX / 1024;
    Err(std::io::Error::other(format!(
        "the server asks for replies, such as by pings, and does not read them: over {kib} KiB wait"
    )))
}
