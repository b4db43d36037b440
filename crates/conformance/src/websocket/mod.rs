//! Checks of a chat server over WebSocket: RFC 6455, and IRC over it as IRCv3 specifies it.

mod class;
mod client;

use std::io::{Read, Write};
use std::net::SocketAddr;

use class::one_write_per_delivery;
use client::{Client, Got, masked};
use klatch_protocol::websocket::{BINARY_SUBPROTOCOL, Opcode, TEXT_SUBPROTOCOL};
use klatch_record::WebSocket;

use crate::finding::{CheckError, Checked, Finding, not_checked, wrong};
use crate::stream::connect;
use crate::{NoServer, Subject, reach, run_prefix};

struct Server {
    address: SocketAddr,
    websocket: WebSocket,
    subject: Subject,
    /// Prefix of nicks, which differs from check to check.
    prefix: String,
}

/// Name, expected behaviour and check.
type WebSocketCheck = (&'static str, &'static str, fn(&Server) -> Checked);

const CHECKS: [WebSocketCheck; 14] = [
    ("handshake: text", "the server agrees to text.ircv3.net, and its messages are texts", text_subprotocol),
    (
        "handshake: binary",
        "the server agrees to binary.ircv3.net, and its messages are binary",
        binary_subprotocol,
    ),
    (
        "handshake: version",
        "a version that does not exist gets an HTTP error, not a WebSocket",
        wrong_version,
    ),
    ("handshake: key", "a request without a key gets an HTTP error, not a WebSocket", no_key),
    ("talk: one line a message", "a message reaches the other member once, as one line without CR LF", talk),
    ("frames: byte by byte", "a frame whose bytes arrive one by one is a message", byte_by_byte),
    ("frames: fragments", "a message in two fragments, with a ping between them, is one message", fragments),
    ("frames: ping", "a ping gets a pong with the same payload", ping),
    ("close: handshake", "a close frame gets a close frame, and then the connection ends", close),
    ("violation: no mask", "the connection ends after a frame without a mask (1002)", no_mask),
    ("violation: reserved bit", "the connection ends after a frame with a reserved bit (1002)", reserved_bit),
    ("violation: UTF-8", "the connection ends after a text that is not UTF-8 (1007)", not_utf8),
    ("violation: size", "the connection ends after a frame of 1 MiB (1009)", too_large),
    (
        "class: one write per delivery",
        "a server of class classic makes exactly one write call for each delivery",
        one_write_per_delivery,
    ),
];

/// Runs all checks against the server at `address` (`host:port`) in turn, and calls `on_finding` after each, with the number of all checks.
///
/// # Errors
/// The server accepts no connection at all.
pub(crate) fn check_websocket(
    address: &str,
    websocket: &WebSocket,
    subject: &Subject,
    mut on_finding: impl FnMut(&Finding, usize),
) -> Result<Vec<Finding>, NoServer> {
    let reached = reach(address, subject.answer_timeout)?;
    let run = run_prefix();
    let checks = CHECKS.into_iter().zip('a'..).map(|((name, expected, check), letter)| {
        let server = Server {
            address: reached,
            websocket: websocket.clone(),
            subject: *subject,
            prefix: format!("w{run}{letter}"),
        };
        let finding = Finding::new(name, expected, check(&server));
        on_finding(&finding, CHECKS.len());
        finding
    });
    Ok(checks.collect())
}

impl Server {
    /// The subprotocol to ask for; `None` for none.
    fn subprotocol(&self) -> Option<&str> {
        self.websocket.subprotocol.name(Some(TEXT_SUBPROTOCOL))
    }

    fn room(&self) -> String {
        format!("#{}", self.prefix)
    }

    /// A user in the room of the check.
    fn user(&self, number: u32) -> Checked<Client> {
        Client::user(self, &format!("{}{number}", self.prefix), &self.room())
    }

    fn both(&self) -> Checked<(Client, Client)> {
        Ok((self.user(1)?, self.user(2)?))
    }

    /// The answer to a request that opens no WebSocket.
    fn refusal(&self, headers: &str) -> Checked {
        let mut stream = connect(self.address, self.subject.answer_timeout)?;
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{headers}\r\n",
            self.websocket.path, self.address
        );
        let failed = |error: std::io::Error| CheckError::Wrong(format!("the connection broke: {error}"));
        stream.write_all(request.as_bytes()).map_err(failed)?;
        let mut answer = [0; 1024];
        let bytes = stream.read(&mut answer).map_err(failed)?;
        let text = String::from_utf8_lossy(&answer[..bytes]).into_owned();
        match text.split_whitespace().nth(1) {
            Some(status) if status.starts_with('4') => Ok(format!("status {status}")),
            None => Ok("closed without an answer".to_owned()),
            _ => wrong(format!("answered {:?}", text.lines().next().unwrap_or_default())),
        }
    }
}

/// Whether messages of a subprotocol are texts.
fn agreed(server: &Server, subprotocol: &str, is_text: bool) -> Checked {
    if !server.subprotocol().is_some_and(|name| name.ends_with(".ircv3.net")) {
        return not_checked("the platform declares that it has other subprotocols");
    }
    let mut client = Client::open(server, Some(subprotocol))?;
    let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
    for line in [format!("NICK {}", server.prefix), format!("USER {0} 0 * :{0}", server.prefix)] {
        client.send(opcode, line.as_bytes())?;
    }
    match client.until(" 001 ")? {
        (got, _) if got == is_text => Ok("agreed".to_owned()),
        (true, _) => wrong("its messages are texts"),
        (false, _) => wrong("its messages are binary"),
    }
}

fn text_subprotocol(server: &Server) -> Checked {
    agreed(server, TEXT_SUBPROTOCOL, true)
}

fn binary_subprotocol(server: &Server) -> Checked {
    agreed(server, BINARY_SUBPROTOCOL, false)
}

fn wrong_version(server: &Server) -> Checked {
    server.refusal("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 99\r\n")
}

fn no_key(server: &Server) -> Checked {
    server.refusal("Sec-WebSocket-Version: 13\r\n")
}

fn talk(server: &Server) -> Checked {
    let (mut one, mut other) = server.both()?;
    for number in 0..100 {
        one.say(&format!("PRIVMSG {} :{number} hello", server.room()))?;
    }
    for number in 0..100 {
        let (_, line) = other.until(" PRIVMSG ")?;
        if !line.ends_with(&format!(" :{number} hello")) {
            return wrong(format!("message {number} arrived as {line:?}"));
        }
    }
    Ok("100 messages in order".to_owned())
}

/// Sends frames in pieces from one user, and waits for their text at another.
fn arrives(server: &Server, frames: &[u8], piece: usize, text: &str) -> Checked<Client> {
    let (mut one, mut other) = server.both()?;
    for bytes in frames.chunks(piece) {
        one.write(bytes)?;
    }
    let (_, line) = other.until(" PRIVMSG ")?;
    if line.ends_with(text) { Ok(one) } else { wrong(format!("arrived as {line:?}")) }
}

fn byte_by_byte(server: &Server) -> Checked {
    let frame = masked(Opcode::Text, format!("PRIVMSG {} :bit by bit", server.room()).as_bytes());
    arrives(server, &frame, 1, " :bit by bit")?;
    Ok("arrived".to_owned())
}

fn fragments(server: &Server) -> Checked {
    let mut first = masked(Opcode::Text, format!("PRIVMSG {} ", server.room()).as_bytes());
    // Not the last fragment, and then a continuation.
    first[0] = 0x01;
    let mut last = masked(Opcode::Text, b":in two");
    last[0] = 0x80;
    let frames = [first, masked(Opcode::Ping, b"between"), last].concat();
    let mut one = arrives(server, &frames, frames.len(), " :in two")?;
    loop {
        match one.next()? {
            Got::Pong(payload) if payload == b"between" => return Ok("arrived, and a pong".to_owned()),
            Got::Message(..) => {}
            other => return wrong(format!("{other:?} in place of a pong")),
        }
    }
}

fn ping(server: &Server) -> Checked {
    let mut user = server.user(1)?;
    user.send(Opcode::Ping, b"are you there")?;
    loop {
        match user.next()? {
            Got::Pong(payload) if payload == b"are you there" => return Ok("a pong".to_owned()),
            Got::Pong(_) => return wrong("a pong with another payload"),
            Got::Message(..) => {}
            other => return wrong(format!("{other:?} in place of a pong")),
        }
    }
}

fn close(server: &Server) -> Checked {
    let mut user = server.user(1)?;
    user.send(Opcode::Close, &1000_u16.to_be_bytes())?;
    match user.end()? {
        Some(code) => Ok(format!("a close frame with code {code}")),
        None => wrong("the connection ended without a close frame"),
    }
}

/// Whether the connection ends after these bytes. Others in the room must live on.
fn ends_after(server: &Server, bytes: &[u8], code: u16) -> Checked {
    let (mut one, mut other) = server.both()?;
    one.write(bytes)?;
    let ended = one.end()?;
    other.say("PING :still")?;
    other.until("PONG")?;
    match ended {
        None => Ok("closed without a close frame".to_owned()),
        Some(got) if got == code => Ok(format!("closed with code {code}")),
        Some(got) => wrong(format!("closed with code {got}")),
    }
}

fn no_mask(server: &Server) -> Checked {
    ends_after(server, b"\x81\x06PING x", 1002)
}

fn reserved_bit(server: &Server) -> Checked {
    let mut frame = masked(Opcode::Text, b"PING x");
    frame[0] |= 0x40;
    ends_after(server, &frame, 1002)
}

fn not_utf8(server: &Server) -> Checked {
    let frame = masked(Opcode::Text, format!("PRIVMSG {} :\u{e9}", server.room()).as_bytes());
    // Without the last byte of the character; the length of the frame is one less.
    let mut frame = frame[..frame.len() - 1].to_vec();
    frame[1] -= 1;
    ends_after(server, &frame, 1007)
}

fn too_large(server: &Server) -> Checked {
    // Its head alone shows the size.
    let mut head = vec![0x81, 0x80 | 127];
    head.extend_from_slice(&(1_u64 << 20).to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    head.extend_from_slice(&[b'x'; 64 * 1024]);
    ends_after(server, &head, 1009)
}
