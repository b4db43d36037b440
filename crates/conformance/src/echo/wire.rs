//! How servers of workload `rr` take a payload and send it back, and a connection that waits for each reply.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::compared::{expect, same, send};
use super::postgres::{self, PostgresConnection};
use crate::finding::{Checked, wrong};
use crate::http::HttpConnection;
use crate::stream::connect;

/// How a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoWire {
    /// The payload alone, as in RFC 862.
    Plain,
    /// `ECHO payload` of Redis, answered by a bulk string.
    Redis,
    /// `GET /echo?payload=…`, answered by a body.
    Http,
    /// `SELECT $1` of PostgreSQL, answered by a row.
    Postgres,
}

impl EchoWire {
    pub(super) fn request(self, payload: &[u8]) -> Vec<u8> {
        match self {
            EchoWire::Plain => payload.to_vec(),
            EchoWire::Redis => [b"*2\r\n$4\r\nECHO\r\n".as_slice(), &bulk_string(payload)].concat(),
            EchoWire::Http => {
                [b"GET /echo?payload=".as_slice(), payload, b" HTTP/1.1\r\nHost: klatch\r\n\r\n"].concat()
            }
            EchoWire::Postgres => postgres::request(payload),
        }
    }

    /// Sizes of payloads that every server must take. The head of an HTTP request may be limited to 8 KiB.
    pub(super) fn sizes(self) -> &'static [usize] {
        match self {
            EchoWire::Plain => &[65_536],
            EchoWire::Redis | EchoWire::Postgres => &[4, 100, 4_096, 65_536],
            EchoWire::Http => &[4, 100, 4_096],
        }
    }
}

/// A connection, by what reads its replies.
pub(super) enum Connection {
    Plain(TcpStream),
    Redis(TcpStream),
    Http(HttpConnection),
    Postgres(PostgresConnection),
}

impl Connection {
    pub(super) fn open(wire: EchoWire, address: SocketAddr, answer_timeout: Duration) -> Checked<Connection> {
        Ok(match wire {
            EchoWire::Plain => Connection::Plain(connect(address, answer_timeout)?),
            EchoWire::Redis => Connection::Redis(connect(address, answer_timeout)?),
            EchoWire::Http => Connection::Http(HttpConnection::connect(address, answer_timeout)?),
            EchoWire::Postgres => Connection::Postgres(PostgresConnection::open(address, answer_timeout)?),
        })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        match self {
            Connection::Plain(stream) | Connection::Redis(stream) => send(stream, bytes),
            Connection::Http(http) => http.send(bytes),
            Connection::Postgres(postgres) => postgres.send(bytes),
        }
    }

    /// Waits for the reply with exactly this payload.
    pub(super) fn expect(&mut self, payload: &[u8]) -> Checked<()> {
        match self {
            Connection::Plain(stream) => expect(stream, payload),
            Connection::Redis(stream) => expect(stream, &bulk_string(payload)),
            Connection::Http(http) => {
                let reply = http.reply()?;
                if reply.status != 200 {
                    return wrong(format!("status {} for {} bytes", reply.status, payload.len()));
                }
                same(&reply.body, payload)
            }
            Connection::Postgres(postgres) => postgres.expect(payload),
        }
    }
}

fn bulk_string(payload: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", payload.len()).as_bytes(), payload, b"\r\n"].concat()
}
