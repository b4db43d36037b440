//! PostgreSQL as an echo: `SELECT $1` by a prepared statement. A test compares the messages with those of postgres-protocol.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::compared::{same, send};
use crate::finding::{Checked, wrong};
use crate::stream::connect;

const STATEMENT: &[u8] = b"echo\0";
/// Object identifier of the type `text`.
const TEXT: i32 = 25;
/// Version 3.0 of the protocol.
const VERSION: i32 = 3 << 16;

/// A connection of user `postgres` to the database of that name, with the statement prepared.
pub(super) struct PostgresConnection {
    stream: TcpStream,
}

impl PostgresConnection {
    pub(super) fn open(address: SocketAddr, answer_timeout: Duration) -> Checked<PostgresConnection> {
        let mut connection = PostgresConnection { stream: connect(address, answer_timeout)? };
        connection.send(&hello())?;
        // The server is ready after it has accepted the user, and after the statement.
        for _ in 0..2 {
            rows(&mut connection.stream)?;
        }
        Ok(connection)
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        send(&mut self.stream, bytes)
    }

    /// Waits for a reply of one row with exactly this payload.
    pub(super) fn expect(&mut self, payload: &[u8]) -> Checked<()> {
        match &rows(&mut self.stream)?[..] {
            [row] => same(row, payload),
            rows => wrong(format!("{} rows came back for {} bytes", rows.len(), payload.len())),
        }
    }
}

/// The user, the database and the statement.
fn hello() -> Vec<u8> {
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    let mut out = Vec::new();
    out.extend((8 + parameters.len() as i32).to_be_bytes());
    out.extend(VERSION.to_be_bytes());
    out.extend(parameters);
    write_message(&mut out, b'P', &[STATEMENT, b"SELECT $1\0", &1_i16.to_be_bytes(), &TEXT.to_be_bytes()]);
    write_message(&mut out, b'S', &[]);
    out
}

/// The messages of one request: bind, execute, sync. The portal has no name, and both sides write text.
pub(super) fn request(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (none, one) = (0_i16.to_be_bytes(), 1_i16.to_be_bytes());
    let length = (payload.len() as i32).to_be_bytes();
    write_message(&mut out, b'B', &[b"\0", STATEMENT, &none, &one, &length, payload, &none]);
    // All rows of that portal.
    write_message(&mut out, b'E', &[b"\0", &0_i32.to_be_bytes()]);
    write_message(&mut out, b'S', &[]);
    out
}

fn write_message(out: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    let body = parts.concat();
    out.push(kind);
    // The length counts itself.
    out.extend((4 + body.len() as u32).to_be_bytes());
    out.extend(body);
}

/// The rows until the server is ready for the next request, each by its first column.
fn rows(input: &mut impl Read) -> Checked<Vec<Vec<u8>>> {
    let mut rows = Vec::new();
    loop {
        let (kind, body) = read_message(input)?;
        match kind {
            b'D' => rows.push(column(&body)?),
            b'Z' => return Ok(rows),
            b'E' => return wrong(format!("an error: {}", text_of(&body))),
            _ => {}
        }
    }
}

/// The type and the body of the next message.
fn read_message(input: &mut impl Read) -> Checked<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    read_exact(input, &mut head)?;
    let [kind, length @ ..] = head;
    let Some(length) = u32::from_be_bytes(length).checked_sub(4) else {
        return wrong("no message of the protocol: its length is below 4");
    };
    let mut body = Vec::new();
    match input.take(length.into()).read_to_end(&mut body) {
        Ok(read) if read == length as usize => Ok((kind, body)),
        Ok(_) => wrong("the server closed the connection"),
        Err(error) => wrong(format!("a reply does not come: {error}")),
    }
}

fn read_exact(input: &mut impl Read, bytes: &mut [u8]) -> Checked<()> {
    input.read_exact(bytes).or_else(|error| match error.kind() {
        ErrorKind::UnexpectedEof => wrong("the server closed the connection"),
        _ => wrong(format!("a reply does not come: {error}")),
    })
}

/// The first column of a row: after the number of columns its length, which is -1 for NULL, and its bytes.
fn column(row: &[u8]) -> Checked<Vec<u8>> {
    let length = row.get(2..6).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    let value = length.and_then(|length| row[6..].get(..usize::try_from(length).ok()?));
    value.map_or_else(|| wrong("a row without a value"), |value| Ok(value.to_vec()))
}

/// The fields of an error, with its message and its place among them. Each is a letter and a text that ends with 0.
fn text_of(error: &[u8]) -> String {
    let fields = error.split(|byte| *byte == 0).filter_map(|field| field.get(1..));
    fields.map(String::from_utf8_lossy).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::IsNull;
    use postgres_protocol::message::frontend;

    use super::*;
    use crate::finding::CheckError;

    #[test]
    fn the_messages_are_those_of_the_library() {
        let mut theirs = BytesMut::new();
        let user = [("user", "postgres"), ("database", "postgres")];
        frontend::startup_message(user, &mut theirs).unwrap();
        frontend::parse("echo", "SELECT $1", [25], &mut theirs).unwrap();
        frontend::sync(&mut theirs);
        assert_eq!(hello(), theirs);

        let mut theirs = BytesMut::new();
        let value = |value: &[u8], out: &mut BytesMut| {
            out.extend_from_slice(value);
            Ok(IsNull::No)
        };
        assert!(frontend::bind("", "echo", [], [&b"hello"[..]], value, [], &mut theirs).is_ok());
        frontend::execute("", 0, &mut theirs).unwrap();
        frontend::sync(&mut theirs);
        assert_eq!(request(b"hello"), theirs);
    }

    fn replies(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        messages.iter().for_each(|(kind, body)| write_message(&mut bytes, *kind, &[body]));
        bytes
    }

    #[test]
    fn rows_are_read_until_the_server_is_ready() {
        let row: &[u8] = b"\0\x02\0\0\0\x05hello\0\0\0\x01!";
        let bytes = replies(&[(b'2', b""), (b'D', row), (b'C', b"SELECT 1\0"), (b'Z', b"I"), (b'Z', b"I")]);
        let mut input = &bytes[..];
        assert_eq!(rows(&mut input), Ok(vec![b"hello".to_vec()]));
        assert_eq!(rows(&mut input), Ok(Vec::new()), "the next request has its own rows");
    }

    #[test]
    fn every_wrong_reply_is_named() {
        let seen = |bytes: &[u8]| match rows(&mut &bytes[..]) {
            Err(CheckError::Wrong(seen)) => seen,
            other => panic!("{other:?}"),
        };
        assert_eq!(seen(b""), "the server closed the connection");
        assert_eq!(seen(b"D\0\0\0\x09cut"), "the server closed the connection");
        assert_eq!(seen(b"D\0\0\0\x03"), "no message of the protocol: its length is below 4");
        for row in [&b""[..], b"\0\0", b"\0\x01\xff\xff\xff\xff", b"\0\x01\0\0\0\x05four"] {
            assert_eq!(seen(&replies(&[(b'D', row)])), "a row without a value", "{row:?}");
        }
        let error = replies(&[(b'E', b"SERROR\0C26000\0Mno such statement\0\0")]);
        assert_eq!(seen(&error), "an error: ERROR, 26000, no such statement");
    }
}
