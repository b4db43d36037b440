//! PostgreSQL as an echo: `SELECT $1` by a prepared statement. The messages are those of a library of other people, so the crowd's own
//! are checked by it too.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::compared::{same, send};
use crate::finding::{Checked, wrong};
use crate::stream::connect;

const STATEMENT: &str = "echo";
/// Object identifier of the type `text`.
const TEXT: u32 = 25;
/// Bytes of one read.
const READ_BYTES: usize = 16 * 1024;

/// A connection of user `postgres` to the database of that name, with the statement prepared.
pub(super) struct PostgresConnection {
    stream: TcpStream,
    received: BytesMut,
}

impl PostgresConnection {
    pub(super) fn open(address: SocketAddr, answer_timeout: Duration) -> Checked<PostgresConnection> {
        let stream = connect(address, answer_timeout)?;
        let mut connection = PostgresConnection { stream, received: BytesMut::new() };
        let mut messages = BytesMut::new();
        written(frontend::startup_message([("user", "postgres"), ("database", "postgres")], &mut messages));
        written(frontend::parse(STATEMENT, "SELECT $1", [TEXT], &mut messages));
        frontend::sync(&mut messages);
        connection.send(&messages)?;
        // The server is ready after it has accepted the user, and after the statement.
        for _ in 0..2 {
            connection.rows()?;
        }
        Ok(connection)
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        send(&mut self.stream, bytes)
    }

    /// Waits for a reply of one row with exactly this payload.
    pub(super) fn expect(&mut self, payload: &[u8]) -> Checked<()> {
        match &self.rows()?[..] {
            [row] => same(row, payload),
            rows => wrong(format!("{} rows came back for {} bytes", rows.len(), payload.len())),
        }
    }

    /// The rows until the server is ready for the next request.
    fn rows(&mut self) -> Checked<Vec<Vec<u8>>> {
        let mut rows = Vec::new();
        loop {
            match self.message()? {
                Message::DataRow(row) => rows.push(column(&row)?),
                Message::ReadyForQuery(_) => return Ok(rows),
                Message::ErrorResponse(error) => return wrong(format!("an error: {}", text_of(&error))),
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Checked<Message> {
        loop {
            match Message::parse(&mut self.received) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => return wrong(format!("no message of the protocol: {error}")),
            }
            let mut bytes = [0; READ_BYTES];
            match self.stream.read(&mut bytes) {
                Ok(0) => return wrong("the server closed the connection"),
                Ok(count) => self.received.extend_from_slice(&bytes[..count]),
                Err(error) => return wrong(format!("a reply does not come: {error}")),
            }
        }
    }
}

/// The messages of one request.
pub(super) fn request(payload: &[u8]) -> Vec<u8> {
    let mut messages = BytesMut::new();
    let value = |value: &[u8], out: &mut BytesMut| {
        out.extend_from_slice(value);
        Ok(IsNull::No)
    };
    let bound = frontend::bind("", STATEMENT, [], [payload], value, [], &mut messages);
    assert!(bound.is_ok(), "a payload is shorter than 2 GB");
    written(frontend::execute("", 0, &mut messages));
    frontend::sync(&mut messages);
    messages.to_vec()
}

/// Writing these messages fails only for a name with a zero in it.
fn written(result: std::io::Result<()>) {
    result.expect("names have no zero");
}

/// The first column of a row.
fn column(row: &DataRowBody) -> Checked<Vec<u8>> {
    match row.ranges().next() {
        Ok(Some(Some(range))) => Ok(row.buffer()[range].to_vec()),
        _ => wrong("a row without a value"),
    }
}

/// The fields of an error, which end with its message and its place.
fn text_of(error: &ErrorResponseBody) -> String {
    let fields = error.fields().map(|field| Ok(String::from_utf8_lossy(field.value_bytes()).into_owned()));
    fields.collect::<Vec<_>>().map_or_else(|error| error.to_string(), |all| all.join(", "))
}
