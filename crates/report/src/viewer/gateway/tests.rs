//! Tests of what pages can do to the gateway and to each other: nothing.

use std::io::{ErrorKind, Read, Write};

use klatch_record::ProtocolName;

use super::*;

const SHORT: Times = Times { patience: Duration::from_millis(300), ping_after: Duration::from_millis(300) };
/// A test that waits longer has failed.
const TIMEOUT: Duration = Duration::from_secs(20);
const PAGE_PORT: u16 = 1;

/// A server that sends `line` for ever to each client, or takes what comes if it is empty.
fn upstream(line: &'static str) -> ClientEndpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                if line.is_empty() {
                    return std::io::copy(&mut stream, &mut std::io::sink()).map(drop);
                }
                loop {
                    stream.write_all(line.as_bytes())?;
                }
            });
        }
    });
    ClientEndpoint::plain(ProtocolName::Irc, "127.0.0.1", port)
}

fn start(times: Times, line: &'static str) -> u16 {
    let gateway = Gateway::with_times(PAGE_PORT, times).unwrap();
    gateway.set_upstreams(vec![upstream(line)]);
    gateway.port
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// A page whose WebSocket is open; an error if the gateway has no place for it.
fn page(port: u16) -> std::io::Result<TcpStream> {
    let mut stream = connect(port);
    write!(
        stream,
        "GET /0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{PAGE_PORT}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    assert_eq!(&answer, b"HTTP/1.1 101");
    Ok(stream)
}

/// Waits until the gateway has closed a connection.
fn wait_for_close(mut stream: &TcpStream) {
    let began = Instant::now();
    while stream.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).is_ok() {
        assert!(began.elapsed() < TIMEOUT, "the connection stays open");
        std::thread::yield_now();
    }
}

#[test]
fn a_page_that_does_not_read_is_closed_also_if_nothing_can_be_left_out() {
    for line in ["PING :x\r\n", ":a!a@h PRIVMSG #a :x\r\n"] {
        let times = Times { ping_after: TIMEOUT, ..SHORT };
        wait_for_close(&page(start(times, line)).unwrap());
    }
}

#[test]
fn pages_that_do_not_answer_free_their_places() {
    let port = start(SHORT, "");
    let idle: Vec<_> = (0..CONVERSATIONS_MAX).map(|_| page(port).unwrap()).collect();
    let began = Instant::now();
    // Until then an upgrade fails, since all places are taken.
    while page(port).is_err() {
        assert!(began.elapsed() < TIMEOUT, "all places stay occupied");
    }
    drop(idle);
}

#[test]
fn a_request_has_a_deadline_however_often_a_byte_arrives() {
    let port = start(SHORT, "");
    let mut stream = connect(port);
    let began = Instant::now();
    while stream.write_all(b"G").is_ok() {
        assert!(began.elapsed() < TIMEOUT, "the connection stays open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_page_that_is_idle_but_answers_pings_stays() {
    let port = start(SHORT, "");
    let mut stream = page(port).unwrap();
    let mut buffer = [0; 512];
    let mut pings = 0;
    while pings < 4 {
        let bytes = stream.read(&mut buffer).unwrap();
        assert!(bytes > 0, "closed after {pings} pings");
        for _ in buffer[..bytes].windows(2).filter(|two| two == &[0x89, 0]) {
            pings += 1;
            stream.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).unwrap();
        }
    }
    assert!(!matches!(page(port).map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof)));
}
