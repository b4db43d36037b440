//! Checks of workload `rr`: the echo service of `docs/reference/rr.md`, and servers that answer requests in a protocol of their own.

mod compared;
mod postgres;
mod wire;

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use compared::{expect, send};
use wire::Connection;
pub(crate) use wire::EchoWire;

use crate::finding::{Checked, Finding, wrong};
use crate::stream::connect;
use crate::{CheckOf, NoServer, reach, run_all};

/// Letters that need no escape in any request. Their number is prime, so a payload that is displaced by a buffer's size differs.
const LETTERS: &[u8; 61] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz012345678";
/// Requests in one segment.
const AT_ONCE: usize = 32;
/// Connections that are open at once.
const MANY: usize = 200;
/// Requests of 4,096 bytes to which a connection does not read the replies.
const UNREAD: usize = 16;

/// The server under test.
struct Server {
    address: SocketAddr,
    wire: EchoWire,
    answer_timeout: Duration,
}

const OF_PLAIN: [CheckOf<Server>; 6] = [
    ("echo: bytes", "every byte value comes back as it was sent", bytes),
    ("echo: byte by byte", "bytes that arrive one by one come back in order", byte_by_byte),
    ("echo: large", "65,536 bytes come back", sizes),
    (
        "echo: half closed",
        "after the end of input all bytes come back, and then the connection closes",
        half_closed,
    ),
    ("echo: many", "200 open connections are all answered", many),
    (
        "echo: slow readers",
        "20 connections that do not read hold up no other, and lose nothing",
        slow_readers,
    ),
];

const OF_REQUESTS: [CheckOf<Server>; 5] = [
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

/// Runs all checks against the server at `address` (`host:port`) in turn, and calls `on_finding` after each, with the number of all checks.
///
/// # Errors
/// The server accepts no connection at all.
pub(crate) fn check_echo(
    address: &str,
    wire: EchoWire,
    answer_timeout: Duration,
    on_finding: impl FnMut(&Finding, usize),
) -> Result<Vec<Finding>, NoServer> {
    let server = Server { address: reach(address, answer_timeout)?, wire, answer_timeout };
    Ok(match wire {
        EchoWire::Plain => run_all(OF_PLAIN, &server, on_finding),
        EchoWire::Redis | EchoWire::Http | EchoWire::Postgres => run_all(OF_REQUESTS, &server, on_finding),
    })
}

impl Server {
    fn connect(&self) -> Checked<Connection> {
        Connection::open(self.wire, self.address, self.answer_timeout)
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

fn bytes(server: &Server) -> Checked {
    let all: Vec<u8> = (0..=255).collect();
    server.exchange(&mut server.connect()?, &[all])?;
    Ok("256 bytes".to_owned())
}

fn half_closed(server: &Server) -> Checked {
    let sent = payload(0, 65_536);
    let mut stream = connect(server.address, server.answer_timeout)?;
    send(&mut stream, &sent)?;
    stream
        .shutdown(Shutdown::Write)
        .or_else(|error| wrong(format!("the output cannot be closed: {error}")))?;
    expect(&mut stream, &sent)?;
    match stream.read(&mut [0]) {
        Ok(0) => Ok(format!("{} bytes, then closed", sent.len())),
        Ok(_) => wrong("more bytes than were sent"),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => wrong("the connection was reset"),
        Err(error) => wrong(format!("the connection stays open: {error}")),
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
    Ok(format!("{} bytes", payload.len()))
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
    let payloads: Vec<Vec<u8>> = (0..UNREAD).map(|number| payload(number, 4_096)).collect();
    let mut slow: Vec<Connection> = (0..20).map(|_| server.connect()).collect::<Checked<_>>()?;
    slow.iter_mut().try_for_each(|connection| server.send(connection, &payloads))?;
    server.exchange(&mut server.connect()?, &[payload(0, 8)])?;
    for connection in &mut slow {
        payloads.iter().try_for_each(|payload| connection.expect(payload))?;
    }
    Ok(format!("20 × {UNREAD} replies of 4,096 bytes, and one before them"))
}

/// A payload that differs from those of the next 60 numbers.
fn payload(number: usize, size: usize) -> Vec<u8> {
    (number..number + size).map(|place| LETTERS[place % LETTERS.len()]).collect()
}
