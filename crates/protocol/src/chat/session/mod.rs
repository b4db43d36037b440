//! One connection to a server: it consumes bytes and queues lines in outboxes.

mod client;
mod login;
mod modes;
mod privmsg;
mod queries;
mod rooms;
mod server_info;

use std::net::IpAddr;
use std::sync::Arc;

use client::Client;

use crate::chat::frame::{Event, Framer};
use crate::chat::line::line;
use crate::chat::numeric::TOO_LONG;
use crate::chat::state::{Outbox, ServerState};
use crate::service::{Flow, Service, Visit};

/// One connection to a [`ServerState`]. Dropping it ends the session as a lost connection does.
pub struct Session<O: Outbox> {
    framer: Framer,
    client: Client<O>,
    open: bool,
}

impl<O: Outbox> Session<O> {
    /// Starts the session of a new connection from the address `from`. Its lines are queued in `outbox`.
    pub fn new(server: &Arc<ServerState<O>>, from: IpAddr, outbox: O) -> Session<O> {
        let id = server.next_session_id();
        let client = Client::new(Arc::clone(server), id, from, outbox);
        Session { framer: Framer::default(), client, open: true }
    }

    /// Handles the received bytes, in pieces of any size.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Flow {
        while self.open {
            match self.framer.next(&mut bytes) {
                None => return Flow::Continue,
                Some(Event::Line(line)) => {
                    if let Some(reason) = self.client.dispatch(line) {
                        self.close(&reason);
                    }
                }
                Some(Event::TooLong) => self.client.reply_numeric(&TOO_LONG, &[]),
                Some(Event::Nul) => self.close(b"NUL in input"),
            }
        }
        Flow::Close
    }

    /// Ends the session from the server's side: the client gets an `ERROR` with `reason`, the others see it quit.
    pub fn close(&mut self, reason: &[u8]) {
        if self.open {
            self.client.outbox.send(&closing_line(reason));
            self.hang_up(reason);
        }
    }

    /// Ends the session because its connection is lost or too slow: the others see it quit.
    pub fn hang_up(&mut self, reason: &[u8]) {
        if self.open {
            self.open = false;
            self.client.leave_server(reason);
        }
    }

    /// Whether the client has registered. The I/O shell closes a connection that takes too long.
    pub fn registered(&self) -> bool {
        self.client.user.is_some()
    }
}

impl<O: Outbox> Drop for Session<O> {
    fn drop(&mut self) {
        self.hang_up(b"Connection closed");
    }
}

impl<O: Outbox + Send + Sync + 'static> Service<O> for ServerState<O> {
    type Visit = Session<O>;

    const REPLIES_ONLY: bool = false;
    const READ_BYTES: usize = 4096;

    fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> Session<O> {
        Session::new(self, from, outbox)
    }

    fn closing_message(reason: &[u8]) -> Arc<[u8]> {
        closing_line(reason)
    }
}

impl<O: Outbox + Send + Sync + 'static> Visit for Session<O> {
    fn feed(&mut self, bytes: &[u8]) -> Flow {
        Session::feed(self, bytes)
    }

    fn close(&mut self, reason: &[u8]) {
        Session::close(self, reason);
    }

    fn hang_up(&mut self, reason: &[u8]) {
        Session::hang_up(self, reason);
    }

    fn registered(&self) -> bool {
        Session::registered(self)
    }
}

/// The `ERROR` line that a connection gets before it is closed.
fn closing_line(reason: &[u8]) -> Arc<[u8]> {
    line(&[b"ERROR :Closing link: (", reason, b")"])
}
