//! An IRC client for checks: many connections on one thread. A wait for one line reads from all connections of the check, so
//! no server blocks on a client that is not being read.

mod client;
mod connection;
mod line;
mod net;

pub(crate) use client::Client;
pub(crate) use line::Line;
pub(crate) use net::Net;
