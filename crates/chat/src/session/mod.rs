//! One connection's side of a hall: bytes in, lines to outboxes.

mod about;
mod client;
mod login;
mod modes;
mod queries;
mod rooms;
mod talk;

use std::net::IpAddr;
use std::sync::Arc;

use crate::frame::{Event, Framer};
use crate::hall::{Hall, Outbox};
use crate::line::line;
use crate::numeric::TOO_LONG;
use client::Client;

/// What the shell does next with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Read on.
    Continue,
    /// The session is over: write what its outbox holds, then close.
    Close,
}

/// One connection in a [`Hall`]. Dropping it hangs up.
pub struct Session<O: Outbox> {
    framer: Framer,
    client: Client<O>,
    open: bool,
}

impl<O: Outbox> Session<O> {
    pub(crate) fn new(hall: Arc<Hall<O>>, id: u64, from: IpAddr, outbox: O) -> Session<O> {
        Session { framer: Framer::default(), client: Client::new(hall, id, from, outbox), open: true }
    }

    /// Takes the bytes that arrived, in pieces of any size, and does what they ask for.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Flow {
        while self.open {
            match self.framer.next(&mut bytes) {
                None => return Flow::Continue,
                Some(Event::Line(line)) => {
                    if let Some(reason) = self.client.obey(line) {
                        self.close(&reason);
                    }
                }
                Some(Event::TooLong) => self.client.say(&TOO_LONG, &[]),
                Some(Event::Nul) => self.close(b"NUL in input"),
            }
        }
        Flow::Close
    }

    /// Ends the session from the server's side: it gets an `ERROR` that tells `reason`, the others see it quit.
    pub fn close(&mut self, reason: &[u8]) {
        if self.open {
            self.client.outbox.send(&closing_line(reason));
            self.hang_up(reason);
        }
    }

    /// Ends the session because its connection is gone (or cannot take a line any more): the others see it quit.
    pub fn hang_up(&mut self, reason: &[u8]) {
        if self.open {
            self.open = false;
            self.client.leave_hall(reason);
        }
    }

    /// Whether the client has registered. A shell gives it a limited time for that.
    pub fn registered(&self) -> bool {
        self.client.user.is_some()
    }
}

impl<O: Outbox> Drop for Session<O> {
    fn drop(&mut self) {
        self.hang_up(b"Connection closed");
    }
}

/// The `ERROR` line that a connection gets before it is closed.
pub fn closing_line(reason: &[u8]) -> Arc<[u8]> {
    line(&[b"ERROR :Closing link: (", reason, b")"])
}
