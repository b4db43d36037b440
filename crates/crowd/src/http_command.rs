//! One request to a server over HTTP, on a connection of its own, before or after a run.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use klatch_exchange::web::{BodyPiece, BodyReader, Parsed, ResponseError, parse_response};
use thiserror::Error;

use crate::connections::connect_any;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The connection failed or ended early.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The server's answer is no HTTP.
    #[error("the server answered no HTTP: {0}")]
    Http(#[from] ResponseError),
}

/// Sends a request. Returns the status and the body of the answer.
pub(crate) fn answer(
    request: &[u8],
    addresses: &[SocketAddr],
    timeout: Duration,
) -> Result<(u16, Vec<u8>), HttpError> {
    let mut stream = connect_any(addresses, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.write_all(request)?;
    let ended = || HttpError::Io(std::io::ErrorKind::UnexpectedEof.into());
    let mut input = Vec::new();
    let (status, mut reader, head_bytes) = loop {
        if let Parsed::Complete { head, bytes } = parse_response(&input)? {
            break (head.status, BodyReader::new(head.body), bytes);
        }
        if read_some(&mut stream, &mut input)? == 0 {
            return Err(ended());
        }
    };
    let (mut body, mut received) = (Vec::new(), input.split_off(head_bytes));
    loop {
        let mut rest = &received[..];
        loop {
            match reader.next(&mut rest)? {
                BodyPiece::Data(data) => body.extend_from_slice(data),
                BodyPiece::NeedMore => break,
                BodyPiece::End => return Ok((status, body)),
            }
        }
        received.clear();
        if read_some(&mut stream, &mut received)? == 0 {
            return if reader.may_end_with_connection() { Ok((status, body)) } else { Err(ended()) };
        }
    }
}

/// Reads once, and appends what was read. Returns the number of bytes.
fn read_some(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    let before = bytes.len();
    bytes.resize(before + READ_BYTES, 0);
    let count = stream.read(&mut bytes[before..])?;
    bytes.truncate(before + count);
    Ok(count)
}
