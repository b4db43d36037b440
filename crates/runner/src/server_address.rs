//! The address of a server for crowds of other machines, and the file in which the server announces it.

use std::io;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use klatch_record::save_text;
use thiserror::Error;

/// Largest file that is read, bytes. A ready line has about 200.
const LENGTH_MAX: u64 = 4096;

/// The file of a server. It is removed when dropped, so that no crowd finds a server that has ended.
pub struct ReadyFile(PathBuf);

impl ReadyFile {
    /// The file with this path, which is not written yet.
    pub fn new(path: PathBuf) -> ReadyFile {
        ReadyFile(path)
    }

    /// Writes the ready line; a reader sees all of it or none.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, ready: &str) -> std::io::Result<()> {
        save_text(&format!("{ready}\n"), &self.0).map_err(std::io::Error::other)
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // Another server may have replaced it.
        let own = format!(r#""pid":{},"#, std::process::id());
        if read(&self.0).is_ok_and(|text| text.contains(&own)) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// The reason why there is no server for a crowd.
#[derive(Debug, Error)]
pub enum ServerAddressError {
    /// The file cannot be read.
    #[error("cannot read the server's file {path}", path = path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is none of a server.
    #[error("{path} has no address of a server", path = path.display())]
    NoAddress {
        /// Its path.
        path: PathBuf,
    },
    /// Crowds of other machines cannot use the address in the file.
    #[error("{path} is of a server that listens on all addresses of its machine", path = path.display())]
    AllAddresses {
        /// Its path.
        path: PathBuf,
    },
    /// No connection was accepted.
    #[error("no server accepted connections on {host}:{port}")]
    Refused {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
        /// The last error.
        source: io::Error,
    },
    /// The time to wait has ended.
    #[error("waited for the server for {limit_s} s")]
    Waited {
        /// The time, seconds.
        limit_s: f64,
        /// The last error.
        source: Box<ServerAddressError>,
    },
}

/// Reads the address of a server: host and port.
fn server_of(path: &Path) -> Result<(String, u16), ServerAddressError> {
    let text =
        read(path).map_err(|source| ServerAddressError::Unreadable { path: path.to_owned(), source })?;
    let ready: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let host = ready.as_ref().and_then(|ready| ready["host"].as_str());
    let port = ready.as_ref().and_then(|ready| ready["port"].as_u64()).and_then(|port| port.try_into().ok());
    let address = host.map(str::to_owned).zip(port);
    address.ok_or_else(|| ServerAddressError::NoAddress { path: path.to_owned() })
}

fn read(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, LENGTH_MAX), &mut text)?;
    Ok(text)
}

/// Time between two attempts. Nothing announces that a server of another machine listens, or that it wrote its file.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the server of a crowd is.
pub struct ServerAddress {
    /// Host name or address; `None` for that of the file, or this machine.
    pub host: Option<String>,
    /// TCP port.
    pub port: u16,
    /// The file with its address, which has precedence over `port`.
    pub file: Option<PathBuf>,
}

impl ServerAddress {
    /// Host and port; reads the file, if there is one.
    ///
    /// # Errors
    /// The file cannot be read, or does not say at which address of its machine other machines reach the server.
    fn resolve(&self) -> Result<(String, u16), ServerAddressError> {
        let Some(path) = &self.file else {
            return Ok((self.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned()), self.port));
        };
        let (host, port) = server_of(path)?;
        Ok((self.named(host, path)?, port))
    }

    fn named(&self, host: String, path: &Path) -> Result<String, ServerAddressError> {
        let is_any = host.parse().is_ok_and(|address: IpAddr| address.is_unspecified());
        match &self.host {
            Some(own) => Ok(own.clone()),
            None if is_any => Err(ServerAddressError::AllAddresses { path: path.to_owned() }),
            None => Ok(host),
        }
    }

    /// Host and port; with a limit, waits until the server accepts connections, for that long at most.
    ///
    /// # Errors
    /// The file cannot be read, or the server does not accept within that time.
    pub fn find(&self, limit: Option<Duration>) -> Result<(String, u16), ServerAddressError> {
        let Some(limit) = limit else { return self.resolve() };
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(PAUSE);
            let found = self.resolve().and_then(|(host, port)| match connect(&host, port, left) {
                Ok(()) => Ok((host, port)),
                Err(source) => Err(ServerAddressError::Refused { host, port, source }),
            });
            let Err(error) = found else { return found };
            if Instant::now() + PAUSE >= deadline {
                let limit_s = limit.as_secs_f64();
                return Err(ServerAddressError::Waited { limit_s, source: Box::new(error) });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_announces_its_address_and_takes_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.json");
        assert!(server_of(&path).unwrap_err().to_string().contains("cannot read the server's file"));
        let file = ReadyFile::new(path.clone());
        let pid = std::process::id();
        file.write(&format!(
            r#"{{"event":"ready","host":"10.0.0.7","port":6667,"pid":{pid},"model":"epoll"}}"#
        ))
        .unwrap();
        assert_eq!(server_of(&path).unwrap(), ("10.0.0.7".to_owned(), 6667));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_without_an_address_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.json");
        for text in ["", "{}", r#"{"host":"a","port":70000}"#, r#"{"host":1,"port":1}"#] {
            std::fs::write(&path, text).unwrap();
            let error = server_of(&path).unwrap_err().to_string();
            assert!(error.contains("has no address of a server"), "{error}");
        }
    }
}
