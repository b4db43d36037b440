//! WebSocket (RFC 6455) without any I/O, and IRC over it as IRCv3 specifies: one line a message, without CR LF. No extensions are
//! offered or accepted, so nothing is compressed.

mod decoder;
mod frame;
mod handshake;
mod service;
mod visit;

pub use decoder::{Decoder, Event, FrameError, Role};
pub use frame::{Opcode, write_frame};
pub use handshake::{
    Answer, BINARY_SUBPROTOCOL, HandshakeError, Rejection, RequestSource, TEXT_SUBPROTOCOL, accept,
    accept_value, check_answer, request_source, write_request,
};
pub use service::{FramedOutbox, WebSocket};
pub use visit::WebSocketVisit;

/// Most bytes of a message that this crate's servers and crowds accept.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;
