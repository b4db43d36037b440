//! A server that Klatch started: ready, watched, and stopped when dropped.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::choose::{Chosen, PlatformError};
use crate::process::{Line, Process, ProcessError, Processes, in_words};
use crate::ready::Ready;

/// A server that accepts connections. Dropping it stops it.
pub struct Server {
    process: Process,
    /// What it said when it was ready.
    pub ready: Ready,
    /// The exact command line.
    pub command: Vec<String>,
}

/// Why a server cannot be had.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Its command line cannot be made.
    #[error(transparent)]
    Platform(#[from] PlatformError),
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
    #[error("{name} was not ready after {} s and was stopped; it said: {words}; give it more with --ready-timeout", .patience.as_secs_f64())]
    Late {
        /// The platform.
        name: String,
        /// How long it had.
        patience: Duration,
        /// Its standard error.
        words: String,
    },
}

impl Server {
    /// Starts the platform on a free port of loopback and waits until it accepts connections.
    ///
    /// # Errors
    /// It cannot be started, or does not get ready within `patience`; nothing of it is left running.
    pub fn start(chosen: &Chosen, all: &Processes, patience: Duration) -> Result<Server, ServerError> {
        let name = chosen.entry.name.clone();
        let command = chosen.command("127.0.0.1:0")?;
        let mut process = match all.start(&command) {
            Ok(process) => process,
            Err(source) => return Err(ServerError::Process { name, source }),
        };
        let deadline = Instant::now() + patience;
        loop {
            match process.line(deadline) {
                Line::Text(line) => {
                    if let Some(ready) = Ready::of(&line) {
                        return Ok(Server { process, ready, command });
                    }
                }
                Line::End if all.interrupted() => {
                    return Err(ServerError::Process { name, source: ProcessError::Interrupted });
                }
                Line::End => {
                    let how = process.ended_soon().map_or("it closed its output".to_owned(), in_words);
                    return Err(ServerError::Ended { name, how, words: or_nothing(process.last_words()) });
                }
                Line::Late => {
                    return Err(ServerError::Late {
                        name,
                        patience,
                        words: or_nothing(process.last_words()),
                    });
                }
            }
        }
    }

    /// Where it listens: `host:port`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.ready.host, self.ready.port)
    }

    /// How it ended and what it said last, if it does not run any more.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.process.ended()?;
        Some(format!("{}; it said: {}", in_words(status), or_nothing(self.process.last_words())))
    }
}

fn or_nothing(words: String) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Entry, Wire};
    use klatch_record::Class;

    fn start(script: &str, patience: Duration) -> Result<Server, String> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let (name, summary) = ("dummy".to_owned(), String::new());
        let entry = Entry { name, summary, class: Class::Open, wire: Wire::Irc, command, java: None };
        let chosen = Chosen { entry, java: None, because: None };
        Server::start(&chosen, &Processes::default(), patience).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_that_dies_first_is_quoted() {
        let error = start("echo no port >&2; exit 7", Duration::from_secs(20)).err().unwrap();
        assert_eq!(error, "dummy ended before it was ready (exit status 7); it said: no port");
    }

    #[test]
    fn a_server_that_never_gets_ready_is_stopped() {
        let error = start("echo starting >&2; sleep 1000", Duration::from_millis(300)).err().unwrap();
        assert!(
            error.starts_with("dummy was not ready after 0.3 s and was stopped; it said: starting"),
            "{error}"
        );
    }

    #[test]
    fn a_server_that_dies_later_is_seen() {
        let line = r#"{"event":"ready","host":"127.0.0.1","port":1,"pid":1,"class":"open"}"#;
        let mut server =
            start(&format!("echo '{line}'; echo bye >&2; exit 9"), Duration::from_secs(20)).unwrap();
        assert_eq!(server.address(), "127.0.0.1:1");
        server.process.ended_soon();
        assert_eq!(server.ended(), Some("exit status 9; it said: bye".into()));
    }
}
