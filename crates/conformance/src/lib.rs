//! The conformance kit: checks the duties of a server over real connections, for each workload. A score is meaningful only for a server
//! that passes. The checks are described in `docs/reference/conformance.md`.

mod checks;
mod echo;
mod finding;
mod http;
mod irc;
mod server;
mod stream;
mod table;
mod web;
mod websocket;
mod writes;

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use klatch_record::Class;
use thiserror::Error;

use crate::finding::Checked;

pub use finding::{Duty, Finding, Outcome};
pub use server::check_server;
pub use table::{row, summary};

/// The server under test.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Its declared class; only `classic` is checked.
    pub class: Option<Class>,
    /// Its process, if it runs on this machine and Klatch started it.
    pub pid: Option<u32>,
    /// Longest time for one answer.
    pub answer_timeout: Duration,
}

/// The server cannot be reached, so no check can run.
#[derive(Debug, Error)]
#[error(
    "no server answers at {address}: {source}; start the server first, or give the address of a running one"
)]
pub struct NoServer {
    address: String,
    source: std::io::Error,
}

/// Runs all checks against the server at `address` (`host:port`) in turn, and calls `on_finding` after each, with the number of all checks.
///
/// # Errors
/// The server accepts no connection at all.
pub fn check(
    address: &str,
    subject: &Subject,
    mut on_finding: impl FnMut(&Finding, usize),
) -> Result<Vec<Finding>, NoServer> {
    let server = reach(address, subject.answer_timeout)?;
    let run = run_prefix();
    let checks = checks::all(subject);
    let all = checks.len();
    let net = |number| irc::Net::new(server, subject.answer_timeout, format!("k{run}{}", letters(number)));
    let mut is_irc = true;
    let findings = checks.into_iter().enumerate().map(|(number, check)| {
        let result = match is_irc {
            true => (check.run)(&net(number)),
            false => finding::not_checked(NO_WELCOME),
        };
        let finding = Finding::new(&check.name, &check.expected, result);
        on_finding(&finding, all);
        // The first check is that of the welcome.
        if number == 0 && finding.outcome == Outcome::Failed {
            is_irc = net(all).user().is_ok();
        }
        finding
    });
    Ok(findings.collect())
}

/// Why nothing more is checked of a server that speaks another protocol, or none.
const NO_WELCOME: &str =
    "the server welcomes no user, which all other checks begin with: correct that first, or the address";

/// The first address that accepts a connection.
fn reach(address: &str, answer_timeout: Duration) -> Result<SocketAddr, NoServer> {
    let no_server = |source| NoServer { address: address.to_owned(), source };
    let mut last = std::io::Error::other("the name has no address");
    for candidate in address.to_socket_addrs().map_err(no_server)? {
        match TcpStream::connect_timeout(&candidate, answer_timeout) {
            Ok(_) => return Ok(candidate),
            Err(error) => last = error,
        }
    }
    Err(no_server(last))
}

/// Name, expected behaviour and check of a server `S`.
type CheckOf<S> = (&'static str, &'static str, fn(&S) -> Checked);

/// Runs the checks in turn, and calls `on_finding` after each, with the number of all.
fn run_all<S>(
    checks: impl IntoIterator<Item = CheckOf<S>>,
    server: &S,
    mut on_finding: impl FnMut(&Finding, usize),
) -> Vec<Finding> {
    let checks: Vec<CheckOf<S>> = checks.into_iter().collect();
    let all = checks.len();
    let run = |(name, expected, check): CheckOf<S>| {
        let finding = Finding::new(name, expected, check(server));
        on_finding(&finding, all);
        finding
    };
    checks.into_iter().map(run).collect()
}

/// A prefix that differs from run to run, so names of an earlier run that are still in use do not collide.
fn run_prefix() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    letters(now.as_millis() as usize)
}

/// The last two digits of a number in base 26.
fn letters(number: usize) -> String {
    [number / 26 % 26, number % 26].map(|digit| char::from(b'a' + digit as u8)).iter().collect()
}
