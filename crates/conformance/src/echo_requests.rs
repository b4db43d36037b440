//! Checks of workload `rr` for servers that answer requests in a protocol of their own: `ECHO` of Redis, and GET over HTTP.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::echo::{expect, send};
use crate::finding::{Checked, Finding, wrong};
use crate::http::HttpConnection;
use crate::stream::connect;
use crate::{CheckOf, NoServer, reach, run_all};

/// The letters of payloads: those of URL-safe Base64.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Requests in one segment.
const AT_ONCE: usize = 32;
/// Connections that are open at once.
const MANY: usize = 200;

/// How a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoWire {
    /// `ECHO payload`, answered by a bulk string.
    Redis,
    /// `GET /echo?payload=…`, answered by a body.
    Http,
}

impl EchoWire {
    fn request(self, payload: &[u8]) -> Vec<u8> {
        match self {
            EchoWire::Redis => [b"*2\r\n$4\r\nECHO\r\n".as_slice(), &bulk_string(payload)].concat(),
            EchoWire::Http => {
                [b"GET /echo?payload=".as_slice(), payload, b" HTTP/1.1\r\nHost: klatch\r\n\r\n"].concat()
            }
        }
    }

    /// Sizes of payloads that every server must take. The head of an HTTP request may be limited to 8 KiB.
    fn sizes(self) -> &'static [usize] {
        match self {
            EchoWire::Redis => &[4, 100, 4_096, 65_536],
            EchoWire::Http => &[4, 100, 4_096],
        }
    }
}

/// The server under test.
struct Server {
    address: SocketAddr,
    wire: EchoWire,
    answer_timeout: Duration,
}

const CHECKS: [CheckOf<Server>; 5] = [
    ("requests: sizes", "payloads of 4 bytes to the largest come back on one connection", sizes),
    ("requests: byte by byte", "a request that arrives byte by byte is answered", byte_by_byte),
    ("requests: pipeline", "32 requests in one segment are answered in order", pipeline),
    ("requests: many", "200 open connections are all answered", many),
    (
        "requests: slow readers",
        "20 connections that do not read hold up no other, and lose nothing",
        slow_readers,
    ),
];

/// Runs all checks against the server at `address` (`host:port`) in turn, and calls `on_finding` after each.
///
/// # Errors
/// The server accepts no connection at all.
pub fn check_echo_requests(
    address: &str,
    wire: EchoWire,
    answer_timeout: Duration,
    on_finding: impl FnMut(&Finding),
) -> Result<Vec<Finding>, NoServer> {
    let reached = reach(address, answer_timeout)?;
    let server = Server { address: reached, wire, answer_timeout };
    Ok(run_all(CHECKS, &server, on_finding))
}

/// A connection, by what reads its replies.
enum Connection {
    Redis(TcpStream),
    Http(HttpConnection),
}

impl Server {
    fn connect(&self) -> Checked<Connection> {
        Ok(match self.wire {
            EchoWire::Redis => Connection::Redis(connect(self.address, self.answer_timeout)?),
            EchoWire::Http => Connection::Http(HttpConnection::connect(self.address, self.answer_timeout)?),
        })
    }

    /// Sends the requests with these payloads in one segment, and waits for no reply.
    fn send(&self, connection: &mut Connection, payloads: &[Vec<u8>]) -> Checked<()> {
        let requests: Vec<u8> = payloads.iter().flat_map(|payload| self.wire.request(payload)).collect();
        connection.send(&requests)
    }

    fn exchange(&self, connection: &mut Connection, payloads: &[Vec<u8>]) -> Checked<()> {
        self.send(connection, payloads)?;
        payloads.iter().try_for_each(|payload| connection.expect(payload))
    }
}

impl Connection {
    fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        match self {
            Connection::Redis(stream) => send(stream, bytes),
            Connection::Http(http) => http.send(bytes),
        }
    }

    /// Waits for the reply with exactly this payload.
    fn expect(&mut self, payload: &[u8]) -> Checked<()> {
        match self {
            Connection::Redis(stream) => expect(stream, &bulk_string(payload)).map(drop),
            Connection::Http(http) => {
                let reply = http.reply()?;
                if reply.status != 200 {
                    return wrong(format!("status {} for {} bytes", reply.status, payload.len()));
                }
                if reply.body != payload {
                    let [got, sent] = [&reply.body[..], payload].map(shown);
                    return wrong(format!("{got} came back for {sent}"));
                }
                Ok(())
            }
        }
    }
}

fn sizes(server: &Server) -> Checked {
    let mut connection = server.connect()?;
    for &size in server.wire.sizes() {
        server.exchange(&mut connection, &[payload(0, size)])?;
    }
    Ok(server.wire.sizes().iter().map(usize::to_string).collect::<Vec<_>>().join(", ") + " bytes")
}

fn byte_by_byte(server: &Server) -> Checked {
    let payload = payload(0, LETTERS.len());
    let mut connection = server.connect()?;
    for byte in server.wire.request(&payload) {
        connection.send(&[byte])?;
    }
    connection.expect(&payload)?;
    Ok("answered".to_owned())
}

fn pipeline(server: &Server) -> Checked {
    let payloads: Vec<Vec<u8>> = (0..AT_ONCE).map(|number| payload(number, 20)).collect();
    server.exchange(&mut server.connect()?, &payloads)?;
    Ok(format!("{AT_ONCE} replies in order"))
}

fn many(server: &Server) -> Checked {
    let mut connections: Vec<Connection> = (0..MANY).map(|_| server.connect()).collect::<Checked<_>>()?;
    for (number, connection) in connections.iter_mut().enumerate() {
        server.send(connection, &[payload(number, 8)])?;
    }
    for (number, connection) in connections.iter_mut().enumerate() {
        connection.expect(&payload(number, 8))?;
    }
    Ok(format!("{MANY} connections"))
}

fn slow_readers(server: &Server) -> Checked {
    let payloads: Vec<Vec<u8>> = (0..AT_ONCE).map(|number| payload(number, 4_096)).collect();
    let mut slow: Vec<Connection> = (0..20).map(|_| server.connect()).collect::<Checked<_>>()?;
    slow.iter_mut().try_for_each(|connection| server.send(connection, &payloads))?;
    server.exchange(&mut server.connect()?, &[payload(0, 8)])?;
    for connection in &mut slow {
        payloads.iter().try_for_each(|payload| connection.expect(payload))?;
    }
    Ok(format!("20 × {AT_ONCE} replies of 4,096 bytes, and one before them"))
}

/// A payload that differs from the next 63.
fn payload(number: usize, size: usize) -> Vec<u8> {
    (number..number + size).map(|place| LETTERS[place % LETTERS.len()]).collect()
}

fn bulk_string(payload: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", payload.len()).as_bytes(), payload, b"\r\n"].concat()
}

/// The first characters of a text, in quotation marks.
fn shown(text: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(text).chars().take(40).collect::<String>().escape_debug())
}
