//! The chat core: it converts between bytes and IRC messages and holds the state of rooms and sessions. It performs no
//! I/O and reads no clock, so every I/O model is a thin shell around the same code.
//!
//! * [`frame`] splits bytes into lines, [`message`] parses a line, [`write`] appends a client's lines to a buffer.
//! * [`names`] validates and compares nicks and channel names.
//! * [`state`] holds the rooms and users of one server; [`session`] handles one connection to it.
//! * [`text`] defines the text of a benchmark message.

pub mod frame;
pub mod message;
pub mod names;
pub mod session;
pub mod state;
pub mod text;
pub mod write;

mod line;
mod numeric;

pub use crate::service::{Flow, Outbox};
pub use session::Session;
pub use state::{Identity, ServerState};
