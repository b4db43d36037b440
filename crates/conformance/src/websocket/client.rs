//! A client by WebSocket that waits for each answer.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use klatch_protocol::websocket::{Decoder, Event, Opcode, Role, check_answer, write_frame, write_request};

use super::Server;
use crate::finding::{CheckError, Checked, wrong};
use crate::stream::connect;

/// Any 16 bytes will do, as no check is about proxies.
const KEY: [u8; 16] = *b"klatch conforms!";
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
/// Largest message that a check accepts.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

pub(super) struct Client {
    pub(super) stream: TcpStream,
    received: Vec<u8>,
    decoder: Decoder,
}

/// An event that owns its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// A message; whether it is a text.
    Message(bool, String),
    Pong(Vec<u8>),
    Close(Option<u16>),
    /// The connection has ended.
    End,
}

impl Client {
    /// Completes the handshake, in which the server must agree to `subprotocol`.
    pub(super) fn open(server: &Server, subprotocol: Option<&str>) -> Checked<Client> {
        let decoder = Decoder::new(Role::Client, MESSAGE_BYTES_MAX);
        let stream = connect(server.address, server.subject.answer_timeout)?;
        let mut client = Client { stream, received: Vec::new(), decoder };
        let mut request = Vec::new();
        write_request(&mut request, &server.address.to_string(), &server.websocket.path, KEY, subprotocol);
        client.write(&request)?;
        loop {
            match check_answer(&client.received, KEY, subprotocol) {
                Ok(Some(bytes)) => {
                    client.received.drain(..bytes);
                    return Ok(client);
                }
                Ok(None) if client.read_some()? => {}
                Ok(None) => return wrong("the connection was closed in the handshake"),
                Err(error) => return wrong(error.to_string()),
            }
        }
    }

    /// A registered user in the room.
    pub(super) fn user(server: &Server, nick: &str, room: &str) -> Checked<Client> {
        let mut client = Client::open(server, server.subprotocol())?;
        client.say(&format!("NICK {nick}"))?;
        client.say(&format!("USER {nick} 0 * :{nick}"))?;
        client.until(" 001 ")?;
        client.say(&format!("JOIN {room}"))?;
        client.until(" 366 ")?;
        Ok(client)
    }

    pub(super) fn say(&mut self, line: &str) -> Checked<()> {
        self.send(Opcode::Text, line.as_bytes())
    }

    pub(super) fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Checked<()> {
        self.write(&masked(opcode, payload))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Checked<()> {
        self.stream.write_all(bytes).map_err(|error| CheckError::Wrong(format!("cannot write: {error}")))
    }

    /// Returns `false` at the end of the connection.
    fn read_some(&mut self) -> Checked<bool> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(bytes) => {
                self.received.extend_from_slice(&buffer[..bytes]);
                Ok(bytes > 0)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                wrong("no answer in time")
            }
            Err(error) => wrong(format!("the connection broke: {error}")),
        }
    }

    /// The next event. The server's pings are answered.
    pub(super) fn next(&mut self) -> Checked<Got> {
        loop {
            let received = std::mem::take(&mut self.received);
            let decoded = match self.decoder.decode(&received) {
                Err(error) => return wrong(format!("an invalid frame: {error}")),
                Ok(decoded) => decoded,
            };
            let Some((used, event)) = decoded else {
                self.received = received;
                if !self.read_some()? {
                    return Ok(Got::End);
                }
                continue;
            };
            let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
            let (got, ping) = match event {
                Event::Message { is_text, payload } => (Some(Got::Message(is_text, text(payload))), None),
                Event::Pong(payload) => (Some(Got::Pong(payload.to_vec())), None),
                Event::Close { code, .. } => (Some(Got::Close(code)), None),
                Event::Ping(payload) => (None, Some(payload.to_vec())),
                Event::Nothing => (None, None),
            };
            self.received = received[used..].to_vec();
            if let Some(payload) = ping {
                self.send(Opcode::Pong, &payload)?;
            }
            if let Some(got) = got {
                return Ok(got);
            }
        }
    }

    /// The first message with `part` in it. Other messages are skipped; IRC pings are answered.
    pub(super) fn until(&mut self, part: &str) -> Checked<(bool, String)> {
        loop {
            match self.next()? {
                Got::Message(is_text, line) => {
                    if line.contains(['\r', '\n']) {
                        return wrong(format!("a message with a line end in it: {line:?}"));
                    }
                    if let Some(token) = line.strip_prefix("PING ") {
                        self.say(&format!("PONG {token}"))?;
                    } else if line.contains(part) {
                        return Ok((is_text, line));
                    }
                }
                Got::Pong(_) => {}
                Got::Close(code) => return wrong(format!("a close frame ({code:?}) before {part:?}")),
                Got::End => return wrong(format!("the connection was closed before {part:?}")),
            }
        }
    }

    /// How the server ends the connection: the code of its close frame, or `None` without a frame.
    pub(super) fn end(&mut self) -> Checked<Option<u16>> {
        let mut code = None;
        loop {
            match self.next()? {
                Got::Close(closed) => code = closed.or(Some(1005)),
                Got::End => return Ok(code),
                Got::Message(..) | Got::Pong(_) => {}
            }
        }
    }
}

/// A frame as a client sends it.
pub(super) fn masked(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, opcode, Some(MASK), payload);
    frame
}
