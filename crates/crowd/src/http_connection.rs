//! The crowd's side of a connection that asks for URLs, without any I/O: requests become bytes, and bytes replies. Each version of HTTP
//! is a module of its own.

use crate::http_command::{HttpError, HttpServer};
use crate::urls::Urls;

/// A request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Its number among those of its connection.
    pub(crate) sequence: u32,
    /// The index of its URL.
    pub(crate) url: usize,
}

/// The next thing among the bytes that were received.
pub(crate) enum Part {
    /// More bytes are needed.
    Incomplete,
    /// The reply to a request is complete; with what is wrong with it, if anything is.
    Complete(Request, Option<String>),
    /// The bytes are no reply at all.
    NoHttp(String),
    /// Bytes that no request asked for.
    Unexpected(String),
}

/// How a connection ended for the reply that was awaited.
pub(crate) enum End {
    /// No byte of a reply was missing, as the server had announced.
    Announced,
    /// The end was that of the body.
    Complete(Option<String>),
    /// Within a reply.
    Cut(String),
    /// In place of a reply.
    Instead(String),
}

pub(crate) trait HttpConnection: Send + 'static {
    /// A new connection that asks for the same URLs.
    fn anew(&self) -> Self;

    /// Asks for a URL on a connection of its own. Returns the status and the body of the reply, which may have `body_bytes_max`;
    /// `is_head`: it has no body, whatever its head says.
    ///
    /// # Errors
    /// There is no reply, or the server does not speak this version of HTTP.
    fn ask(
        &self,
        server: &HttpServer,
        url: usize,
        is_head: bool,
        body_bytes_max: usize,
    ) -> Result<(u16, Vec<u8>), HttpError>;

    /// Appends a request to `out`, or takes it for the next [`HttpConnection::flush`].
    fn send(&mut self, request: Request, out: &mut Vec<u8>);

    /// Appends to `out` what is to be sent, as far as there is room.
    fn flush(&mut self, _out: &mut Vec<u8>) {}

    /// Whether [`HttpConnection::flush`] has something to append as soon as there is room.
    fn has_more(&self) -> bool {
        false
    }

    /// Appends what is sent last.
    fn close(&mut self, _out: &mut Vec<u8>) {}

    /// Takes the next part from the front of `input`; `awaited` is the oldest request in flight.
    fn next(&mut self, input: &mut &[u8], urls: &Urls, awaited: impl FnOnce() -> Option<Request>) -> Part;

    /// Whether the server takes another request on this connection.
    fn may_send(&self) -> bool {
        !self.is_closing()
    }

    /// Whether the last reply of the connection is complete.
    fn is_closing(&self) -> bool;

    /// The server has closed the connection, and a new one follows.
    fn on_end(&mut self, urls: &Urls, awaited: Option<Request>) -> End;
}
