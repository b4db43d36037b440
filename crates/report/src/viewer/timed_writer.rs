//! Writes to a client that may not read.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A writer to a connection that fails when what was written since the last flush is not taken in time.
pub(crate) struct TimedWriter<'a> {
    stream: &'a TcpStream,
    patience: Duration,
    /// Of what is being written; `None` after a flush.
    deadline: Option<Instant>,
}

impl TimedWriter<'_> {
    /// `patience` is the time from the first write after a flush to the next flush.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn new(stream: &TcpStream, patience: Duration) -> io::Result<TimedWriter<'_>> {
        stream.set_write_timeout(Some(patience))?;
        Ok(TimedWriter { stream, patience, deadline: None })
    }
}

impl Write for TimedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.patience);
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        if left < self.patience / 2 {
            // Of a client that reads a little at a time.
            self.stream.set_write_timeout(Some(left))?;
        }
        self.stream.write(bytes).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
            _ => error,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.deadline.take().is_some() {
            self.stream.set_write_timeout(Some(self.patience))?;
        }
        self.stream.flush()
    }
}
