//! One connection of a client by WebSocket.

use std::net::IpAddr;
use std::sync::Arc;

use crate::service::{Flow, Outbox, Service, Visit};

use crate::websocket::frame::{Opcode, write_frame};
use crate::websocket::service::FramedOutbox;
use crate::websocket::{BINARY_SUBPROTOCOL, Decoder, Event, FrameError, MESSAGE_BYTES_MAX, Role, accept};

/// One connection to a [`crate::websocket::WebSocket`]. The inner visit begins when the handshake is complete.
pub struct WebSocketVisit<O: Outbox, S: Service<FramedOutbox<O>>> {
    service: Arc<S>,
    from: IpAddr,
    outbox: O,
    /// An incomplete request or frame.
    pending: Vec<u8>,
    decoder: Decoder,
    inner: Option<S::Visit>,
    /// A line with its CR LF, for the inner visit.
    line: Vec<u8>,
    ended: bool,
}

impl<O, S> WebSocketVisit<O, S>
where
    O: Outbox + Send + 'static,
    S: Service<FramedOutbox<O>>,
{
    pub(crate) fn new(service: Arc<S>, from: IpAddr, outbox: O) -> WebSocketVisit<O, S> {
        let decoder = Decoder::new(Role::Server, MESSAGE_BYTES_MAX);
        let (pending, line) = (Vec::new(), Vec::new());
        WebSocketVisit { service, from, outbox, pending, decoder, inner: None, line, ended: false }
    }

    /// Handles what is complete in `input`. Returns the number of its bytes.
    fn serve(&mut self, input: &[u8]) -> usize {
        let mut used = 0;
        if self.inner.is_none() {
            used = self.shake_hands(input);
        }
        while used < input.len() && !self.ended && self.inner.is_some() {
            match self.serve_frame(&input[used..]) {
                Ok(Some(bytes)) => used += bytes,
                Ok(None) => break,
                Err(error) => {
                    self.end_inner(error.reason.as_bytes());
                    self.send_close(error.code, error.reason);
                }
            }
        }
        used
    }

    fn shake_hands(&mut self, input: &[u8]) -> usize {
        match accept(input) {
            Ok(None) => 0,
            Ok(Some(answer)) => {
                self.outbox.send(&answer.head.into());
                let is_text = answer.subprotocol != Some(BINARY_SUBPROTOCOL);
                let outbox = FramedOutbox { outbox: self.outbox.clone(), is_text };
                self.inner = Some(self.service.enter(self.from, outbox));
                answer.request_bytes
            }
            Err(rejection) => {
                self.outbox.send(&rejection.0.into());
                self.ended = true;
                input.len()
            }
        }
    }

    /// Handles the first frame. Returns its length in bytes; `None` if it is incomplete.
    fn serve_frame(&mut self, input: &[u8]) -> Result<Option<usize>, FrameError> {
        let Some((bytes, event)) = self.decoder.decode(input)? else { return Ok(None) };
        match event {
            Event::Message { payload, .. } => {
                if payload.iter().any(|&byte| byte == b'\r' || byte == b'\n') {
                    return Err(FrameError { code: 1008, reason: "a message is one line, without its end" });
                }
                self.line.clear();
                self.line.extend_from_slice(payload);
                self.line.extend_from_slice(b"\r\n");
                let flow = self.inner.as_mut().map_or(Flow::Close, |inner| inner.feed(&self.line));
                if flow == Flow::Close {
                    self.send_close(1000, "");
                }
            }
            Event::Ping(payload) => {
                let mut pong = Vec::new();
                write_frame(&mut pong, Opcode::Pong, None, payload);
                self.outbox.send(&pong.into());
            }
            Event::Close { code, .. } => {
                self.end_inner(b"Connection closed");
                self.send_close(code.unwrap_or(1000), "");
            }
            Event::Pong(_) | Event::Nothing => {}
        }
        Ok(Some(bytes))
    }

    fn end_inner(&mut self, reason: &[u8]) {
        if let Some(inner) = &mut self.inner {
            inner.hang_up(reason);
        }
    }

    fn send_close(&mut self, code: u16, reason: &str) {
        self.ended = true;
        let mut frame = Vec::new();
        write_frame(&mut frame, Opcode::Close, None, &[&code.to_be_bytes(), reason.as_bytes()].concat());
        self.outbox.send(&frame.into());
    }
}

impl<O, S> Visit for WebSocketVisit<O, S>
where
    O: Outbox + Send + 'static,
    S: Service<FramedOutbox<O>>,
{
    fn feed(&mut self, bytes: &[u8]) -> Flow {
        // Almost every frame arrives in one piece and needs no copy.
        if self.pending.is_empty() {
            let used = self.serve(bytes);
            self.pending.extend_from_slice(&bytes[used..]);
        } else {
            let mut pending = std::mem::take(&mut self.pending);
            pending.extend_from_slice(bytes);
            let used = self.serve(&pending);
            pending.drain(..used);
            self.pending = pending;
        }
        if self.ended { Flow::Close } else { Flow::Continue }
    }

    fn close(&mut self, reason: &[u8]) {
        if let (Some(inner), false) = (&mut self.inner, self.ended) {
            inner.close(reason);
            self.send_close(1000, "");
        }
        self.ended = true;
    }

    fn hang_up(&mut self, reason: &[u8]) {
        self.ended = true;
        self.end_inner(reason);
    }

    fn registered(&self) -> bool {
        self.inner.as_ref().is_some_and(Visit::registered)
    }

    fn incomplete_request(&self) -> Option<u64> {
        self.inner.as_ref().and_then(Visit::incomplete_request)
    }
}
