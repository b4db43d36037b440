//! Sends bytes, and compares what comes back.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::finding::{Checked, wrong};

pub(super) fn send(stream: &mut TcpStream, bytes: &[u8]) -> Checked<()> {
    stream.write_all(bytes).or_else(|error| wrong(format!("{} bytes cannot be sent: {error}", bytes.len())))
}

/// Waits for exactly these bytes.
pub(super) fn expect(stream: &mut TcpStream, expected: &[u8]) -> Checked<()> {
    let mut received = vec![0; expected.len()];
    stream
        .read_exact(&mut received)
        .or_else(|error| wrong(format!("{} bytes do not come back: {error}", expected.len())))?;
    same(&received, expected)
}

pub(super) fn same(received: &[u8], expected: &[u8]) -> Checked<()> {
    if received.len() != expected.len() {
        return wrong(format!("{} bytes came back for {}", received.len(), expected.len()));
    }
    match received.iter().zip(expected).position(|(got, sent)| got != sent) {
        Some(place) => {
            wrong(format!("byte {place} came back as {}, and was {}", received[place], expected[place]))
        }
        None => Ok(()),
    }
}
