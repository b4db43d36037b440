//! Chat over WebSocket on real sockets: every model, with every way in which a client may keep the protocol or break it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use klatch_protocol::websocket::{
    BINARY_SUBPROTOCOL, Decoder, Event, Opcode, Role, TEXT_SUBPROTOCOL, check_answer, write_frame,
    write_request,
};
use klatch_server::{Model, ServeOptions, Workload, serve};

use super::every_server;
use super::running::Running;

/// A test that waits longer than this for bytes has failed.
const TIMEOUT: Duration = Duration::from_secs(20);
const KEY: [u8; 16] = *b"sixteen bytes ok";
const MASK: [u8; 4] = [1, 2, 3, 4];

fn servers() -> impl Iterator<Item = Running> {
    let over_websocket = |options| ServeOptions { websocket: true, ..options };
    every_server().into_iter().map(over_websocket).map(Running::start)
}

fn raw(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    decoder: Decoder,
}

/// An event that owns its bytes.
#[derive(Debug, PartialEq, Eq)]
enum Got {
    Text(String),
    Binary(String),
    Pong(Vec<u8>),
    Close(Option<u16>),
    End,
}

impl Client {
    fn connect(server: &Running, subprotocol: Option<&str>) -> Client {
        let mut client = Client {
            stream: raw(server),
            received: Vec::new(),
            decoder: Decoder::new(Role::Client, 1 << 20),
        };
        let mut request = Vec::new();
        write_request(&mut request, "klatch.test", "/", KEY, subprotocol);
        client.stream.write_all(&request).unwrap();
        loop {
            if let Some(bytes) = check_answer(&client.received, KEY, subprotocol).unwrap() {
                client.received.drain(..bytes);
                return client;
            }
            assert!(client.read_some(), "closed in the handshake");
        }
    }

    /// A registered user in the room #a.
    fn in_room(server: &Running, nick: &str) -> Client {
        let mut client = Client::connect(server, Some(TEXT_SUBPROTOCOL));
        client.say(&format!("NICK {nick}"));
        client.say(&format!("USER {nick} 0 * :{nick}"));
        client.say("JOIN #a");
        client.read_until(" 366 ");
        client
    }

    fn say(&mut self, line: &str) {
        self.send(Opcode::Text, line.as_bytes());
    }

    fn send(&mut self, opcode: Opcode, payload: &[u8]) {
        let mut frame = Vec::new();
        write_frame(&mut frame, opcode, Some(MASK), payload);
        self.stream.write_all(&frame).unwrap();
    }

    /// Returns false at the end of the connection.
    fn read_some(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(bytes) => {
                self.received.extend_from_slice(&buffer[..bytes]);
                bytes > 0
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("nothing came: {error}"),
        }
    }

    fn next(&mut self) -> Got {
        loop {
            let received = std::mem::take(&mut self.received);
            let (used, got) = match self.decoder.decode(&received).unwrap() {
                Some((used, event)) => (used, as_owned(event)),
                None => {
                    self.received = received;
                    if !self.read_some() {
                        return Got::End;
                    }
                    continue;
                }
            };
            self.received = received[used..].to_vec();
            return got;
        }
    }

    fn read_until(&mut self, part: &str) -> String {
        loop {
            match self.next() {
                Got::Text(line) | Got::Binary(line) if line.contains(part) => return line,
                Got::Text(_) | Got::Binary(_) => {}
                other => panic!("{other:?} came before {part}"),
            }
        }
    }

    /// The code with which the server closes, before it ends the connection.
    fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.next() {
                Got::Close(code) => {
                    assert_eq!(self.next(), Got::End);
                    return code;
                }
                Got::End => panic!("closed without a close frame"),
                _ => {}
            }
        }
    }
}

fn as_owned(event: Event<'_>) -> Got {
    let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
    match event {
        Event::Message { is_text: true, payload } => Got::Text(text(payload)),
        Event::Message { is_text: false, payload } => Got::Binary(text(payload)),
        Event::Pong(payload) => Got::Pong(payload.to_vec()),
        Event::Close { code, .. } => Got::Close(code),
        Event::Ping(_) | Event::Nothing => panic!("the server sends whole messages and no pings"),
    }
}

#[test]
fn users_of_both_subprotocols_and_of_none_talk() {
    for server in servers() {
        let mut ann = Client::in_room(&server, "ann");
        let mut bob = Client::connect(&server, Some(BINARY_SUBPROTOCOL));
        for line in ["NICK bob", "USER bob 0 * :bob", "JOIN #a"] {
            bob.send(Opcode::Binary, line.as_bytes());
        }
        bob.read_until(" 366 ");
        let mut cat = Client::connect(&server, None);
        for line in ["NICK cat", "USER cat 0 * :cat", "JOIN #a"] {
            cat.say(line);
        }
        cat.read_until(" 366 ");
        ann.read_until("cat!cat@127.0.0.1 JOIN");
        bob.read_until("cat!cat@127.0.0.1 JOIN");
        bob.send(Opcode::Binary, b"PRIVMSG #a :not \xff UTF-8");
        assert_eq!(ann.next(), Got::Text(":bob!bob@127.0.0.1 PRIVMSG #a :not \u{fffd} UTF-8".into()));
        assert_eq!(cat.next(), Got::Text(":bob!bob@127.0.0.1 PRIVMSG #a :not \u{fffd} UTF-8".into()));
        ann.say("PRIVMSG #a :hello");
        assert_eq!(bob.next(), Got::Binary(":ann!ann@127.0.0.1 PRIVMSG #a :hello".into()));
        assert_eq!(cat.next(), Got::Text(":ann!ann@127.0.0.1 PRIVMSG #a :hello".into()));
        ann.say("QUIT :bye");
        assert_eq!(ann.next(), Got::Text("ERROR :Closing link: (Quit: bye)".into()));
        assert_eq!(ann.close_code(), Some(1000));
        assert_eq!(bob.next(), Got::Binary(":ann!ann@127.0.0.1 QUIT :Quit: bye".into()));
        server.stop();
    }
}

#[test]
fn fragments_and_bytes_one_by_one_are_put_together_and_pings_are_answered() {
    for server in servers() {
        let (mut ann, mut bob) = (Client::in_room(&server, "ann"), Client::in_room(&server, "bob"));
        ann.read_until("JOIN");
        // A message in two fragments, with a ping between them.
        let mut bytes = vec![0x01, 0x80 | 10, 0, 0, 0, 0];
        bytes.extend_from_slice(b"PRIVMSG #a");
        write_frame(&mut bytes, Opcode::Ping, Some(MASK), b"still there?");
        bytes.extend_from_slice(&[0x80, 0x80 | 4, 0, 0, 0, 0]);
        bytes.extend_from_slice(b" :hi");
        bob.stream.set_nodelay(true).unwrap();
        for byte in bytes {
            bob.stream.write_all(&[byte]).unwrap();
        }
        assert_eq!(bob.next(), Got::Pong(b"still there?".to_vec()));
        assert_eq!(ann.next(), Got::Text(":bob!bob@127.0.0.1 PRIVMSG #a :hi".into()));
        bob.send(Opcode::Close, &1001_u16.to_be_bytes());
        assert_eq!(bob.close_code(), Some(1001));
        assert_eq!(ann.next(), Got::Text(":bob!bob@127.0.0.1 QUIT :Connection closed".into()));
        server.stop();
    }
}

#[test]
fn a_violation_closes_the_connection_with_its_code() {
    for server in servers() {
        let mut watcher = Client::in_room(&server, "eve");
        let mut code = |bytes: &[u8]| {
            let mut client = Client::in_room(&server, "ann");
            client.stream.write_all(bytes).unwrap();
            let code = client.close_code();
            watcher.read_until("ann!ann@127.0.0.1 QUIT");
            code
        };
        let mut long = vec![0x81, 0x80 | 126];
        long.extend_from_slice(&16_385_u16.to_be_bytes());
        long.extend_from_slice(&MASK);
        let masked = |payload: &[u8]| {
            let mut frame = Vec::new();
            write_frame(&mut frame, Opcode::Text, Some(MASK), payload);
            frame
        };
        assert_eq!(code(b"\x81\x02hi"), Some(1002), "a frame without a mask");
        assert_eq!(code(b"\xc1\x80\0\0\0\0"), Some(1002), "a reserved bit");
        assert_eq!(code(&masked(b"PRIVMSG #a :\xff")), Some(1007), "a text that is not UTF-8");
        assert_eq!(code(&long), Some(1009), "a message of over 16 KiB");
        assert_eq!(code(&masked(b"PRIVMSG #a :x\r\nQUIT")), Some(1008), "two lines in a message");
        server.stop();
    }
}

#[test]
fn a_request_that_opens_no_websocket_gets_its_status() {
    for server in servers() {
        let status = |request: &str| {
            let mut stream = raw(&server);
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let upgrade = "Host: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n";
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let old = status(&format!("GET / HTTP/1.1\r\n{upgrade}{key}Sec-WebSocket-Version: 8\r\n\r\n"));
        assert!(old.starts_with("HTTP/1.1 426 ") && old.contains("Sec-WebSocket-Version: 13\r\n"), "{old}");
        let page = status("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 426 "), "{page}");
        for bad in [
            format!("GET / HTTP/1.1\r\n{upgrade}Sec-WebSocket-Version: 13\r\n\r\n"),
            format!(
                "GET / HTTP/1.1\r\n{upgrade}Sec-WebSocket-Key: c2hvcnQ=\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ),
            format!("POST / HTTP/1.1\r\n{upgrade}{key}Sec-WebSocket-Version: 13\r\n\r\n"),
            "NICK ann\r\n\r\n".to_owned(),
            format!("GET / HTTP/1.1\r\nX: {}\r\n", "x".repeat(8 * 1024)),
        ] {
            let answer = status(&bad);
            assert!(answer.starts_with("HTTP/1.1 400 "), "{bad}: {answer}");
        }
        server.stop();
    }
}

#[test]
fn only_chat_is_carried() {
    let options = ServeOptions {
        workload: Workload::Rr,
        websocket: true,
        model: Model::Epoll,
        ..ServeOptions::default()
    };
    let error = serve(&options).unwrap_err().to_string();
    assert_eq!(error, "transport ws belongs to workload chat, not to rr");
}
