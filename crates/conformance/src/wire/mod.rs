//! A client for tests: many connections on one thread. Whoever waits for a line reads for all connections of its
//! check, so that no server has to wait for a client that nobody looks at.

mod client;
mod line;
mod link;
mod net;

pub(crate) use client::Client;
pub(crate) use line::Line;
pub(crate) use net::Net;
