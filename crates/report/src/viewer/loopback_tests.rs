//! Tests of what a client of the loopback server can do to others: nothing.

use std::io::{BufRead, BufReader};

use super::*;

/// Times so short that a test can wait for their end.
const SHORT: Limits = Limits {
    head: Duration::from_millis(300),
    answer: Duration::from_millis(300),
    linger: Duration::from_millis(300),
};
/// A test that waits longer has failed.
const TIMEOUT: Duration = Duration::from_secs(20);
/// More than the buffers of a connection take.
const LARGE_BYTES: usize = 64 << 20;

/// Serves `/` (a short page), `/large` and `/events` (without end).
fn start(limits: Limits) -> u16 {
    let loopback = Loopback::bind(0).unwrap().with_limits(limits);
    let port = loopback.port();
    std::thread::spawn(move || {
        loopback.serve(|request| match request.target.as_str() {
            "/" => Answer::html("page".to_owned()),
            "/large" => Answer::html("x".repeat(LARGE_BYTES)),
            "/events" => {
                Answer::events(|out| while out.write_all(&[b'x'; 4096]).and_then(|()| out.flush()).is_ok() {})
            }
            _ => Answer::text(404, "no such page"),
        });
    });
    port
}

fn send(port: u16, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    // A server that has refused already may not take all.
    let _ = stream.write_all(bytes);
    stream
}

fn get(port: u16, target: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").into_bytes()
}

/// The status of the answer; `None` if the connection ends without one.
fn status(stream: &TcpStream) -> Option<u16> {
    let mut line = String::new();
    let read = BufReader::new(stream).read_line(&mut line);
    assert!(!read.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "no answer came");
    line.split(' ').nth(1)?.parse().ok()
}

/// Waits until the server has closed a connection whose client does not read.
fn wait_for_close(mut stream: &TcpStream) {
    let began = Instant::now();
    // Writing fails only once the other end is closed.
    while stream.write_all(b"x").is_ok() {
        assert!(began.elapsed() < TIMEOUT, "the connection stays open");
        std::thread::yield_now();
    }
}

#[test]
fn attacks_end_in_their_time_and_with_a_status() {
    let port = start(SHORT);
    let endless = [&get(port, "/")[..24], &[b'a'; 1 << 20]].concat();
    let many = [&get(port, "/")[..24], "A: b\r\n".repeat(100).as_bytes(), b"\r\n"].concat();
    let twice = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\n\r\n");
    let foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    let post = String::from_utf8(get(port, "/")).unwrap().replace("GET", "POST");
    for (name, bytes, expected) in [
        ("half a request", &get(port, "/")[..20], 408),
        ("nothing", b"", 408),
        ("a header line without end", &endless, 431),
        ("many headers", &many, 431),
        ("nonsense", b"nonsense\r\n\r\n", 400),
        ("two hosts", twice.as_bytes(), 403),
        ("another host", foreign.as_bytes(), 403),
        ("another method", post.as_bytes(), 405),
        ("another page", &get(port, "/elsewhere"), 404),
    ] {
        assert_eq!(status(&send(port, bytes)), Some(expected), "{name}");
        assert_eq!(status(&send(port, &get(port, "/"))), Some(200), "after {name}");
    }
}

#[test]
fn a_request_that_arrives_byte_by_byte_has_no_more_time() {
    let port = start(SHORT);
    let stream = send(port, b"");
    let (began, mut written) = (Instant::now(), 0);
    // It never pauses for long, and never ends.
    while (&stream).write_all(b"GET / HTTP/1.1\r\nA: "[written % 19..][..1].as_ref()).is_ok() {
        written += 1;
        assert!(began.elapsed() < TIMEOUT, "the connection stays open");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(began.elapsed() >= SHORT.head);
}

#[test]
fn clients_that_do_not_read_delay_nobody_and_are_closed() {
    for target in ["/large", "/events"] {
        let port = start(SHORT);
        let idle: Vec<_> = (0..4).map(|_| send(port, &get(port, target))).collect();
        assert_eq!(status(&send(port, &get(port, "/"))), Some(200), "beside clients of {target}");
        idle.iter().for_each(wait_for_close);
    }
}

#[test]
fn places_that_slow_clients_hold_are_free_again() {
    let port = start(SHORT);
    let idle: Vec<_> = (0..CONNECTIONS_MAX).map(|_| send(port, b"GET")).collect();
    let began = Instant::now();
    while status(&send(port, &get(port, "/"))) != Some(200) {
        assert!(began.elapsed() < TIMEOUT, "all places stay occupied");
    }
    drop(idle);
}

#[test]
fn a_large_answer_reaches_a_client_that_reads() {
    let port = start(Limits::default());
    let mut body = Vec::new();
    send(port, &get(port, "/large")).read_to_end(&mut body).unwrap();
    assert!(body.len() > LARGE_BYTES && body.ends_with(b"xxx"));
}
