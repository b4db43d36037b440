//! What a server with a database counts of its transactions, which it reports on request.

use klatch_record::DatabaseCounts;

use crate::http_command::{HttpError, HttpServer};
use crate::site::HOST;

/// Most bytes of the counts as JSON.
const BYTES_MAX: usize = 64 * 1024;

/// The counts before a run, as [`read`].
///
/// # Errors
/// The server accepts connections and does not answer in time. Its users would wait as long once more.
pub(crate) fn read_before(workload: &str, server: &HttpServer) -> Result<Option<DatabaseCounts>, HttpError> {
    match answer(workload, server) {
        Err(late @ HttpError::Late(_)) => Err(late),
        answer => Ok(counts(answer)),
    }
}

/// The counts so far; `None` if the server does not report them. `workload` is the first part of the path.
pub(crate) fn read(workload: &str, server: &HttpServer) -> Option<DatabaseCounts> {
    counts(answer(workload, server))
}

fn answer(workload: &str, server: &HttpServer) -> Result<(u16, Vec<u8>), HttpError> {
    let request = format!("GET /{workload}/statistics HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    server.answer(request.as_bytes(), BYTES_MAX)
}

fn counts(answer: Result<(u16, Vec<u8>), HttpError>) -> Option<DatabaseCounts> {
    match answer {
        Ok((200, body)) => serde_json::from_slice(&body).ok(),
        _ => None,
    }
}
