//! The post log of a web server: it is emptied before a run, and checked after it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use klatch_exchange::web::{
    BodyPiece, BodyReader, Finding, Parsed, PostEntry, ResponseError, Target, check_post_log, parse_response,
    unframe, write_get,
};
use klatch_record::{CrowdResult, EXAMPLES_MAX, Fault, FaultKind, WebWorkload};
use thiserror::Error;

use crate::connections::connect_any;
use crate::site::{HOST, tables};

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Why a command to the server failed.
#[derive(Debug, Error)]
pub enum PostLogError {
    /// The connection failed or ended early.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The server's answer is no HTTP.
    #[error("the server answered no HTTP: {0}")]
    Http(#[from] ResponseError),
    /// The server refused the command.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The answer is no page with a log.
    #[error("the answer has no log")]
    NoLog,
}

/// Makes the server's tables anew and empties its post log.
pub(crate) fn reset(addresses: &[SocketAddr], timeout: Duration) -> Result<(), PostLogError> {
    command(&Target::Reset(tables()), addresses, timeout).map(|_| ())
}

/// Compares the server's post log with the POSTs that it confirmed, and adds the findings to the result. Records of the lines of
/// other crowds are left to them.
pub(crate) fn audit(
    addresses: &[SocketAddr],
    timeout: Duration,
    web: &WebWorkload,
    confirmed: &[PostEntry],
    result: &mut CrowdResult,
) {
    // A failed run has no complete account.
    if result.failure.is_some() {
        return;
    }
    let fetched = command(&Target::Fetch, addresses, timeout)
        .and_then(|page| unframe(&page).map(<[u8]>::to_vec).ok_or(PostLogError::NoLog));
    let findings: Vec<String> = match fetched {
        Ok(log) => {
            let own = web.start..web.start + web.lines;
            let is_foreign = |finding: &Finding| matches!(finding, Finding::Unconfirmed(entry) if !own.contains(&entry.client));
            let findings = check_post_log(&log, confirmed).into_iter();
            findings.filter(|finding| !is_foreign(finding)).map(|finding| finding.to_string()).collect()
        }
        Err(error) => vec![format!("the log cannot be fetched: {error}")],
    };
    result.wrong += findings.len() as u64;
    let room = EXAMPLES_MAX.saturating_sub(result.faults.len());
    result.faults.extend(findings.into_iter().take(room).map(|finding| Fault {
        kind: FaultKind::Wrong,
        connection: Some(web.start),
        reader: None,
        room: 0,
        user: None,
        speaker: None,
        sequence: None,
        count: 1,
        detail: Some(format!("post log: {finding}")),
    }));
}

/// Sends a command on a connection of its own. Returns the body of the answer.
fn command(target: &Target, addresses: &[SocketAddr], timeout: Duration) -> Result<Vec<u8>, PostLogError> {
    let mut stream = connect_any(addresses, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    let mut request = Vec::new();
    write_get(target, HOST, &mut request);
    stream.write_all(&request)?;
    let mut input = Vec::new();
    let (status, mut reader, head_bytes) = loop {
        if let Parsed::Complete { head, bytes } = parse_response(&input)? {
            break (head.status, BodyReader::new(head.body), bytes);
        }
        if read_some(&mut stream, &mut input)? == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
    };
    if status != 200 {
        return Err(PostLogError::Status(status));
    }
    let (mut body, mut received) = (Vec::new(), input.split_off(head_bytes));
    loop {
        let mut rest = &received[..];
        loop {
            match reader.next(&mut rest)? {
                BodyPiece::Data(data) => body.extend_from_slice(data),
                BodyPiece::NeedMore => break,
                BodyPiece::End => return Ok(body),
            }
        }
        received.clear();
        if read_some(&mut stream, &mut received)? == 0 {
            return if reader.may_end_with_connection() { Ok(body) } else { Err(PostLogError::NoLog) };
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
