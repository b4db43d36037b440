//! No server ends a crowd: every protocol against every attack of a hostile server. The crowd ends within its time limits, with a reason
//! in words, without a panic, and without more than 64 MiB.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::hostile::{Attack, Carrier, HostileServer};
use crate::support::tls_front::{Certificate, write_certificate};
use crate::support::{klatch, sample};

/// Memory by which a crowd may grow, KiB.
const GROWTH_MAX_KIB: u64 = 64 * 1024;
/// A crowd may take this long. Its own limits are one second without progress and two to connect; the rest is for a machine that is busy
/// with a dozen floods and other tests. What no limit ends takes longer.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Crowds at a time. Most of them wait.
const AT_A_TIME: usize = 12;

const CHAT: &[&str] = &["--rooms", "1", "--users", "4", "--count", "50"];
const RR: &[&str] = &["--workload", "rr", "--connections", "4", "--duration", "1"];
const WEB: &[&str] = &["--workload", "web", "--lines", "4", "--line", "none", "--duration", "1"];
const TRADE: &[&str] =
    &["--workload", "trade", "--traders", "4", "--users", "100", "--quotes", "50", "--duration", "1"];
const ORDERS: &[&str] = &["--workload", "orders", "--injection-rate", "1", "--ramp", "0", "--duration", "1"];

const IRC_JOIN: &[u8] = b":s 001 x :hello\r\n:s 366 x #klatch-1 :End of /NAMES list.\r\n";

/// A protocol, and how to be hostile in it.
#[derive(Clone)]
struct Protocol {
    name: &'static str,
    workload: &'static [&'static str],
    options: &'static [&'static str],
    carrier: Carrier,
    /// Lets a user in, whatever it has sent; empty where only the right reply does.
    join: &'static [u8],
    /// Asks for a reply where the protocol has that, and else what no request asked for.
    asks: Vec<u8>,
    /// Announces more bytes than any server may send.
    huge: Vec<u8>,
    /// What is right, at the wrong time.
    wrong_order: Vec<u8>,
    refusal: Vec<u8>,
    /// A part of something that is right.
    part: Vec<u8>,
}

fn protocol(
    name: &'static str,
    workload: &'static [&'static str],
    options: &'static [&'static str],
    words: [&[u8]; 6],
) -> Protocol {
    let [asks, huge, wrong_order, refusal, part] =
        [words[1], words[2], words[3], words[4], words[5]].map(<[u8]>::to_vec);
    // The tables below are static.
    let join: &'static [u8] = Box::leak(words[0].to_vec().into_boxed_slice());
    let carrier = Carrier::default();
    Protocol { name, workload, options, carrier, join, asks, huge, wrong_order, refusal, part }
}

fn irc(name: &'static str, options: &'static [&'static str], carrier: Carrier) -> Protocol {
    let words: [&[u8]; 6] = [
        IRC_JOIN,
        b"PING x\r\n",
        b":r1u1!x@y PRIVMSG #klatch-1 :",
        b":r1u1!x@y PRIVMSG #klatch-1 :hello\r\n:s 366 x #klatch-1 :x\r\n:s 353 x = #klatch-1 :@eve\r\n:s 001 x :x\r\n",
        b":s 400 x :no\r\n",
        b":s 001 x :hel",
    ];
    Protocol { carrier, ..protocol(name, CHAT, options, words) }
}

fn protocols() -> Vec<Protocol> {
    const FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found";
    const HUGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n";
    const CHUNK: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n";
    const CUT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhel";
    /// The body comes before its head.
    const BODY_FIRST: &[u8] = b"hello world!HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
    /// A body that comes later, or never.
    const LATER: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4000\r\n\r\n";
    let http =
        |name, workload, options| protocol(name, workload, options, [b"", FOUND, HUGE, LATER, FOUND, CUT]);
    let (ws, tls) =
        (Carrier { websocket: true, ..Carrier::default() }, Carrier { tls: true, ..Carrier::default() });
    let ping: Vec<u8> = vec![0x89, 0];
    let frames = |name, options, tls| Protocol {
        asks: ping.clone(),
        huge: b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        // A continuation without a message.
        wrong_order: b"\x80\x05hello".to_vec(),
        refusal: b"\x88\x02\x03\xf3".to_vec(),
        part: b"\x01\x05hel".to_vec(),
        ..irc(name, options, Carrier { tls, websocket: true, frames: true })
    };
    vec![
        irc("irc", &[], Carrier::default()),
        irc("irc, two threads a user", &["--threads"], Carrier::default()),
        irc("irc over ws", &["--transport", "ws"], ws),
        irc("irc over ws, two threads a user", &["--transport", "ws", "--threads"], ws),
        irc("irc over tls", &["--transport", "tls"], tls),
        irc("irc over wss", &["--transport", "wss"], Carrier { tls: true, ..ws }),
        frames("frames", &["--transport", "ws"], false),
        frames("frames, two threads a user", &["--transport", "ws", "--threads"], false),
        frames("frames over tls", &["--transport", "wss"], true),
        protocol(
            "redis",
            CHAT,
            &["--protocol", "redis"],
            [
                b">3\r\n$9\r\nsubscribe\r\n$8\r\nklatch-1\r\n:1\r\n",
                b"*9\r\n",
                b"$999999999\r\n",
                b">3\r\n$7\r\nmessage\r\n$8\r\nklatch-1\r\n$5\r\nhello\r\n",
                b"-ERR no\r\n",
                b">3\r\n$9\r\nsub",
            ],
        ),
        protocol(
            "nats",
            CHAT,
            &["--protocol", "nats"],
            [
                b"PONG\r\n",
                b"PING\r\n",
                b"MSG klatch.1 1 999999999\r\n",
                b"MSG klatch.1 1 5\r\nhello\r\nPONG\r\n",
                b"-ERR 'no'\r\n",
                b"MSG klatch.1 1 5\r\nhel",
            ],
        ),
        protocol(
            "mqtt",
            CHAT,
            &["--protocol", "mqtt"],
            [
                b"\x20\x03\0\0\0\x90\x04\0\x01\0\0",
                b"\xd0\0",
                b"\x30\xff\xff\xff\x7f",
                b"\x30\x0e\0\x08klatch/1\0hel\x90\x04\0\x01\0\0",
                b"\x90\x04\0\x01\0\x87",
                b"\x30\x11\0\x08klatch/1\0hel",
            ],
        ),
        protocol(
            "mqtt, QoS 2",
            CHAT,
            &["--protocol", "mqtt", "--qos", "2"],
            [
                b"\x20\x03\0\0\0\x90\x04\0\x01\0\x02",
                b"\x62\x02\0\x01",
                b"\x34\xff\xff\xff\x7f",
                b"\x70\x02\0\x01\x34\x10\0\x08klatch/1\0\x01\0hel\x90\x04\0\x01\0\x02",
                b"\x50\x03\0\x01\x97",
                b"\x34\x13\0\x08klatch/1\0\x01\0hel",
            ],
        ),
        protocol("rr echo", RR, &["--protocol", "echo"], [b"", b"x", b"x", b"hello", b"no", b"he"]),
        protocol(
            "rr echo, two threads a user",
            RR,
            &["--protocol", "echo", "--threads"],
            [b"", b"x", b"x", b"hello", b"no", b"he"],
        ),
        protocol(
            "rr redis",
            RR,
            &["--protocol", "redis"],
            [b"", b"$0\r\n\r\n", b"$999999999\r\n", b"\r\n$5\r\nhello\r\n", b"-ERR no\r\n", b"$5\r\nhel"],
        ),
        protocol(
            "rr postgres",
            RR,
            &["--protocol", "postgres"],
            [
                b"",
                b"N\0\0\0\x04",
                b"D\xff\xff\xff\xff",
                b"Z\0\0\0\x05ID\0\0\0\x0c\0\x01\0\0\0\x05hello",
                b"E\0\0\0\x09Mno\0\0",
                b"R\0\0\0\x08\0\0",
            ],
        ),
        http("rr http", RR, &["--protocol", "http"]),
        Protocol {
            wrong_order: BODY_FIRST.to_vec(),
            huge: CHUNK.to_vec(),
            ..http("rr http, chunks", RR, &["--protocol", "http"])
        },
        http("rr http, two threads a user", RR, &["--protocol", "http", "--threads"]),
        http("rr of a URL", RR, &["--protocol", "http", "--url", "/"]),
        Protocol {
            huge: CHUNK.to_vec(),
            ..http("rr of a URL, chunks", RR, &["--protocol", "http", "--url", "/", "--expect-json", "/a=1"])
        },
        http("web, before the run", WEB, &[]),
        Protocol { huge: CHUNK.to_vec(), ..http("web, before the run, chunks", WEB, &[]) },
        http("web", WEB, &["--static-only"]),
        Protocol {
            wrong_order: BODY_FIRST.to_vec(),
            huge: CHUNK.to_vec(),
            ..http("web, chunks", WEB, &["--static-only"])
        },
        http("trade", TRADE, &[]),
        Protocol { huge: CHUNK.to_vec(), ..http("daytrader", TRADE, &["--daytrader", "/daytrader"]) },
        http("orders", ORDERS, &[]),
    ]
}

/// Bytes of every value, always the same.
fn garbage() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    std::iter::repeat_with(|| random.u8(..)).take(1 << 16).collect()
}

/// All attacks in this protocol.
fn attacks(protocol: &Protocol) -> Vec<(&'static str, Attack)> {
    let Protocol { asks, huge, wrong_order, refusal, part, .. } = protocol.clone();
    vec![
        ("is silent", Attack::Silence),
        ("sends garbage without end", Attack::Flood(garbage())),
        ("sends one line without end", Attack::Flood(vec![b'a'; 1 << 16])),
        ("sends long lines without end", Attack::Flood([&[b'a'; 16_000][..], b"\r\n"].concat())),
        ("asks without end and reads nothing", Attack::Flood(asks)),
        ("announces a huge length and sends it", Attack::OnceAndFlood(huge.clone(), vec![b'a'; 1 << 16])),
        ("announces a huge length and is silent", Attack::Once(huge)),
        ("sends a byte now and then", Attack::Slow(part.clone())),
        ("sends what is right in the wrong order", Attack::Once(wrong_order.clone())),
        ("repeats what is right without end", Attack::Flood(wrong_order)),
        ("refuses without end", Attack::Flood(refusal)),
        ("closes at once", Attack::Close(Vec::new())),
        ("closes within a reply", Attack::Close(part.clone())),
        ("resets at once", Attack::Reset(Vec::new())),
        ("resets within a reply", Attack::Reset(part)),
    ]
}

/// A crowd that has ended.
#[derive(Debug)]
struct Ended {
    status: Option<i32>,
    took: Duration,
    /// Most memory that it had at a time, KiB.
    peak_kib: u64,
    out: String,
    err: String,
}

impl Ended {
    /// Why the crowd could not go on: in its result, or the message without one.
    fn reason(&self) -> String {
        let mut events =
            self.out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let result = events.rfind(|event| event["event"] == "result");
        let failure = result.and_then(|result| Some(result["failure"]["detail"].as_str()?.to_owned()));
        failure.unwrap_or_else(|| self.err.trim().to_owned())
    }
}

/// Runs a crowd to its end, and looks at its memory on the way.
fn run(address: std::net::SocketAddr, arguments: &[&str]) -> Ended {
    let mut command = klatch();
    command.args(["crowd", "--json", "--host", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--timeout", "1", "--connect-timeout", "2"]).args(arguments);
    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let all = |stream: &mut dyn Read| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::scope(|scope| {
        let (out, err) = (scope.spawn(|| all(&mut out)), scope.spawn(|| all(&mut err)));
        let (status, peak_kib) = until_end(&mut child, started);
        let took = started.elapsed();
        Ended { status, took, peak_kib, out: out.join().unwrap(), err: err.join().unwrap() }
    })
}

/// Waits for the end, and stops what does not end. Returns exit status and peak of memory, KiB.
fn until_end(child: &mut Child, started: Instant) -> (Option<i32>, u64) {
    let path = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        // For a moment after the start, the memory of the process is still that of this test; its name changes later.
        let status = Some(status).filter(|status| status.starts_with("Name:\tklatch\n"));
        let status = status.unwrap_or_default();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok());
        peak_kib = peak.unwrap_or(0).max(peak_kib);
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak_kib);
        }
        if started.elapsed() > TIME_MAX + TIME_MAX {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}

/// What is wrong with the end of a crowd; `None` if it is as it must be.
fn wrong(ended: &Ended, usual_kib: u64) -> Option<String> {
    let reason = ended.reason();
    let is_word = |word: &&str| {
        let letters = word.trim_end_matches([':', ',', ';']);
        letters.len() > 1 && letters.chars().all(|letter| letter.is_ascii_lowercase())
    };
    let words = reason.split(' ').filter(is_word).count();
    let unlike_words = ["panicked", "Os {", "Some(", "Kind(", "a fault of Klatch"];
    if ended.err.contains("panicked") {
        Some("it panicked".to_owned())
    } else if ended.took > TIME_MAX {
        Some(format!("it took {:?}", ended.took))
    } else if ended.peak_kib > usual_kib + GROWTH_MAX_KIB {
        Some(format!("it grew to {} MiB", ended.peak_kib / 1024))
    } else if !matches!(ended.status, Some(1..=3)) {
        Some(format!("its exit status is {:?}", ended.status))
    } else if reason.chars().any(char::is_control) {
        Some(format!("its reason controls a terminal: {reason:?}"))
    } else if words < 3 || unlike_words.iter().any(|unlike| reason.contains(unlike)) {
        Some(format!("its reason is no sentence: {reason:?}"))
    } else {
        None
    }
}

/// A row of the table.
struct Row {
    name: String,
    arguments: Vec<&'static str>,
    server: HostileServer,
}

/// Runs all rows, and fails with those that are not as they must be.
fn check(rows: Vec<Row>) {
    // The number of attacks has no factor in common with it, so that every attack is made in some protocol.
    let rows = sample(rows, 4);
    let folder = tempfile::tempdir().unwrap();
    let authority: PathBuf = write_certificate(folder.path(), Certificate::Right);
    let usual_kib = usual_kib(folder.path());
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut arguments = row.arguments.clone();
                    if row.server.carrier.tls {
                        arguments.extend(["--ca", authority.to_str().unwrap()]);
                    }
                    let ended = run(row.server.clone().start(folder.path()), &arguments);
                    println!(
                        "{}: {:.1} s, {} MiB: {}",
                        row.name,
                        ended.took.as_secs_f64(),
                        ended.peak_kib / 1024,
                        ended.reason()
                    );
                    if let Some(wrong) = wrong(&ended, usual_kib) {
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("{}: {wrong}; standard error: {}", row.name, ended.err));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {} rows:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

/// Memory of a crowd whose server does nothing, KiB.
fn usual_kib(folder: &Path) -> u64 {
    let carrier = Carrier::default();
    let server = HostileServer { carrier, join: Vec::new(), spared: 0, attack: Attack::Silence };
    run(server.start(folder), CHAT).peak_kib
}

#[test]
fn no_server_ends_a_crowd() {
    let mut rows = Vec::new();
    for protocol in protocols() {
        for (attack_name, attack) in attacks(&protocol) {
            let arguments = || [protocol.workload, protocol.options].concat();
            let is_open = protocol.carrier != Carrier::default();
            let row = |name: &str, join: &[u8], carrier| Row {
                name: format!("{}, {name}: a server that {attack_name}", protocol.name),
                arguments: arguments(),
                server: HostileServer { carrier, join: join.to_vec(), spared: 0, attack: attack.clone() },
            };
            // The attack in place of the transport's handshake.
            if is_open && !protocol.carrier.frames {
                rows.push(row("in its handshake", b"", Carrier::default()));
            }
            rows.push(row("before joining", b"", protocol.carrier));
            if !protocol.join.is_empty() {
                rows.push(row("after joining", protocol.join, protocol.carrier));
            }
        }
    }
    check(rows);
}

#[test]
fn no_server_holds_a_crowd_at_the_gate() {
    let mut rows = Vec::new();
    for protocol in protocols().into_iter().filter(|protocol| !protocol.join.is_empty()) {
        if protocol.options.contains(&"--threads") {
            continue;
        }
        for (attack_name, attack) in attacks(&protocol) {
            rows.push(Row {
                name: format!("{}, at the gate: a server that {attack_name}", protocol.name),
                arguments: [protocol.workload, protocol.options, &["--gate", "2:x", "--gate-timeout", "1"]]
                    .concat(),
                server: HostileServer {
                    carrier: protocol.carrier,
                    join: protocol.join.to_vec(),
                    // The users of the room, and the connection that asks a broker for its version.
                    spared: if protocol.name.starts_with("mqtt") { 5 } else { 4 },
                    attack,
                },
            });
        }
    }
    check(rows);
}
