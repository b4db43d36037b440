//! Waits until a server accepts connections.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Time between two attempts. Nothing announces that a server of another machine listens.
const PAUSE: Duration = Duration::from_millis(100);

/// Connects to the server until it accepts, for `limit` at most.
///
/// # Errors
/// It does not accept within that time.
pub(crate) fn wait_for_server(host: &str, port: u16, limit: Duration) -> anyhow::Result<()> {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).max(PAUSE);
        let Err(error) = connect(host, port, left) else { return Ok(()) };
        anyhow::ensure!(
            Instant::now() + PAUSE < deadline,
            "no server accepted connections on {host}:{port} within {} s: {error}",
            limit.as_secs_f64()
        );
        std::thread::sleep(PAUSE);
    }
}

/// Connects to the first address that accepts.
fn connect(host: &str, port: u16, limit: Duration) -> std::io::Result<()> {
    let mut last = std::io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}
