//! What a server with a database counts of its transactions, which it reports on request.

use klatch_record::DatabaseCounts;

use crate::http_command::HttpServer;
use crate::site::HOST;

/// Most bytes of the counts as JSON.
const BYTES_MAX: usize = 64 * 1024;

/// The counts so far; `None` if the server does not report them. `workload` is the first part of the path.
pub(crate) fn read(workload: &str, server: &HttpServer) -> Option<DatabaseCounts> {
    let request = format!("GET /{workload}/statistics HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    match server.answer(request.as_bytes(), BYTES_MAX) {
        Ok((200, body)) => serde_json::from_slice(&body).ok(),
        _ => None,
    }
}
