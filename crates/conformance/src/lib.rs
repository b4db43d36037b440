//! The conformance kit: what a chat server has to do before its score means anything, as checks over real connections.
//! What is checked and why: `docs/reference/conformance.md`.

mod checks;
mod finding;
mod show;
mod wire;
mod writes;

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use klatch_record::Class;
use thiserror::Error;

pub use finding::{Finding, Outcome};
pub use show::{row, summary};

/// What is known of the server under test.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The class that it claims; only `classic` can be checked.
    pub class: Option<Class>,
    /// Its process, if that is on this machine and known.
    pub pid: Option<u32>,
    /// How long an answer, or anything else that has to come, may take.
    pub patience: Duration,
}

/// There is nothing to check.
#[derive(Debug, Error)]
#[error(
    "nobody answers at {address}: {source}; start the server first, or give the address of one that runs"
)]
pub struct NoServer {
    address: String,
    source: std::io::Error,
}

/// Does all checks against the server at `address` (`host:port`), one after the other; `tell` hears of each at once.
///
/// # Errors
/// No connection can be made at all.
pub fn check(
    address: &str,
    subject: &Subject,
    mut tell: impl FnMut(&Finding),
) -> Result<Vec<Finding>, NoServer> {
    let server = reach(address, subject.patience)
        .map_err(|source| NoServer { address: address.to_owned(), source })?;
    let run = run_letters();
    let checks = checks::all(subject).into_iter().enumerate();
    let findings = checks.map(|(number, check)| {
        let net = wire::Net::new(server, subject.patience, format!("k{run}{}", letters(number)));
        let finding = Finding::new(&check.name, &check.expected, (check.run)(&net));
        tell(&finding);
        finding
    });
    Ok(findings.collect())
}

/// The first of the addresses that answers.
fn reach(address: &str, patience: Duration) -> std::io::Result<SocketAddr> {
    let mut last = std::io::Error::other("the name has no address");
    for candidate in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&candidate, patience) {
            Ok(_) => return Ok(candidate),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Two letters that differ from run to run, so that whoever an earlier run left behind is in nobody's way.
fn run_letters() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    letters(now.as_millis() as usize)
}

/// The last two digits of a number in base 26.
fn letters(number: usize) -> String {
    [number / 26 % 26, number % 26].map(|digit| char::from(b'a' + digit as u8)).iter().collect()
}
