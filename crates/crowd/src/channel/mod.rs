//! What lies between the bytes of a protocol and those of the socket, for transports other than `plain`.

mod websocket;

use klatch_record::Transport;

use crate::protocol::UserId;
use websocket::WebSocketClient;

/// How the connections of a crowd are carried.
#[derive(Clone, Debug, Default)]
pub struct TransportOptions {
    /// What lies between the protocol and TCP.
    pub kind: Transport,
    /// Path of the WebSocket, beginning with `/`.
    pub path: String,
    /// Subprotocol that the server must agree to; `None` to ask for none.
    pub subprotocol: Option<String>,
    /// Each line of the protocol is a message. Otherwise the messages are a stream of bytes.
    pub lines: bool,
    /// Host and port of the server, as HTTP names them.
    pub host: String,
}

/// One connection's transport. Plain bytes are those of the protocol, raw bytes those of the socket.
pub(crate) struct Channel {
    websocket: WebSocketClient,
}

impl Channel {
    /// The channel of a new connection; `None` if the protocol's bytes are the socket's.
    pub(crate) fn new(options: &TransportOptions, id: UserId) -> Option<Box<Channel>> {
        match options.kind {
            Transport::Plain => None,
            Transport::Ws => Some(Box::new(Channel { websocket: WebSocketClient::new(options, id) })),
        }
    }

    /// Appends to `raw` what is to be written now: that of `plain` which may be sent already, and replies of the transport.
    pub(crate) fn send(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        self.websocket.send(plain, raw);
    }

    /// Whether [`Channel::send`] has something to append without further plain bytes.
    pub(crate) fn has_output(&self) -> bool {
        self.websocket.has_output()
    }

    /// Appends to `plain` what the received bytes contain.
    ///
    /// # Errors
    /// The server violates the protocol of the transport, or has closed it.
    pub(crate) fn receive(&mut self, raw: &[u8], plain: &mut Vec<u8>) -> std::io::Result<()> {
        self.websocket.receive(raw, plain)
    }

    /// Ends the connection in the way of the transport, after all that was sent before.
    pub(crate) fn close(&mut self) {
        self.websocket.close();
    }

    /// The error of a connection whose stream of bytes has ended.
    pub(crate) fn end_error(&self) -> std::io::Error {
        std::io::Error::other(self.websocket.end_reason())
    }
}

thread_local! {
    /// Received bytes, and the plain bytes in them. They are empty between two calls.
    static SCRATCH: std::cell::RefCell<(Vec<u8>, Vec<u8>)> = const { std::cell::RefCell::new((Vec::new(), Vec::new())) };
}

/// Reads once through a channel into `buffer`. Returns the number of plain bytes, which may be none; `None` if there is nothing to read.
///
/// # Errors
/// The connection broke or has ended, or the server violates the protocol of the transport.
pub(crate) fn read_through(
    channel: &mut Channel,
    stream: &mut impl std::io::Read,
    buffer: &mut [u8],
) -> std::io::Result<usize> {
    SCRATCH.with_borrow_mut(|(raw, plain)| {
        // A frame has a head at least as long as the line end that it stands for. So the plain bytes are no more, but for a
        // message whose fragments were received before.
        raw.resize(buffer.len().saturating_sub(klatch_websocket::MESSAGE_BYTES_MAX).min(64 * 1024), 0);
        let bytes = stream.read(raw)?;
        if bytes == 0 {
            return Err(channel.end_error());
        }
        plain.clear();
        channel.receive(&raw[..bytes], plain)?;
        buffer[..plain.len()].copy_from_slice(plain);
        Ok(plain.len())
    })
}
