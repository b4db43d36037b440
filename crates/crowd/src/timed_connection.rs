//! A connection of its own, before or after a run, that must have its answer by a moment.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::addresses::Addresses;
use crate::channel::{Channel, ClientEndpoint, append_through};
use crate::protocol::UserId;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

pub(crate) struct TimedConnection {
    stream: TcpStream,
    /// What lies between the protocol and the socket; `None` if nothing.
    channel: Option<Box<Channel>>,
    deadline: Instant,
}

impl TimedConnection {
    /// Connects within `connect_timeout`. All else must be done within `timeout` from then on.
    pub(crate) fn open(
        server: &ClientEndpoint,
        addresses: &Addresses,
        connect_timeout: Duration,
        timeout: Duration,
    ) -> std::io::Result<TimedConnection> {
        let stream = addresses.connect(0, connect_timeout)?;
        let channel = Channel::new(server, UserId { room: 0, user: 0, users: 1 });
        Ok(TimedConnection { stream, channel, deadline: Instant::now() + timeout })
    }

    /// Writes these bytes, and what the channel has to write.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        let Some(channel) = &mut self.channel else { return self.stream.write_all(bytes) };
        let mut raw = Vec::new();
        channel.send(bytes, &mut raw);
        self.stream.write_all(&raw)
    }

    /// Reads once, and appends what was read. Returns the number of bytes, which is 0 at the end of the connection.
    pub(crate) fn read(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(self.left()?))?;
            let Some(channel) = &mut self.channel else { return self.read_plain(bytes) };
            match append_through(channel, &mut self.stream, bytes) {
                // Only the transport has read something.
                Ok(0) if channel.has_output() => self.write(&[])?,
                Ok(0) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => return Ok(0),
                other => return other,
            }
        }
    }

    /// The protocol that the server chose by ALPN, or `None` in its place, once TLS is agreed on; `None` without TLS and before that.
    pub(crate) fn application_protocol(&self) -> Option<Option<Vec<u8>>> {
        self.channel.as_ref()?.application_protocol()
    }

    fn read_plain(&mut self, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
        let before = bytes.len();
        bytes.resize(before + READ_BYTES, 0);
        let count = self.stream.read(&mut bytes[before..])?;
        bytes.truncate(before + count);
        Ok(count)
    }

    /// The time until the deadline; an error if it has passed.
    fn left(&self) -> std::io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}
