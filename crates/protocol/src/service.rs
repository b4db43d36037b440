//! The interface between what a server does and how it moves bytes. A workload's server side implements [`Service`]
//! without any I/O; an I/O model is a shell that is generic over it. So a difference in score is a difference of the model.

use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// The next step of the I/O shell for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The connection stays open: read on.
    Continue,
    /// The visit has ended: write the rest of its outbox, then close the connection.
    Close,
}

/// The destination of the bytes for one connection. Clones share the same queue.
pub trait Outbox: Clone {
    /// Queues a reply. It must not block, fail, or call back into the service. An outbox that cannot take the bytes
    /// records that, and its I/O shell closes the connection later.
    fn send(&self, bytes: &Arc<[u8]>);

    /// Whether the connection takes more. A service checks this before work whose only result is replies to this connection.
    fn is_open(&self) -> bool {
        true
    }

    /// Queues the delivery of a message. A chat server of class `classic` makes one write for each of these; replies
    /// and membership changes may be combined.
    fn deliver(&self, bytes: &Arc<[u8]>) {
        self.send(bytes);
    }

    /// Passes what is written together through `seal` from now on, if this outbox combines what waits into batches. Returns whether it
    /// does; otherwise the caller passes whole units.
    fn seal_batches(&self, _seal: &Arc<dyn Seal>) -> bool {
        false
    }

    /// Gives the socket of the connection to `take`, if this outbox has one and nothing waits to be written to it. `take` returns whether
    /// the kernel makes the records of TLS from now on; then the outbox ends the connection with an alert. Returns what `take`
    /// returned, or false.
    ///
    /// # Errors
    /// Those of `take`.
    fn give_socket(
        &self,
        _take: &mut dyn FnMut(BorrowedFd<'_>) -> std::io::Result<bool>,
    ) -> std::io::Result<bool> {
        Ok(false)
    }
}

/// Makes the bytes of the socket from those of a service, in the order in which they are written.
pub trait Seal: Send + Sync {
    /// Appends to `raw` what stands for `plain`.
    fn seal(&self, plain: &[u8], raw: &mut Vec<u8>);
}

/// The server side of a workload, shared by the connections of a server.
pub trait Service<O: Outbox>: Send + Sync + 'static {
    /// What the service keeps for one connection.
    type Visit: Visit;

    /// Whether only a connection's own visit puts bytes into its outbox. Then a threaded shell needs no sender.
    const REPLIES_ONLY: bool;

    /// Bytes that a shell reads at a time where each connection has a buffer of its own.
    const READ_BYTES: usize;

    /// Starts the visit of a new connection from the address `from`. Its bytes are queued in `outbox`.
    fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> Self::Visit;

    /// The bytes that tell a client why its connection is closed; empty if the protocol has no such message.
    fn closing_message(reason: &[u8]) -> Arc<[u8]>;
}

/// One connection to a [`Service`]. Dropping it ends the visit as a lost connection does.
pub trait Visit: Send + 'static {
    /// Handles the received bytes, in pieces of any size.
    fn feed(&mut self, bytes: &[u8]) -> Flow;

    /// Ends the visit from the server's side: the client gets the closing message for `reason`.
    fn close(&mut self, reason: &[u8]);

    /// Ends the visit because its connection is lost or too slow.
    fn hang_up(&mut self, reason: &[u8]);

    /// Whether the client of an ended visit may still be sending. Then the I/O shell reads on for a moment, since a connection that is
    /// closed with unread input is reset, and its client loses the last bytes that it was sent.
    fn may_send_more(&self) -> bool {
        true
    }

    /// Whether the client has done what a new connection must do first. The I/O shell closes one that takes too long.
    fn registered(&self) -> bool;

    /// Number of the request of which only a part has arrived; `None` between requests. The I/O shell closes a connection whose
    /// request stays incomplete for too long. Numbers of successive requests differ, so a client that always has one under way
    /// is not mistaken for one that does not finish.
    fn incomplete_request(&self) -> Option<u64> {
        None
    }
}
