//! The chat core: bytes ↔ IRC messages, and the state of rooms and sessions. It does no input or output and knows no
//! clock, so every I/O model is a thin shell around the same code.
//!
//! * [`frame`] cuts bytes into lines, [`message`] takes a line apart, [`write`] appends a client's lines.
//! * [`names`] knows which nicks and channels are valid and when two are the same.
//! * [`hall`] holds the rooms and users of one server; [`session`] is one connection's side of it.
//! * [`text`] is the benchmark's own content of a message.

pub mod frame;
pub mod hall;
pub mod message;
pub mod names;
pub mod session;
pub mod text;
pub mod write;

mod line;
mod numeric;

pub use hall::{Hall, Identity, Outbox};
pub use session::{Flow, Session};
