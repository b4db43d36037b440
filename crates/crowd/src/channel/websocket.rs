//! The client side of a WebSocket.

use std::io::{Error, ErrorKind};

use klatch_protocol::websocket::{
    BINARY_SUBPROTOCOL, Decoder, Event, MESSAGE_BYTES_MAX, Opcode, Role, TEXT_SUBPROTOCOL, check_answer,
    write_frame, write_request,
};
use klatch_record::{ProtocolName, WebSocket};

use super::ClientEndpoint;
use crate::protocol::UserId;

pub(super) struct WebSocketClient {
    decoder: Decoder,
    /// Each line is a message.
    lines: bool,
    opcode: Opcode,
    /// State of the generator of masks (xorshift): any mask will do, as the crowd is no browser.
    random: u64,
    state: State,
    /// An incomplete frame or answer.
    partial: Vec<u8>,
    /// Raw bytes to be sent: the request, pongs, a close.
    replies: Vec<u8>,
    /// How the server closed.
    closed: Option<String>,
}

enum State {
    /// The server has not answered yet.
    Handshake {
        key: [u8; 16],
        subprotocol: Option<String>,
        /// Plain bytes that wait for the answer.
        waiting: Vec<u8>,
    },
    Open,
    /// The crowd has closed.
    Closing,
}

impl WebSocketClient {
    pub(super) fn new(options: &WebSocket, server: &ClientEndpoint, id: UserId) -> WebSocketClient {
        // Odd, so never 0, and different for each user.
        let mut random =
            (u64::from(id.room) << 33 | u64::from(id.user) << 1 | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut key = [0; 16];
        for part in key.chunks_exact_mut(8) {
            part.copy_from_slice(&next_random(&mut random).to_ne_bytes());
        }
        // The other protocols are a stream of bytes.
        let lines = server.protocol == ProtocolName::Irc;
        let subprotocol = options.subprotocol.name(lines.then_some(TEXT_SUBPROTOCOL));
        let mut replies = Vec::new();
        write_request(&mut replies, &server.to_string(), &options.path, key, subprotocol);
        let is_text = lines && subprotocol != Some(BINARY_SUBPROTOCOL);
        WebSocketClient {
            decoder: Decoder::new(Role::Client, MESSAGE_BYTES_MAX),
            lines,
            opcode: if is_text { Opcode::Text } else { Opcode::Binary },
            random,
            state: State::Handshake { key, subprotocol: subprotocol.map(str::to_owned), waiting: Vec::new() },
            partial: Vec::new(),
            replies,
            closed: None,
        }
    }

    pub(super) fn send(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        raw.append(&mut self.replies);
        match &mut self.state {
            State::Handshake { waiting, .. } => waiting.extend_from_slice(plain),
            State::Open => self.frame(plain, raw),
            State::Closing => {}
        }
    }

    pub(super) fn has_output(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Bytes that wait for [`WebSocketClient::send`].
    pub(super) fn waiting_bytes(&self) -> usize {
        self.replies.len()
    }

    /// Appends the frames of whole lines, or of a piece of a stream.
    fn frame(&mut self, plain: &[u8], raw: &mut Vec<u8>) {
        if !self.lines {
            if !plain.is_empty() {
                write_frame(raw, self.opcode, Some(self.mask()), plain);
            }
            return;
        }
        let mut rest = plain;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            write_frame(raw, self.opcode, Some(self.mask()), line);
            rest = &rest[end + 1..];
        }
    }

    /// Whether the server has sent a close frame.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    fn mask(&mut self) -> [u8; 4] {
        (next_random(&mut self.random) as u32).to_ne_bytes()
    }

    pub(super) fn receive(&mut self, raw: &[u8], plain: &mut Vec<u8>) -> std::io::Result<()> {
        if self.partial.is_empty() {
            let used = self.decode(raw, plain)?;
            self.partial.extend_from_slice(&raw[used..]);
        } else {
            let mut partial = std::mem::take(&mut self.partial);
            partial.extend_from_slice(raw);
            let used = self.decode(&partial, plain)?;
            // An empty vector owns no memory: there are many connections.
            self.partial = if used == partial.len() { Vec::new() } else { partial.split_off(used) };
        }
        match &self.closed {
            // What came before it is processed first; the end of the stream follows.
            Some(_) if !plain.is_empty() => Ok(()),
            Some(how) => Err(Error::new(ErrorKind::ConnectionAborted, how.clone())),
            None => Ok(()),
        }
    }

    fn decode(&mut self, raw: &[u8], plain: &mut Vec<u8>) -> std::io::Result<usize> {
        let mut used = 0;
        if let State::Handshake { key, subprotocol, waiting } = &mut self.state {
            let Some(bytes) = check_answer(raw, *key, subprotocol.as_deref()).map_err(Error::other)? else {
                return Ok(0);
            };
            let waiting = std::mem::take(waiting);
            self.state = State::Open;
            let mut replies = std::mem::take(&mut self.replies);
            self.frame(&waiting, &mut replies);
            self.replies = replies;
            used = bytes;
        }
        while let Some((bytes, event)) = self
            .decoder
            .decode(&raw[used..])
            .map_err(|error| Error::other(format!("invalid WebSocket frame: {error}")))?
        {
            used += bytes;
            match event {
                Event::Message { payload, .. } => {
                    plain.extend_from_slice(payload);
                    if self.lines {
                        plain.extend_from_slice(b"\r\n");
                    }
                }
                Event::Ping(payload) => {
                    let mask = (next_random(&mut self.random) as u32).to_ne_bytes();
                    write_frame(&mut self.replies, Opcode::Pong, Some(mask), payload);
                }
                Event::Close { code, reason } => {
                    let code = code.map_or("without a code".to_owned(), |code| format!("with code {code}"));
                    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
                    self.closed = Some(format!("the server closed the WebSocket {code}{reason}"));
                }
                Event::Pong(_) | Event::Nothing => {}
            }
        }
        Ok(used)
    }

    pub(super) fn close(&mut self) {
        if matches!(self.state, State::Open) {
            let mask = self.mask();
            write_frame(&mut self.replies, Opcode::Close, Some(mask), &1000_u16.to_be_bytes());
        }
        self.state = State::Closing;
    }

    pub(super) fn end_reason(&self) -> String {
        match (&self.closed, &self.state) {
            (Some(how), _) => how.clone(),
            (None, State::Handshake { .. }) => {
                "the server closed the connection during the WebSocket handshake".to_owned()
            }
            (None, _) => "the server closed the connection without a WebSocket close frame".to_owned(),
        }
    }
}

fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use klatch_protocol::websocket::accept;

    use super::*;

    fn client() -> WebSocketClient {
        let server = ClientEndpoint::plain(ProtocolName::Irc, "127.0.0.1", 6667);
        WebSocketClient::new(&WebSocket::root(), &server, UserId { room: 3, user: 7, users: 20 })
    }

    fn server_frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        write_frame(&mut frame, opcode, None, payload);
        frame
    }

    /// A client after its handshake, and the raw bytes that it then sent.
    fn open(plain: &[u8]) -> (WebSocketClient, Vec<u8>) {
        let (mut client, mut raw) = (client(), Vec::new());
        client.send(plain, &mut raw);
        let answer = accept(&raw).unwrap().expect("a whole request");
        assert_eq!((answer.request_bytes, answer.subprotocol), (raw.len(), Some(TEXT_SUBPROTOCOL)));
        raw.clear();
        client.receive(&answer.head, &mut Vec::new()).unwrap();
        client.send(b"", &mut raw);
        (client, raw)
    }

    #[test]
    fn lines_wait_for_the_handshake_and_are_masked_messages() {
        let (_, raw) = open(b"NICK a\r\nUSER a\r\n");
        let mut decoder = Decoder::new(Role::Server, 512);
        let (used, event) = decoder.decode(&raw).unwrap().unwrap();
        assert_eq!(event, Event::Message { is_text: true, payload: b"NICK a" });
        let (_, event) = decoder.decode(&raw[used..]).unwrap().unwrap();
        assert_eq!(event, Event::Message { is_text: true, payload: b"USER a" });
    }

    #[test]
    fn messages_are_lines_in_pieces_of_any_size_and_pings_are_answered() {
        let mut bytes = server_frame(Opcode::Text, b"PING x");
        bytes.extend(server_frame(Opcode::Ping, b"p"));
        // A message in two fragments, with a ping between them.
        bytes.extend([0x01, 3, b'o', b'n', b'e', 0x89, 0, 0x80, 3, b'T', b'w', b'o']);
        for piece in 1..bytes.len() {
            let (mut client, _) = open(b"");
            let mut plain = Vec::new();
            for chunk in bytes.chunks(piece) {
                client.receive(chunk, &mut plain).unwrap();
            }
            assert_eq!(plain, b"PING x\r\noneTwo\r\n");
            let mut pongs = Vec::new();
            client.send(b"", &mut pongs);
            let mut decoder = Decoder::new(Role::Server, 512);
            let (used, event) = decoder.decode(&pongs).unwrap().unwrap();
            assert_eq!(event, Event::Pong(b"p"));
            assert_eq!(decoder.decode(&pongs[used..]).unwrap().unwrap().1, Event::Pong(b""));
        }
    }

    #[test]
    fn the_reason_of_an_end_is_reported() {
        let error = |raw: &[u8]| open(b"").0.receive(raw, &mut Vec::new()).unwrap_err().to_string();
        let close = |payload: &[u8]| error(&server_frame(Opcode::Close, payload));
        assert_eq!(close(b"\x03\xf0bad"), "the server closed the WebSocket with code 1008 (bad)");
        assert_eq!(close(b""), "the server closed the WebSocket without a code");
        assert_eq!(error(&[0xc1, 0]), "invalid WebSocket frame: a reserved bit is set (close code 1002)");
        let answer = |text: &[u8]| client().receive(text, &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(
            answer(b"ERROR :Go away\r\n"),
            "the server does not answer in HTTP, so it speaks no WebSocket at this port; it sent: ERROR :Go away"
        );
        assert_eq!(
            answer(b"HTTP/1.1 404 Not Found\r\n\r\n"),
            "the server answered the WebSocket handshake with status 404 Not Found"
        );
        assert!(open(b"").0.end_reason().ends_with("without a WebSocket close frame"));
        assert!(client().end_reason().ends_with("during the WebSocket handshake"));
    }
}
