//! A WebSocket server in front of a chat server that speaks plain TCP, with the faults that only a WebSocket can have.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use klatch_protocol::websocket::{Decoder, Event, Opcode, Role, accept, write_frame};

/// How the front sends the lines of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One frame for each line.
    Whole,
    /// Three fragments each, in writes of a few bytes, with a ping between them.
    Fragments,
    /// The tenth delivery has a mask, which only a client may use.
    Masked,
    /// It ends the connection in place of the tenth delivery, without a close frame.
    EndsSilently,
    /// It closes with code 1011 in place of the tenth delivery.
    Closes,
    /// It answers the handshake without a subprotocol.
    NoSubprotocol,
}

/// Starts a front of `server`, which ends with the test program. Returns its address and the number of pings that were answered with
/// their own payload.
pub(crate) fn websocket_front(server: SocketAddr, framing: Framing) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let pings = Arc::new(AtomicU64::default());
    let counted = Arc::clone(&pings);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            client.set_nodelay(true).unwrap();
            let pings = Arc::clone(&counted);
            std::thread::spawn(move || carry(client, TcpStream::connect(server).unwrap(), framing, &pings));
        }
    });
    (address, pings)
}

fn carry(mut client: TcpStream, mut server: TcpStream, framing: Framing, pings: &AtomicU64) {
    let (mut received, mut buffer) = (Vec::new(), [0; 4096]);
    let answer = loop {
        let bytes = client.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..bytes]);
        if let Some(answer) = accept(&received).expect("the crowd's request is right") {
            break answer;
        }
    };
    let head = String::from_utf8(answer.head).unwrap();
    let head: String = match framing {
        Framing::NoSubprotocol => {
            head.split_inclusive("\r\n").filter(|line| !line.starts_with("Sec-WebSocket-Protocol")).collect()
        }
        _ => head,
    };
    client.write_all(head.as_bytes()).unwrap();
    received.drain(..answer.request_bytes);
    let writer = Arc::new(Mutex::new(client.try_clone().unwrap()));
    let lines = server.try_clone().unwrap();
    std::thread::spawn(move || send_lines(lines, &writer, framing));
    let mut decoder = Decoder::new(Role::Server, 1 << 16);
    loop {
        while let Some((used, event)) = decoder.decode(&received).expect("the crowd keeps the protocol") {
            match event {
                Event::Message { payload, .. } => {
                    let _ = server.write_all(&[payload, b"\r\n"].concat());
                }
                Event::Pong(b"how are you") => _ = pings.fetch_add(1, Relaxed),
                Event::Close { .. } => _ = server.shutdown(Shutdown::Write),
                _ => {}
            }
            received.drain(..used);
        }
        match client.read(&mut buffer) {
            Ok(bytes) if bytes > 0 => received.extend_from_slice(&buffer[..bytes]),
            _ => break,
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

fn send_lines(server: TcpStream, client: &Mutex<TcpStream>, framing: Framing) {
    let mut deliveries = 0;
    for line in BufReader::new(server).lines().map_while(Result::ok) {
        deliveries += u32::from(line.contains(" PRIVMSG "));
        let mut client = client.lock().unwrap();
        let mut frame = Vec::new();
        match framing {
            Framing::Fragments => {
                let (first, rest) = line.as_bytes().split_at(line.len() / 3);
                let (second, third) = rest.split_at(rest.len() / 2);
                for (head, part) in [(0x01, first), (0x00, second), (0x80, third)] {
                    frame.extend([head, part.len() as u8]);
                    frame.extend_from_slice(part);
                    if head == 0x01 {
                        write_frame(&mut frame, Opcode::Ping, None, b"how are you");
                    }
                }
                if frame.chunks(7).try_for_each(|piece| client.write_all(piece)).is_err() {
                    return;
                }
                continue;
            }
            Framing::EndsSilently if deliveries == 10 => break,
            Framing::Closes if deliveries == 10 => {
                write_frame(&mut frame, Opcode::Close, None, b"\x03\xf3out of memory");
                let _ = client.write_all(&frame);
                break;
            }
            Framing::Masked if deliveries == 10 => {
                write_frame(&mut frame, Opcode::Text, Some([1, 2, 3, 4]), line.as_bytes());
            }
            _ => write_frame(&mut frame, Opcode::Text, None, line.as_bytes()),
        }
        if client.write_all(&frame).is_err() {
            return;
        }
    }
    let _ = client.lock().unwrap().shutdown(Shutdown::Both);
}
