//! One connection of a client by TLS.

use std::sync::Arc;

use crate::service::{Flow, Outbox, Seal, Service, Visit};

use crate::tls::service::TlsOutbox;

/// One connection to a [`crate::tls::Tls`].
pub struct TlsVisit<O: Outbox, S: Service<TlsOutbox<O>>> {
    outbox: TlsOutbox<O>,
    inner: S::Visit,
    ended: bool,
    /// The handshake is done, which is known here without the lock.
    is_open: bool,
    /// The kernel makes the records, which is known here without the lock.
    in_kernel: bool,
}

impl<O, S> TlsVisit<O, S>
where
    O: Outbox + Send + 'static,
    S: Service<TlsOutbox<O>>,
{
    pub(crate) fn new(outbox: TlsOutbox<O>, inner: S::Visit) -> TlsVisit<O, S> {
        TlsVisit { outbox, inner, ended: false, is_open: false, in_kernel: false }
    }

    /// Decrypts into `plain`, and sends what the handshake or an alert needs. Returns whether the connection is in order.
    fn decrypt(&mut self, bytes: &[u8], plain: &mut Vec<u8>) -> bool {
        let records = &self.outbox.records;
        let mut state = records.state();
        let was_open = self.is_open;
        let received = state.pipe.receive(bytes, plain);
        self.is_open = state.pipe.is_open();
        if state.takes_plain {
            return received.is_ok();
        }
        let mut raw = Vec::new();
        state.pipe.send(&[], &mut raw);
        if !raw.is_empty() {
            self.outbox.outbox.send(&raw.into());
        }
        if state.pipe.awaits_kernel() {
            // With the lock held: nobody may add a record of the library to the outbox in between.
            let moved = self.outbox.outbox.give_socket(&mut |socket| state.pipe.move_to_kernel(socket));
            self.in_kernel = moved.as_ref().is_ok_and(|&is_moved| is_moved);
            state.takes_plain = self.in_kernel;
            return received.is_ok() && moved.is_ok();
        }
        if !was_open && self.is_open {
            let seal: Arc<dyn Seal> = records.clone();
            state.takes_plain = self.outbox.outbox.seal_batches(&seal);
        }
        received.is_ok()
    }

    /// Announces the end of the connection.
    fn end(&mut self) {
        self.ended = true;
        let mut state = self.outbox.records.state();
        state.ending = true;
        if !state.takes_plain {
            state.pipe.close();
            let mut raw = Vec::new();
            state.pipe.send(&[], &mut raw);
            self.outbox.outbox.send(&raw.into());
        }
    }
}

impl<O, S> Visit for TlsVisit<O, S>
where
    O: Outbox + Send + 'static,
    S: Service<TlsOutbox<O>>,
{
    fn feed(&mut self, bytes: &[u8]) -> Flow {
        if self.ended {
            return Flow::Close;
        }
        if self.in_kernel {
            return self.inner.feed(bytes);
        }
        // Not kept: an idle connection owns no buffer, since there are many.
        let mut plain = Vec::new();
        let is_in_order = self.decrypt(bytes, &mut plain);
        let mut flow = Flow::Continue;
        if !plain.is_empty() {
            flow = self.inner.feed(&plain);
        }
        let peer_closed = self.outbox.records.state().pipe.peer_closed();
        if !is_in_order || peer_closed {
            self.inner.hang_up(if peer_closed { b"Connection closed" } else { b"TLS error" });
            flow = Flow::Close;
        }
        if flow == Flow::Close {
            self.end();
        }
        flow
    }

    fn close(&mut self, reason: &[u8]) {
        self.inner.close(reason);
        self.end();
    }

    fn hang_up(&mut self, reason: &[u8]) {
        self.ended = true;
        self.inner.hang_up(reason);
    }

    fn may_send_more(&self) -> bool {
        self.inner.may_send_more()
    }

    /// A client must finish the handshake, whatever else a new connection must do first.
    fn registered(&self) -> bool {
        self.is_open && self.inner.registered()
    }

    fn incomplete_request(&self) -> Option<u64> {
        self.inner.incomplete_request()
    }
}
