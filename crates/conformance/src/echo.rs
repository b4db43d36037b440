//! Checks of workload `rr`: the echo service of `docs/reference/rr.md`.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use crate::finding::{Checked, Finding, wrong};
use crate::stream::connect;
use crate::{CheckOf, NoServer, reach, run_all};

/// Bytes of the largest request.
const LARGE: usize = 64 * 1024;
/// Connections that are open at once.
const MANY: usize = 200;

/// The server under test.
struct Server {
    address: SocketAddr,
    answer_timeout: Duration,
}

const CHECKS: [CheckOf<Server>; 6] = [
    ("echo: bytes", "every byte value comes back as it was sent", bytes),
    ("echo: byte by byte", "bytes that arrive one by one come back in order", byte_by_byte),
    ("echo: large", "65,536 bytes come back", large),
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

/// Runs all checks against the echo server at `address` (`host:port`) in turn, and calls `on_finding` after each.
///
/// # Errors
/// The server accepts no connection at all.
pub fn check_echo(
    address: &str,
    answer_timeout: Duration,
    on_finding: impl FnMut(&Finding),
) -> Result<Vec<Finding>, NoServer> {
    let reached = reach(address, answer_timeout)?;
    let server = Server { address: reached, answer_timeout };
    Ok(run_all(CHECKS, &server, on_finding))
}

impl Server {
    fn connect(&self) -> Checked<TcpStream> {
        connect(self.address, self.answer_timeout)
    }
}

fn bytes(server: &Server) -> Checked {
    let all: Vec<u8> = (0..=255).collect();
    let mut stream = server.connect()?;
    send(&mut stream, &all)?;
    expect(&mut stream, &all)
}

fn byte_by_byte(server: &Server) -> Checked {
    let text = b"one after the other";
    let mut stream = server.connect()?;
    for byte in text {
        send(&mut stream, &[*byte])?;
    }
    expect(&mut stream, text)
}

fn large(server: &Server) -> Checked {
    let sent = pattern(LARGE);
    let mut stream = server.connect()?;
    send(&mut stream, &sent)?;
    expect(&mut stream, &sent)
}

fn half_closed(server: &Server) -> Checked {
    let sent = pattern(LARGE);
    let mut stream = server.connect()?;
    send(&mut stream, &sent)?;
    stream
        .shutdown(Shutdown::Write)
        .or_else(|error| wrong(format!("the output cannot be closed: {error}")))?;
    let seen = expect(&mut stream, &sent)?;
    match stream.read(&mut [0]) {
        Ok(0) => Ok(format!("{seen}, then closed")),
        Ok(_) => wrong("more bytes than were sent"),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => wrong("the connection was reset"),
        Err(error) => wrong(format!("the connection stays open: {error}")),
    }
}

fn many(server: &Server) -> Checked {
    let mut streams: Vec<TcpStream> = (0..MANY).map(|_| server.connect()).collect::<Checked<_>>()?;
    for (stream, number) in streams.iter_mut().zip(0_u32..) {
        send(stream, &number.to_be_bytes())?;
    }
    for (stream, number) in streams.iter_mut().zip(0_u32..) {
        expect(stream, &number.to_be_bytes())?;
    }
    Ok(format!("{MANY} connections"))
}

fn slow_readers(server: &Server) -> Checked {
    let sent = pattern(LARGE);
    let mut slow: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect::<Checked<_>>()?;
    slow.iter_mut().try_for_each(|stream| send(stream, &sent))?;
    let mut other = server.connect()?;
    send(&mut other, b"here")?;
    expect(&mut other, b"here")?;
    for stream in &mut slow {
        expect(stream, &sent)?;
    }
    Ok(format!("20 × {LARGE} bytes, and a reply before them"))
}

/// Bytes that repeat only after a prime number of them.
fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|place| (place % 251) as u8).collect()
}

pub(crate) fn send(stream: &mut TcpStream, bytes: &[u8]) -> Checked<()> {
    stream.write_all(bytes).or_else(|error| wrong(format!("{} bytes cannot be sent: {error}", bytes.len())))
}

/// Waits for exactly these bytes.
pub(crate) fn expect(stream: &mut TcpStream, expected: &[u8]) -> Checked {
    let mut received = vec![0; expected.len()];
    stream
        .read_exact(&mut received)
        .or_else(|error| wrong(format!("{} bytes do not come back: {error}", expected.len())))?;
    match received.iter().zip(expected).position(|(got, sent)| got != sent) {
        Some(place) => {
            wrong(format!("byte {place} came back as {}, and was {}", received[place], expected[place]))
        }
        None => Ok(format!("{} bytes", expected.len())),
    }
}
