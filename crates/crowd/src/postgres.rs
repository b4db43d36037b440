//! PostgreSQL as an echo: `SELECT $1` through the extended protocol, version 3.0, on connections that need no password.

use crate::protocol::line;
use crate::requests::{Reply, RequestProtocol};

/// Version 3.0 of the protocol.
const VERSION: i32 = 3 << 16;
/// Object identifier of the type `text`.
const TEXT: i32 = 25;
/// The name of the prepared statement.
const STATEMENT: &[u8] = b"echo\0";
/// Bytes of a message before its body: its type and its length.
const HEAD: usize = 5;

/// One prepared statement; a request binds, executes and ends a transaction.
pub(crate) struct PostgresEcho;

impl RequestProtocol for PostgresEcho {
    /// User and database `postgres`, and the statement. The server reads the statement after it has accepted the user.
    fn write_hello(out: &mut Vec<u8>) {
        let parameters = b"user\0postgres\0database\0postgres\0\0";
        out.extend_from_slice(&(8 + parameters.len() as i32).to_be_bytes());
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(parameters);
        message(out, b'P', |out| {
            out.extend_from_slice(STATEMENT);
            out.extend_from_slice(b"SELECT $1\0");
            out.extend_from_slice(&1_i16.to_be_bytes());
            out.extend_from_slice(&TEXT.to_be_bytes());
        });
    }

    fn write_request(out: &mut Vec<u8>, size: usize, payload: impl FnOnce(&mut Vec<u8>)) {
        message(out, b'B', |out| {
            // The portal without a name, and parameters as text.
            out.push(0);
            out.extend_from_slice(STATEMENT);
            out.extend_from_slice(&0_i16.to_be_bytes());
            out.extend_from_slice(&1_i16.to_be_bytes());
            out.extend_from_slice(&(size as i32).to_be_bytes());
            payload(out);
            out.extend_from_slice(&0_i16.to_be_bytes());
        });
        // All rows of that portal.
        message(out, b'E', |out| out.extend_from_slice(&[0; 5]));
        message(out, b'S', |_| {});
    }

    fn write_quit(out: &mut Vec<u8>) {
        message(out, b'X', |_| {});
    }

    /// A reply ends with the message that the server is ready. One without a row and an error is that to the user, and is skipped.
    fn parse_reply(_: usize, input: &[u8]) -> Option<(usize, Reply<'_>)> {
        let (mut taken, mut reply) = (0, None);
        loop {
            if is_other_protocol(&input[taken..]) {
                let rest = &input[taken..];
                return Some((input.len(), Reply::Refused(line(rest).map_or(rest, |(line, _)| line))));
            }
            let (kind, body) = next_message(&input[taken..])?;
            taken += HEAD + body.len();
            match (kind, reply) {
                (b'D', None) => reply = Some(column(body)),
                (b'E', _) => reply = Some(Reply::Refused(error_text(body))),
                // Anything but "authenticated" asks for something that this crowd does not have. No ready message follows.
                (b'R', _) if body != [0; 4] => {
                    return Some((input.len(), Reply::Refused(b"the server asks for a password")));
                }
                (b'Z', Some(reply)) => return Some((taken, reply)),
                _ => {}
            }
            // After an error before it is ready, the server closes the connection.
            if let (Some(refused @ Reply::Refused(_)), true) = (reply, taken == input.len()) {
                return Some((taken, refused));
            }
        }
    }
}

/// Appends a message of this type; `body` appends what is in it.
fn message(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let bytes = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&bytes.to_be_bytes());
}

/// Whether a message has a length that none has here: letters in place of it, such as those of `HTTP/1.1`.
fn is_other_protocol(input: &[u8]) -> bool {
    input.get(1).is_some_and(|highest| *highest > 0x0f)
}

/// The type and the body of the first message; `None` if it is incomplete.
fn next_message(input: &[u8]) -> Option<(u8, &[u8])> {
    let head = input.get(..HEAD)?;
    let bytes = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    // The length counts itself.
    let body = input.get(HEAD..(1 + bytes).max(HEAD))?;
    Some((head[0], body))
}

/// The only column of a row, after the number of columns and its own length.
fn column(row: &[u8]) -> Reply<'_> {
    Reply::Payload(row.get(6..).unwrap_or_default())
}

/// The field M of an error: each field is a letter and a text that ends with 0.
fn error_text(body: &[u8]) -> &[u8] {
    let mut fields = body.split(|byte| *byte == 0);
    fields.find_map(|field| field.strip_prefix(b"M")).unwrap_or(b"an error without a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_of(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        messages
            .iter()
            .for_each(|(kind, body)| message(&mut bytes, *kind, |out| out.extend_from_slice(body)));
        bytes
    }

    #[test]
    fn a_server_of_another_protocol_is_quoted_at_once() {
        let http = b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n";
        let refused = Reply::Refused(b"HTTP/1.1 400 Bad Request");
        assert_eq!(PostgresEcho::parse_reply(5, http), Some((http.len(), refused)));
    }

    #[test]
    fn a_connection_begins_with_its_user_and_the_statement() {
        let mut out = Vec::new();
        PostgresEcho::write_hello(&mut out);
        let startup = u32::from_be_bytes(out[..4].try_into().unwrap()) as usize;
        assert!(out[8..startup].starts_with(b"user\0postgres\0"), "{out:?}");
        let (kind, body) = next_message(&out[startup..]).unwrap();
        assert_eq!((kind, body), (b'P', &b"echo\0SELECT $1\0\0\x01\0\0\0\x19"[..]));
    }

    #[test]
    fn a_request_binds_executes_and_syncs() {
        let mut out = Vec::new();
        PostgresEcho::write_request(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        let (kind, body) = next_message(&out).unwrap();
        assert_eq!((kind, body), (b'B', &b"\0echo\0\0\0\0\x01\0\0\0\x05hello\0\0"[..]));
        let rest = &out[HEAD + body.len()..];
        assert_eq!(rest, reply_of(&[(b'E', &[0; 5]), (b'S', &[])]));
    }

    #[test]
    fn a_reply_is_the_column_of_the_row_and_what_came_before_is_skipped() {
        let row: &[u8] = b"\0\x01\0\0\0\x05hello";
        let started = [(b'R', &[0_u8; 4][..]), (b'S', b"a\0b\0"), (b'K', &[7; 8]), (b'Z', b"I")];
        let answered = [(b'1', &[][..]), (b'2', &[]), (b'D', row), (b'C', b"SELECT 1\0"), (b'Z', b"I")];
        let first = reply_of(&[&started[..], &answered[..]].concat());
        for cut in 0..first.len() {
            assert_eq!(PostgresEcho::parse_reply(5, &first[..cut]), None, "{cut} bytes");
        }
        let two = [&first[..], b"next"].concat();
        assert_eq!(PostgresEcho::parse_reply(5, &two), Some((first.len(), Reply::Payload(b"hello"))));
    }

    #[test]
    fn errors_and_passwords_are_refusals() {
        let error: &[u8] = b"SFATAL\0C57P03\0Mthe database system is starting up\0\0";
        let early = reply_of(&[(b'E', error)]);
        let text = Reply::Refused(b"the database system is starting up");
        assert_eq!(PostgresEcho::parse_reply(5, &early), Some((early.len(), text)));
        let password = reply_of(&[(b'R', &[0, 0, 0, 10, 1])]);
        let text = Reply::Refused(b"the server asks for a password");
        assert_eq!(PostgresEcho::parse_reply(5, &password), Some((password.len(), text)));
    }
}
