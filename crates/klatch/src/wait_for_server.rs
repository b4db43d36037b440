//! Finds the server of a crowd, and waits until it accepts connections.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::server_file::server_of;

/// Time between two attempts. Nothing announces that a server of another machine listens, or that it wrote its file.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the server of a crowd is, as on the command line.
pub(crate) struct ServerAddress {
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    /// The file with its address, which has precedence over `port`.
    pub(crate) file: Option<PathBuf>,
}

impl ServerAddress {
    /// Host and port; reads the file, if there is one.
    ///
    /// # Errors
    /// The file cannot be read, or does not say at which address of its machine other machines reach the server.
    fn resolve(&self) -> anyhow::Result<(String, u16)> {
        let Some(path) = &self.file else {
            return Ok((self.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned()), self.port));
        };
        let (host, port) = server_of(path)?;
        Ok((self.named(host, path)?, port))
    }

    fn named(&self, host: String, path: &Path) -> anyhow::Result<String> {
        let any = host.parse().is_ok_and(|address: std::net::IpAddr| address.is_unspecified());
        match &self.host {
            Some(own) => Ok(own.clone()),
            None if any => anyhow::bail!(
                "{} is of a server that listens on all addresses of its machine; give one with --host",
                path.display()
            ),
            None => Ok(host),
        }
    }

    /// Host and port; with a limit, waits until the server accepts connections, for that long at most.
    ///
    /// # Errors
    /// The file cannot be read, or the server does not accept within that time.
    pub(crate) fn find(&self, limit: Option<Duration>) -> anyhow::Result<(String, u16)> {
        let Some(limit) = limit else { return self.resolve() };
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(PAUSE);
            let found = self.resolve().and_then(|(host, port)| {
                connect(&host, port, left)
                    .with_context(|| format!("no server accepted connections on {host}:{port}"))?;
                Ok((host, port))
            });
            let Err(error) = found else { return found };
            if Instant::now() + PAUSE >= deadline {
                return Err(error.context(format!("waited for the server for {} s", limit.as_secs_f64())));
            }
            std::thread::sleep(PAUSE);
        }
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
