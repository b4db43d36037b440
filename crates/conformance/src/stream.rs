//! Connections of checks that wait for each answer.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::finding::{Checked, wrong};

/// Connects, with this time limit for each later read and write too. Writes are sent at once, without waiting for more.
pub(crate) fn connect(address: SocketAddr, answer_timeout: Duration) -> Checked<TcpStream> {
    let configured = |stream: TcpStream| {
        stream.set_read_timeout(Some(answer_timeout))?;
        stream.set_write_timeout(Some(answer_timeout))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    TcpStream::connect_timeout(&address, answer_timeout)
        .and_then(configured)
        .or_else(|error| wrong(format!("no connection: {error}")))
}
