//! PostgreSQL as an echo: `SELECT $1` through the extended protocol, version 3.0. A password is proved by SCRAM-SHA-256, as the server's
//! knowledge of it is.

use klatch_record::Login;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use crate::protocol::{Credentials, line};
use crate::requests::{Greeting, Reply, RequestProtocol};

/// Version 3.0 of the protocol.
const VERSION: i32 = 3 << 16;
/// Object identifier of the type `text`.
const TEXT: i32 = 25;
/// The name of the prepared statement.
const STATEMENT: &[u8] = b"echo\0";
/// Bytes of a message before its body: its type and its length.
const HEAD: usize = 5;
/// User of a connection without a login, and database of all.
const POSTGRES: &str = "postgres";

/// The requests of a server for authentication.
const OK: u32 = 0;
const CLEAR_TEXT: u32 = 3;
const MD5: u32 = 5;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;

/// One connection. It has one prepared statement; a request binds, executes and ends a transaction.
pub(crate) struct PostgresEcho {
    login: Credentials,
    progress: Progress,
}

/// How far a connection is.
enum Progress {
    /// The server has not said whether it wants a password.
    Started,
    /// The server knows the mechanism and the first message.
    Scram(Box<ScramSha256>),
    /// The server has the proof of the password.
    Proved(Box<ScramSha256>),
    /// The server has proved that it knows the password.
    Verified,
    /// The server takes requests.
    Open,
}

impl RequestProtocol for PostgresEcho {
    fn new(login: &Credentials) -> PostgresEcho {
        PostgresEcho { login: login.clone(), progress: Progress::Started }
    }

    fn write_hello(&self, out: &mut Vec<u8>) {
        let user = self.login.as_deref().and_then(|login| login.user.as_deref()).unwrap_or(POSTGRES);
        let parameters = ["user", user, "database", POSTGRES, ""].join("\0") + "\0";
        out.extend_from_slice(&(8 + parameters.len() as i32).to_be_bytes());
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(parameters.as_bytes());
    }

    fn is_open(&self) -> bool {
        matches!(self.progress, Progress::Open)
    }

    fn parse_greeting<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, Greeting<'a>)> {
        if is_other_protocol(input) {
            return Some((input.len(), Greeting::Refused(line(input).map_or(input, |(line, _)| line))));
        }
        let (kind, body) = next_message(input)?;
        let greeting = match kind {
            b'R' => self.authenticate(body, out),
            b'E' => Greeting::Refused(error_text(body)),
            // A notice, or older options than were asked for.
            _ => Greeting::Continue,
        };
        Some((HEAD + body.len(), greeting))
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

impl PostgresEcho {
    /// Answers a request for authentication. When the server is content, the connection prepares its statement.
    fn authenticate<'a>(&mut self, body: &[u8], out: &mut Vec<u8>) -> Greeting<'a> {
        let Some((code, data)) = body.split_first_chunk() else {
            return Greeting::Refused(b"the server's request for authentication is malformed");
        };
        let progress = std::mem::replace(&mut self.progress, Progress::Started);
        let next = match (u32::from_be_bytes(*code), progress) {
            (OK, Progress::Started | Progress::Verified) => {
                write_statement(out);
                Ok(Progress::Open)
            }
            (OK, _) => Err(&b"the server has not proved that it knows the password"[..]),
            (SASL, Progress::Started) => self.begin_scram(data, out),
            (SASL_CONTINUE, Progress::Scram(scram)) => prove(scram, data, out),
            (SASL_FINAL, Progress::Proved(mut scram)) => match scram.finish(data) {
                Ok(()) => Ok(Progress::Verified),
                Err(_) => Err(&b"the server does not prove that it knows the password"[..]),
            },
            (CLEAR_TEXT | MD5, _) => {
                Err(&b"the server wants the password in clear text or by MD5; the crowd proves it by SCRAM-SHA-256"[..])
            }
            _ => Err(&b"the server asks for another authentication than SCRAM-SHA-256"[..]),
        };
        match next {
            Ok(Progress::Open) => {
                self.progress = Progress::Open;
                Greeting::Open
            }
            Ok(progress) => {
                self.progress = progress;
                Greeting::Continue
            }
            Err(refusal) => Greeting::Refused(refusal),
        }
    }

    /// Chooses SCRAM-SHA-256 among the mechanisms that the server offers, and sends its first message.
    fn begin_scram(&self, mechanisms: &[u8], out: &mut Vec<u8>) -> Result<Progress, &'static [u8]> {
        let Some(Login { password: Some(password), .. }) = self.login.as_deref() else {
            return Err(b"the server asks for a password");
        };
        if !mechanisms.split(|byte| *byte == 0).any(|name| name == SCRAM_SHA_256.as_bytes()) {
            return Err(b"the server does not offer SCRAM-SHA-256");
        }
        let scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        message(out, b'p', |out| {
            out.extend_from_slice(SCRAM_SHA_256.as_bytes());
            out.push(0);
            out.extend_from_slice(&(scram.message().len() as i32).to_be_bytes());
            out.extend_from_slice(scram.message());
        });
        Ok(Progress::Scram(Box::new(scram)))
    }
}

/// Answers the challenge of the server with the proof of the password.
fn prove(
    mut scram: Box<ScramSha256>,
    challenge: &[u8],
    out: &mut Vec<u8>,
) -> Result<Progress, &'static [u8]> {
    if scram.update(challenge).is_err() {
        return Err(b"the server's challenge of SCRAM-SHA-256 is malformed, or asks for too many rounds");
    }
    message(out, b'p', |out| out.extend_from_slice(scram.message()));
    Ok(Progress::Proved(scram))
}

fn write_statement(out: &mut Vec<u8>) {
    message(out, b'P', |out| {
        out.extend_from_slice(STATEMENT);
        out.extend_from_slice(b"SELECT $1\0");
        out.extend_from_slice(&1_i16.to_be_bytes());
        out.extend_from_slice(&TEXT.to_be_bytes());
    });
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
#[path = "postgres_tests.rs"]
mod tests;
