//! A server that Klatch started: ready, watched, and stopped when dropped.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use klatch_record::Class;
use tempfile::TempDir;
use thiserror::Error;

use crate::catalog::ReadyBy;
use crate::choose::{Chosen, PlatformError};
use crate::command::Site;
use crate::process::{Line, Process, ProcessError, Processes, in_words};
use crate::ready::Ready;

/// Between two tries whether a server accepts connections.
const TRY_PERIOD: Duration = Duration::from_millis(10);

/// A server that accepts connections. Dropping it stops it.
pub struct Server {
    // Before the folder: the files go when nobody reads them any more.
    process: Process,
    _folder: TempDir,
    /// Where it listens.
    pub address: SocketAddr,
    /// The process to watch.
    pub pid: u32,
    /// How it writes.
    pub class: Class,
    /// The exact command line.
    pub command: Vec<String>,
}

/// Why a server cannot be had.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Its command line cannot be made.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// There is no folder or port for it.
    #[error("{name}: cannot get a folder and a port for it: {source}")]
    Site {
        /// The platform.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It cannot be started at all.
    #[error("{name}: {source}")]
    Process {
        /// The platform.
        name: String,
        /// Why not.
        source: ProcessError,
    },
    /// It ended before it was ready.
    #[error("{name} ended before it was ready ({how}); it said: {words}")]
    Ended {
        /// The platform.
        name: String,
        /// Its exit status.
        how: String,
        /// Its standard error.
        words: String,
    },
    /// It did not get ready in time.
    #[error(
        "{name} was not ready after {patience_s} s and was stopped; it said: {words}; \
         give it more with --ready-timeout"
    )]
    Late {
        /// The platform.
        name: String,
        /// How long it had, seconds.
        patience_s: f64,
        /// Its standard error.
        words: String,
    },
}

impl Server {
    /// Starts the platform on a free port of `listen`, an address of this machine, and waits until it accepts connections.
    ///
    /// # Errors
    /// It cannot be built or started, or does not get ready within `patience`; nothing of it is left running.
    pub fn start(
        chosen: &Chosen,
        listen: IpAddr,
        all: &Processes,
        patience: Duration,
    ) -> Result<Server, ServerError> {
        let name = &chosen.name;
        let no_site = |source| ServerError::Site { name: name.clone(), source };
        let folder = tempfile::Builder::new().prefix("klatch-").tempdir().map_err(no_site)?;
        let port = match chosen.entry.ready {
            ReadyBy::Line => 0,
            ReadyBy::Accepts => free_port(listen).map_err(no_site)?,
        };
        let command = chosen.prepare(&Site { host: &listen.to_string(), port, folder: folder.path() })?;
        let mut process = all
            .start(&command, &chosen.tuned.launch)
            .map_err(|source| ServerError::Process { name: name.clone(), source })?;
        let deadline = Instant::now() + patience;
        let ready = match chosen.entry.ready {
            ReadyBy::Line => until_line(&process, deadline),
            ReadyBy::Accepts => until_accepted(&process, (listen, port).into(), deadline),
        };
        let (pid, class) = (process.pid(), chosen.entry.class);
        match ready {
            Waited::Ready(port, said) => {
                let pid = said.as_ref().map_or(pid, |ready| ready.pid);
                chosen.tuned.in_force(pid).map_err(PlatformError::from)?;
                Ok(Server {
                    address: (listen, port).into(),
                    pid,
                    class: said.map_or(class, |ready| ready.class),
                    process,
                    _folder: folder,
                    command,
                })
            }
            Waited::Ended if all.interrupted() => {
                Err(ServerError::Process { name: name.clone(), source: ProcessError::Interrupted })
            }
            Waited::Ended => {
                let how = process.ended_soon().map_or("it closed its output".to_owned(), in_words);
                Err(ServerError::Ended { name: name.clone(), how, words: or_nothing(process.last_words()) })
            }
            Waited::Late => Err(ServerError::Late {
                name: name.clone(),
                patience_s: patience.as_secs_f64(),
                words: or_nothing(process.last_words()),
            }),
        }
    }

    /// How it ended and what it said last, if it does not run any more.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.process.ended()?;
        Some(format!("{}; it said: {}", in_words(status), or_nothing(self.process.last_words())))
    }
}

enum Waited {
    /// It accepts connections on this port.
    Ready(u16, Option<Ready>),
    Ended,
    Late,
}

fn until_line(process: &Process, deadline: Instant) -> Waited {
    loop {
        match process.line(deadline) {
            Line::Text(line) => {
                if let Some(ready) = Ready::of(&line) {
                    return Waited::Ready(ready.port, Some(ready));
                }
            }
            Line::End => return Waited::Ended,
            Line::Late => return Waited::Late,
        }
    }
}

/// Such a server tells nothing, so there is no event to wait for.
fn until_accepted(process: &Process, address: SocketAddr, deadline: Instant) -> Waited {
    while Instant::now() < deadline {
        if TcpStream::connect(address).is_ok() {
            return Waited::Ready(address.port(), None);
        }
        if process.line(Instant::now() + TRY_PERIOD) == Line::End {
            return Waited::Ended;
        }
    }
    Waited::Late
}

/// A port that nobody listens on now. Somebody could take it before the server does; then the server says so.
fn free_port(listen: IpAddr) -> std::io::Result<u16> {
    Ok(TcpListener::bind((listen, 0))?.local_addr()?.port())
}

fn or_nothing(words: String) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{Wish, choose};

    fn start(script: &str, ready: &str, patience: Duration) -> Result<Server, String> {
        let catalog = tempfile::tempdir().unwrap();
        let head = "name = 'dummy'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\n";
        let text = format!("{head}ready = '{ready}'\ncommand = ['sh', '-c', '''{script}''']\n");
        std::fs::write(catalog.path().join("dummy.toml"), text).unwrap();
        let wish =
            Wish { name: Some("dummy".into()), catalog: Some(catalog.path().into()), ..Wish::default() };
        Server::start(&choose(&wish).unwrap(), LOOPBACK, &Processes::default(), patience)
            .map_err(|error| error.to_string())
    }

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_server_that_dies_first_is_quoted() {
        for ready in ["line", "accepts"] {
            let error = start("echo no port >&2; exit 7", ready, LONG).err().unwrap();
            assert_eq!(error, "dummy ended before it was ready (exit status 7); it said: no port");
        }
    }

    #[test]
    fn a_server_that_never_gets_ready_is_stopped() {
        for ready in ["line", "accepts"] {
            let error =
                start("echo starting >&2; sleep 1000", ready, Duration::from_millis(300)).err().unwrap();
            assert!(
                error.starts_with("dummy was not ready after 0.3 s and was stopped; it said: starting"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_server_that_dies_later_is_seen() {
        let line = r#"{"event":"ready","host":"127.0.0.1","port":1,"pid":1,"class":"open"}"#;
        let script = format!("cat <<END\n{line}\nEND\necho bye >&2; exit 9");
        let mut server = start(&script, "line", LONG).unwrap();
        assert_eq!(server.address.to_string(), "127.0.0.1:1");
        server.process.ended_soon();
        assert_eq!(server.ended(), Some("exit status 9; it said: bye".into()));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let catalog = tempfile::tempdir().unwrap();
        let text =
            "name = 'gone'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\ncommand = ['/nowhere/server']\n";
        std::fs::write(catalog.path().join("gone.toml"), text).unwrap();
        let wish =
            Wish { name: Some("gone".into()), catalog: Some(catalog.path().into()), ..Wish::default() };
        let error = Server::start(&choose(&wish).unwrap(), LOOPBACK, &Processes::default(), LONG)
            .err()
            .unwrap()
            .to_string();
        assert_eq!(error, "gone: cannot start /nowhere/server: No such file or directory (os error 2)");
    }
}
