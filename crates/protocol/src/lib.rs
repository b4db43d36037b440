//! What is measured between bytes and meaning, without any I/O: the chat core and the transports around a service. An I/O model is a
//! shell around it.
//!
//! * [`service`] is the interface between what a server does and how it moves bytes.
//! * [`chat`] is the chat: messages, rooms, sessions.
//! * [`old_epoll`] waits for events on kernels before 5.11, for servers and crowds.
//! * [`websocket`] and [`tls`] are layers around a service, and the crowd's side of them.

pub mod chat;
pub mod old_epoll;
pub mod service;
pub mod tls;
pub mod websocket;
