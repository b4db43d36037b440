//! What a client can do to a server and its other clients: nothing that lasts. Every attack runs against every model.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use klatch_server::{Model, ServeOptions, Workload};
use rustix::net::{AddressFamily, SocketType, socket, sockopt};

use super::running::Running;
use crate::client::Client;

/// Time that a client has for what it must do. Short, so that a test can wait for its end.
const PATIENCE_S: u32 = 1;
/// A test that waits longer has failed. Much longer than any server needs on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);
const SMALL: &str = "GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n";
/// Its reply has 900 KiB.
const LARGE: &str = "GET /file_set/dir00000/class3_8 HTTP/1.1\r\nHost: h\r\n\r\n";

/// Runs `attack` against a server of each model and kind, side by side. Its servers must end as usual.
fn against_every_model(changed: ServeOptions, attack: impl Fn(&Running, &str) + Sync) {
    let plain =
        |model| ServeOptions { model, registration_timeout_s: PATIENCE_S, directories: 1, ..changed.clone() };
    let mut servers: Vec<_> = Model::ALL.map(plain).into();
    servers.extend([Model::Epoll, Model::Uring].map(|model| ServeOptions { loops: Some(3), ..plain(model) }));
    std::thread::scope(|scope| {
        for options in servers {
            let attack = &attack;
            scope.spawn(move || {
                let name =
                    format!("{} on {} with {:?} loops", options.workload, options.model, options.loops);
                let server = Running::start(options);
                attack(&server, &name);
                server.stop();
            });
        }
    });
}

fn web() -> ServeOptions {
    ServeOptions { workload: Workload::Web, ..ServeOptions::default() }
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// A connection whose client takes few bytes unless it reads.
fn connect_narrow(server: &Running) -> TcpStream {
    let narrow = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_recv_buffer_size(&narrow, 4096).unwrap();
    rustix::net::connect(&narrow, &server.address).unwrap();
    TcpStream::from(narrow)
}

/// The status of the next reply, whose body is discarded; `None` at the end of the connection.
fn status(input: &mut impl BufRead, name: &str) -> Option<u16> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("{name}: no reply came"),
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    let status = line.split(' ').nth(1)?.parse().ok();
    let mut length = 0;
    loop {
        line.clear();
        input.read_line(&mut line).ok().filter(|&bytes| bytes > 2)?;
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.starts_with("Connection: ") {
            // Of our servers this is the last header.
            input.read_line(&mut line).ok()?;
            std::io::copy(&mut input.take(length), &mut std::io::sink()).ok()?;
            return status;
        }
    }
}

/// Whether a new client is served.
fn is_served(server: &Running, name: &str) {
    let mut client = connect(server);
    client.write_all(SMALL.as_bytes()).unwrap();
    assert_eq!(status(&mut BufReader::new(client), name), Some(200), "{name}: another client");
}

/// Writes until the server has closed the connection, whose client does not read; `false` if that takes longer than `limit`.
fn is_closed_within(limit: Duration, mut stream: &TcpStream, bytes: &[u8]) -> bool {
    stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
    let began = Instant::now();
    while began.elapsed() < limit {
        match stream.write(bytes) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn write_until_closed(stream: &TcpStream, bytes: &[u8], name: &str) {
    assert!(is_closed_within(TIMEOUT, stream, bytes), "{name}: the connection stays open");
}

#[test]
fn half_a_request_is_refused_after_its_time() {
    let half_body = "POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nurlroot=";
    against_every_model(web(), |server, name| {
        let halves = ["G", "GET / HTTP/1.1\r\nHost: h\r\n", half_body, &format!("{SMALL}GET /")];
        let clients = halves.map(|half| {
            let mut client = connect(server);
            client.write_all(half.as_bytes()).unwrap();
            client
        });
        let began = Instant::now();
        is_served(server, name);
        for (client, half) in clients.into_iter().zip(halves) {
            let mut replies = BufReader::new(client);
            if half.starts_with(SMALL) {
                assert_eq!(status(&mut replies, name), Some(200));
            }
            assert_eq!(status(&mut replies, name), Some(408), "{name}: {half}");
            assert_eq!(status(&mut replies, name), None, "{name}: {half}");
        }
        assert!(began.elapsed() >= Duration::from_secs(PATIENCE_S.into()), "{name}: too early");
    });
}

#[test]
fn a_request_that_arrives_byte_by_byte_has_no_more_time() {
    against_every_model(web(), |server, name| {
        let client = connect(server);
        let (began, mut bytes) = (Instant::now(), SMALL.bytes().take(20).chain(std::iter::repeat(b'a')));
        while (&client).write_all(&[bytes.next().unwrap()]).is_ok() {
            assert!(began.elapsed() < TIMEOUT, "{name}: the connection stays open");
            std::thread::sleep(Duration::from_millis(20));
        }
        is_served(server, name);
    });
}

#[test]
fn clients_that_are_idle_or_slow_between_requests_stay() {
    against_every_model(web(), |server, name| {
        let (idle, mut slow) = (connect(server), connect(server));
        let mut replies = BufReader::new(slow.try_clone().unwrap());
        let began = Instant::now();
        // At every moment one request is incomplete, but each only for a while.
        slow.write_all(&SMALL.as_bytes()[..9]).unwrap();
        while began.elapsed() < 3 * Duration::from_secs(PATIENCE_S.into()) {
            std::thread::sleep(Duration::from_millis(200));
            slow.write_all(&[&SMALL.as_bytes()[9..], &SMALL.as_bytes()[..9]].concat()).unwrap();
            assert_eq!(status(&mut replies, name), Some(200), "{name}");
        }
        (&idle).write_all(SMALL.as_bytes()).unwrap();
        assert_eq!(status(&mut BufReader::new(idle), name), Some(200), "{name}: it sent nothing before");
    });
}

#[test]
fn a_head_without_end_is_refused() {
    against_every_model(web(), |server, name| {
        let client = connect(server);
        // The server may close before it has taken all.
        let _ = (&client).write_all(&[&SMALL.as_bytes()[..49], b"\r\nA: ", &[b'a'; 1 << 20]].concat());
        assert_eq!(status(&mut BufReader::new(client), name), Some(431), "{name}");
        is_served(server, name);
    });
}

#[test]
fn a_client_that_does_not_read_is_closed_and_delays_nobody() {
    against_every_model(web(), |server, name| {
        let client = connect_narrow(server);
        let began = Instant::now();
        (&client).write_all(LARGE.repeat(4).as_bytes()).unwrap();
        is_served(server, name);
        write_until_closed(&client, SMALL.as_bytes(), name);
        assert!(began.elapsed() < TIMEOUT);
        is_served(server, name);
    });
    let rr = ServeOptions { workload: Workload::Rr, ..ServeOptions::default() };
    against_every_model(rr, |server, name| {
        let client = connect_narrow(server);
        write_until_closed(&client, &[b'x'; 16 * 1024], name);
        let mut other = connect(server);
        other.write_all(b"hello").unwrap();
        let mut back = [0; 5];
        other.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"hello", "{name}");
    });
}

/// The send queue takes all that waits, so it is the time that ends the connection: otherwise a thread would wait for ever.
#[test]
fn a_user_that_does_not_read_is_closed_before_its_queue_is_full() {
    let options = ServeOptions { sendq_bytes: 1 << 30, ..ServeOptions::default() };
    against_every_model(options, |server, name| {
        let mut slow = Client::on(connect_narrow(server));
        slow.register("slow");
        slow.join("#a");
        let mut ann = server.user("ann");
        ann.join("#a");
        let text = "x".repeat(400);
        for _ in 0..20_000 {
            ann.send(&format!("PRIVMSG #a :{text}"));
        }
        let quit = ann.read_until(" QUIT ");
        // Whether reading or writing meets the kernel's time-out first is chance.
        assert!(quit.starts_with(":slow!slow@127.0.0.1 QUIT :Connection "), "{name}: {quit}");
    });
}

#[test]
fn floods_of_queries_by_a_client_that_does_not_read_end_it_alone() {
    against_every_model(
        ServeOptions { sendq_bytes: 64 * 1024, ..ServeOptions::default() },
        |server, name| {
            let mut ann = server.user("ann");
            ann.join("#a");
            for query in ["WHOIS flood", "NAMES #a", "LIST", "PING x"] {
                // Where both sides have full buffers, the kernel can stop both for minutes before the server's queue is full. Then another
                // client tries.
                let is_ended = |_| {
                    let mut flood = Client::on(connect_narrow(server));
                    flood.register("flood");
                    flood.join("#a");
                    let queries = format!("{query}\r\n").repeat(500);
                    let is_closed = is_closed_within(TIMEOUT / 6, &flood.socket, queries.as_bytes());
                    drop(flood);
                    ann.read_until(" QUIT ");
                    is_closed
                };
                assert!((0..6).any(is_ended), "{name}: the connection stays open after {query}");
                ann.ping();
            }
        },
    );
}

#[test]
fn connections_that_are_reset_at_any_moment_end_alone() {
    let websocket = ServeOptions { websocket: true, ..ServeOptions::default() };
    let upgrade = "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let reset = |server: &Running, bytes: &str| {
        let mut client = connect(server);
        client.write_all(bytes.as_bytes()).unwrap();
        sockopt::set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
    };
    against_every_model(websocket, |server, name| {
        for at in 0..=upgrade.len() {
            reset(server, &upgrade[..at]);
        }
        let mut client = connect(server);
        client.write_all(upgrade.as_bytes()).unwrap();
        let mut answer = [0; 12];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101", "{name}");
    });
    against_every_model(web(), |server, name| {
        for at in 0..=LARGE.len() {
            reset(server, &LARGE[..at]);
        }
        is_served(server, name);
    });
    against_every_model(ServeOptions::default(), |server, _| {
        for number in 0..100 {
            let lines = format!("NICK n{number}\r\nUSER n 0 * :n\r\nJOIN #a\r\nPRIVMSG #a :x\r\n");
            reset(server, &lines[..number.min(lines.len())]);
        }
        server.user("ann").ping();
    });
}
