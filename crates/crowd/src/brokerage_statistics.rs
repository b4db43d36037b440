//! What a server with a database counts of its transactions, which it reports on request.

use std::net::SocketAddr;
use std::time::Duration;

use klatch_record::DatabaseCounts;

use crate::http_command::answer;
use crate::site::HOST;

/// The counts so far; `None` if the server does not report them. `workload` is the first part of the path.
pub(crate) fn read(workload: &str, addresses: &[SocketAddr], timeout: Duration) -> Option<DatabaseCounts> {
    let request = format!("GET /{workload}/statistics HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    match answer(request.as_bytes(), addresses, timeout) {
        Ok((200, body)) => serde_json::from_slice(&body).ok(),
        _ => None,
    }
}
