//! One user: its connection, its account and its pace.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::account::Account;
use crate::pace::Pace;
use crate::protocol::{Protocol, Seat};

/// Bytes that may wait in a user before it says more; a server that does not read holds its speakers back here.
pub(crate) const OUT_MAX: usize = 64 * 1024;

/// No line of any protocol is this long, and the read buffer is larger.
pub(crate) const LINE_MAX: usize = 16 * 1024;

pub(crate) struct User<W> {
    pub(crate) seat: Seat,
    pub(crate) protocol: W,
    pub(crate) account: Account,
    pub(crate) pace: Pace,
    pub(crate) stream: Option<TcpStream>,
    pub(crate) joined: bool,
    /// The moment for which a timer is set, ns; 0 if none is.
    pub(crate) timer_ns: u64,
    /// Whether epoll watches for room in the send buffer.
    pub(crate) output_watched: bool,
    /// Bytes to be sent; without memory while there are none.
    pub(crate) out: Vec<u8>,
    /// The beginning of a line whose rest has not come.
    partial: Vec<u8>,
}

/// How much of the output went out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    All,
    /// The socket takes no more now.
    Partly,
}

impl<W: Protocol> User<W> {
    pub(crate) fn new(seat: Seat, pace: Pace) -> User<W> {
        User {
            seat,
            protocol: W::new(seat),
            account: Account::new(seat.user, seat.users),
            pace,
            stream: None,
            joined: false,
            timer_ns: 0,
            output_watched: false,
            out: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Reads once into `buffer`, behind what was left over. `None` if there is nothing now; 0 bytes at the end.
    pub(crate) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> std::io::Result<Option<&'a [u8]>> {
        let kept = self.partial.len();
        if kept > LINE_MAX {
            return Err(std::io::Error::other(format!("the server sent a line of over {LINE_MAX} bytes")));
        }
        buffer[..kept].copy_from_slice(&self.partial);
        let Some(stream) = &mut self.stream else { return Ok(None) };
        match stream.read(&mut buffer[kept..]) {
            Ok(0) => Ok(Some(&[])),
            Ok(bytes) => {
                self.partial.clear();
                Ok(Some(&buffer[..kept + bytes]))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps the beginning of a line for the next read.
    pub(crate) fn keep(&mut self, rest: &[u8]) {
        self.partial.extend_from_slice(rest);
    }

    /// Sends as much as the socket takes.
    pub(crate) fn flush(&mut self) -> std::io::Result<Flushed> {
        let Some(stream) = &mut self.stream else { return Ok(Flushed::All) };
        let mut gone = 0;
        while gone < self.out.len() {
            match stream.write(&self.out[gone..]) {
                Ok(bytes) => gone += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.out.drain(..gone);
        Ok(if self.out.is_empty() { Flushed::All } else { Flushed::Partly })
    }
}
