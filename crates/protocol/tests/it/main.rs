//! The protocols as dialogues, vectors, peers of other libraries and random input.

mod chat;
mod tls;
mod websocket;
