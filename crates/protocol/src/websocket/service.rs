//! A chat service over WebSocket: each line is a message, in both directions.

use std::cell::RefCell;
use std::net::IpAddr;
use std::sync::Arc;

use crate::service::{Outbox, Service};

use crate::websocket::WebSocketVisit;
use crate::websocket::frame::{Opcode, write_frame};

/// A service of lines whose clients connect by WebSocket. `inner` is the same for all I/O models.
pub struct WebSocket<S> {
    pub(crate) inner: Arc<S>,
}

impl<S> WebSocket<S> {
    /// The service `inner` over WebSocket.
    pub fn new(inner: Arc<S>) -> WebSocket<S> {
        WebSocket { inner }
    }
}

impl<O, S> Service<O> for WebSocket<S>
where
    O: Outbox + Send + 'static,
    S: Service<FramedOutbox<O>>,
{
    type Visit = WebSocketVisit<O, S>;

    const REPLIES_ONLY: bool = S::REPLIES_ONLY;
    const READ_BYTES: usize = S::READ_BYTES;

    fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> WebSocketVisit<O, S> {
        WebSocketVisit::new(Arc::clone(&self.inner), from, outbox)
    }

    /// There is none: the bytes before it may be a part of a frame.
    fn closing_message(_: &[u8]) -> Arc<[u8]> {
        Arc::default()
    }
}

/// Frames the lines for one connection.
#[derive(Clone)]
pub struct FramedOutbox<O> {
    pub(crate) outbox: O,
    pub(crate) is_text: bool,
}

/// Lines, and the same as frames.
struct Framed {
    lines: Arc<[u8]>,
    is_text: bool,
    frames: Arc<[u8]>,
}

thread_local! {
    /// The last lines that this thread framed. A message goes to each member of its room, one after the other, so it is
    /// framed once and not once for each.
    static LAST: RefCell<Option<Framed>> = const { RefCell::new(None) };
}

impl<O: Outbox> Outbox for FramedOutbox<O> {
    fn send(&self, lines: &Arc<[u8]>) {
        self.outbox.send(&self.framed(lines));
    }

    fn deliver(&self, lines: &Arc<[u8]>) {
        self.outbox.deliver(&self.framed(lines));
    }

    fn is_open(&self) -> bool {
        self.outbox.is_open()
    }
}

impl<O> FramedOutbox<O> {
    fn framed(&self, lines: &Arc<[u8]>) -> Arc<[u8]> {
        LAST.with_borrow_mut(|last| {
            if let Some(one) = last
                && Arc::ptr_eq(&one.lines, lines)
                && one.is_text == self.is_text
            {
                return Arc::clone(&one.frames);
            }
            let frames: Arc<[u8]> = frame_lines(lines, self.is_text).into();
            *last =
                Some(Framed { lines: Arc::clone(lines), is_text: self.is_text, frames: Arc::clone(&frames) });
            frames
        })
    }
}

/// One frame for each line, without its CR LF. What is not UTF-8 is replaced in a text.
fn frame_lines(lines: &[u8], is_text: bool) -> Vec<u8> {
    let mut frames = Vec::with_capacity(lines.len() + 2);
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match is_text {
            true => write_frame(&mut frames, Opcode::Text, None, String::from_utf8_lossy(line).as_bytes()),
            false => write_frame(&mut frames, Opcode::Binary, None, line),
        }
    }
    frames
}
