//! Everything that the crowd parses of a server's bytes, on the corpora in `corpus/` and mutations of them: no panic, no more taken than
//! there is, the same in pieces of any size, and little memory.

use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use klatch_exchange::orders;
use klatch_exchange::trade::{DayTrader, DayTraderOptions, Ledgers, Prices, Trader};
use klatch_exchange::web::{
    BodyPiece, BodyReader, Parsed, check_post_log, parse_response, parse_whole_response, unframe,
};
use klatch_protocol::tls::ClientTls;
use klatch_record::{
    ChatWorkload, CrowdResult, Endpoint, Gate, HttpVersion, Login, MqttVersion, OrdersWorkload, Pacing,
    ProtocolName, RequestParts, RrWorkload, TradeWorkload, WebSocket, WebWorkload,
};
use klatch_testing::fuzz;

use crate::channel::{Channel, ClientEndpoint};
use crate::districts::{Districts, Factories};
use crate::exchanges::Exchanges;
use crate::fetches::Fetches;
use crate::gate::{GateMembership, opened_run};
use crate::http_connection::HttpConnection;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::irc::Irc;
use crate::lines::Lines;
use crate::mqtt::{Mqtt, MqttTerms};
use crate::nats::Nats;
use crate::parties::Parties;
use crate::postgres::PostgresEcho;
use crate::protocol::{Protocol, UserId};
use crate::redis::{Redis, RedisEcho};
use crate::requests::{Echo, HttpEcho, RequestProtocol};
use crate::rooms::Rooms;
use crate::shared::{Shared, Wake};
use crate::site::{HOST, Site, joining_step};
use crate::traders::{Traders, mix, population};
use crate::urls::Urls;
use crate::worker::Worker;

fn corpus(name: &str, parse: impl Fn(&[u8])) {
    fuzz(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name), parse);
}

fn worker() -> (Worker, Arc<Shared>) {
    let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
    (Worker::new(0, shared.clone(), channel().0), shared)
}

/// Feeds bytes to the first connection of these parties, in pieces as the event loop does, and ends it and them.
fn feed<P: Parties>(parties: &mut P, bytes: &[u8], piece: usize) -> CrowdResult {
    let mut waiting = Vec::new();
    for (number, bytes) in bytes.chunks(piece).enumerate() {
        waiting.extend_from_slice(bytes);
        let now_ns = parties.worker().shared.gate_ns() + number as u64;
        let taken = parties.on_bytes(0, &waiting, now_ns);
        assert!(taken <= waiting.len());
        waiting.drain(..taken);
        parties.queue_due(0, now_ns);
        while let Some(other) = parties.next_ready() {
            parties.queue_due(other, now_ns);
        }
        assert!(parties.link(0).out.len() <= 128 * 1024 + 4 * bytes.len());
        parties.link(0).out.clear();
    }
    parties.on_end(0, parties.worker().shared.gate_ns() + bytes.len() as u64);
    parties.settle();
    parties.worker_mut().take_stats().into_result()
}

/// The events of a protocol in these bytes, whole or in pieces, and the replies.
fn events<P: Protocol>(terms: &P::Terms, bytes: &[u8], piece: usize) -> (Vec<String>, Vec<u8>) {
    let mut protocol = P::new(UserId { room: 1, user: 0, users: 3 }, terms);
    let (mut events, mut replies, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in bytes.chunks(piece) {
        waiting.extend_from_slice(bytes);
        let mut used = 0;
        while let Some((taken, event)) = protocol.parse(&waiting[used..], &mut replies) {
            assert!(taken > 0 && taken <= waiting.len() - used);
            events.push(format!("{event:?}"));
            used += taken;
        }
        waiting.drain(..used);
    }
    (events, replies)
}

fn any_chat<P: Protocol>(bytes: &[u8]) {
    chat_on::<P>(&P::Terms::default(), bytes);
}

/// The same with these terms.
fn chat_on<P: Protocol>(terms: &P::Terms, bytes: &[u8]) {
    let whole = events::<P>(terms, bytes, bytes.len().max(1));
    assert!(whole.1.len() <= 4 * bytes.len() + 64, "{} bytes of replies", whole.1.len());
    for piece in [1, 7] {
        assert_eq!(events::<P>(terms, bytes, piece), whole, "in pieces of {piece} bytes");
    }
    let workload = ChatWorkload {
        rooms: 1,
        users: 3,
        count: 4,
        size_bytes: 44,
        pacing: Pacing::Turns,
        ..ChatWorkload::default()
    };
    for joined in [false, true] {
        let (worker, shared) = worker();
        let mut rooms = Rooms::<P>::new(worker, &workload, 1, terms, 0..1);
        for index in 0..3 {
            rooms.write_handshake(index);
            rooms.link(index).joined = joined;
        }
        if joined {
            shared.open_gate();
        }
        feed(&mut rooms, bytes, 11);
    }
}

#[test]
fn irc() {
    corpus("irc", any_chat::<Irc>);
}

#[test]
fn redis() {
    corpus("redis", any_chat::<Redis>);
}

#[test]
fn nats() {
    corpus("nats", any_chat::<Nats>);
}

#[test]
fn mqtt() {
    for version in [MqttVersion::V5, MqttVersion::V311] {
        for qos in 0..=2 {
            let terms = MqttTerms { version, qos, ..MqttTerms::default() };
            corpus("mqtt", |bytes| chat_on::<Mqtt>(&terms, bytes));
        }
    }
}

fn any_replies<P: RequestProtocol>(bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty()
        && let Some((taken, _)) = P::parse_reply(12, rest)
    {
        assert!(taken > 0 && taken <= rest.len());
        rest = &rest[taken..];
    }
    let workload =
        RrWorkload { connections: 1, size_bytes: 12, depth: 3, duration_s: 1.0, ..RrWorkload::default() };
    let login = Some(Arc::new(Login { user: Some("u".into()), password: Some("p".into()) }));
    for joined in [false, true] {
        for piece in [1, 9, 1 << 20] {
            let (worker, shared) = worker();
            let mut exchanges = Exchanges::<P>::new(worker, &workload, 1, &login, 0..1);
            exchanges.write_handshake(0);
            exchanges.link(0).joined = joined;
            if joined {
                shared.open_gate();
                exchanges.queue_due(0, shared.gate_ns());
            }
            feed(&mut exchanges, bytes, piece);
        }
    }
}

#[test]
fn echo() {
    corpus("echo", any_replies::<Echo>);
}

#[test]
fn redis_echo() {
    corpus("redis", any_replies::<RedisEcho>);
}

#[test]
fn http_echo() {
    corpus("http", any_replies::<HttpEcho>);
}

#[test]
fn postgres() {
    corpus("postgres", any_replies::<PostgresEcho>);
}

/// A command before or after a run: its head, its body however it ends, and what is in it.
#[test]
fn http_commands() {
    corpus("http", |bytes| {
        let body = |piece: usize| {
            let Ok(Parsed::Complete { head, bytes: head_bytes }) = parse_response(bytes) else { return None };
            let (mut reader, mut body) = (BodyReader::new(head.body), Vec::new());
            for mut input in bytes[head_bytes..].chunks(piece) {
                loop {
                    match reader.next(&mut input) {
                        Ok(BodyPiece::Data(data)) => body.extend_from_slice(data),
                        Ok(BodyPiece::NeedMore) => break,
                        Ok(BodyPiece::End) | Err(_) => return Some(body),
                    }
                }
            }
            Some(body)
        };
        let whole = body(usize::MAX);
        assert_eq!(body(1), whole);
        if let Some(body) = whole {
            let _ = unframe(&body).map(|log| check_post_log(log, &[]));
            let _ = serde_json::from_slice::<klatch_record::DatabaseCounts>(&body);
        }
        if let Ok(Some(response)) = parse_whole_response(bytes) {
            assert!(response.bytes <= bytes.len() && response.body.len() <= bytes.len());
        }
    });
}

#[test]
fn post_logs() {
    corpus("post_log", |bytes| {
        let findings = check_post_log(bytes, &[]);
        assert!(findings.len() <= 2 * bytes.split(|byte| *byte == b'\n').count() + 1);
        findings.iter().for_each(|finding| drop(finding.to_string()));
    });
}

/// Lines of `web`, before and after a right first reply.
#[test]
fn web() {
    let workload = WebWorkload {
        lines: 1,
        directories: 1,
        line_kbit_per_s: None,
        duration_s: 1.0,
        ..WebWorkload::default()
    };
    let site = Site::new(&workload, 1);
    let file = site.content.file(joining_step().file);
    let mut body = vec![0; file.size_bytes()];
    file.fill(0, &mut body);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let right = [head.as_bytes(), &body].concat();
    corpus("http", |bytes| {
        for joined in [false, true] {
            for piece in [1, 50, 1 << 20] {
                let (worker, shared) = worker();
                let mut lines = Lines::new(worker, &workload, site.clone(), 0..1);
                lines.write_handshake(0);
                if joined {
                    assert_eq!(lines.on_bytes(0, &right, 0), right.len());
                    assert!(lines.link(0).joined);
                    shared.open_gate();
                    lines.queue_due(0, shared.gate_ns());
                }
                feed(&mut lines, bytes, piece);
            }
        }
    });
}

/// Requests for a URL, before and after a right first reply.
fn replies<H: HttpConnection>(folder: &str, workload: &RrWorkload, urls: Urls, http: &H, right: &[u8]) {
    let urls = Arc::new(urls);
    corpus(folder, |bytes| {
        for joined in [false, true] {
            for piece in [1, 50, 1 << 20] {
                let (worker, shared) = worker();
                let mut fetches = Fetches::new(worker, workload, urls.clone(), http, 1, 0..1);
                fetches.write_handshake(0);
                if joined {
                    assert_eq!(fetches.on_bytes(0, right, 0), right.len());
                    assert!(fetches.link(0).joined);
                    shared.open_gate();
                    fetches.queue_due(0, shared.gate_ns());
                }
                feed(&mut fetches, bytes, piece);
            }
        }
    });
}

#[test]
fn urls() {
    let workload = RrWorkload { url: Some("/".into()), depth: 2, duration_s: 1.0, ..RrWorkload::default() };
    let server = Endpoint::plain(ProtocolName::Http, "h", 80);
    let parts = RequestParts::default();
    let urls = Urls::new(&workload, &parts, 1).with_first(200, b"hello");
    let http = Http1::new(&urls, &parts, &server);
    replies("http", &workload, urls, &http, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

/// The same in HTTP/2, whose server has two streams to answer.
#[test]
fn urls_in_http_2() {
    let (http, url) = (HttpVersion::Http2, Some("/".into()));
    let workload = RrWorkload { url, http, streams: Some(2), duration_s: 1.0, ..RrWorkload::default() };
    let server = Endpoint::plain(ProtocolName::Http, "h", 80);
    let parts = RequestParts::default();
    let urls = Urls::new(&workload, &parts, 1).with_first(200, b"hello");
    let http = Http2::new(&urls, &parts, &server, 2).unwrap();
    // SETTINGS, and the reply to the request to join.
    let right = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x05\0\x01\0\0\0\x01hello";
    replies("http2", &workload, urls, &http, right);
}

#[test]
fn trade_joins() {
    let workload =
        TradeWorkload { traders: 1, users: 20, quotes: 30, users_per_trader: 20, ..TradeWorkload::default() };
    corpus("http", |bytes| {
        for piece in [9, 1 << 20] {
            let (people, mix) = (population(&workload), mix(&workload));
            let ledgers = Ledgers::default();
            let trader = |number, users| Trader::new(number, people, mix, 1, users, &ledgers);
            let prices = Prices::new(people);
            let mut traders = Traders::new(worker().0, &workload, HOST, 0..1, 1, prices, trader);
            traders.write_handshake(0);
            feed(&mut traders, bytes, piece);
            let trader = |number, users| {
                let root = "/daytrader".to_owned();
                DayTrader::new(DayTraderOptions { number, root, mix, seed: 1, quotes: 30, users, run: 1 })
            };
            let mut traders = Traders::new(worker().0, &workload, HOST, 0..1, 1, (), trader);
            traders.write_handshake(0);
            feed(&mut traders, bytes, piece);
        }
    });
}

#[test]
fn orders_join() {
    let workload =
        OrdersWorkload { injection_rate: 1, population: 1, suppliers: 1, ..OrdersWorkload::default() };
    corpus("http", |bytes| {
        for piece in [9, 1 << 20] {
            let earlier = orders::Ledgers::default();
            let mut districts = Districts::new(worker().0, &workload, 1, 0..1, &earlier, Factories::new(1));
            for index in 0..districts.connections() {
                districts.write_handshake(index);
            }
            feed(&mut districts, bytes, piece);
        }
    });
}

/// A server with TLS, or else with a WebSocket.
fn server(tls: Option<ClientTls>) -> ClientEndpoint {
    let websocket = tls.is_none().then(WebSocket::root);
    Endpoint { websocket, tls, ..Endpoint::plain(ProtocolName::Irc, "127.0.0.1", 1) }
}

/// The plain bytes of a channel, and its error; `raw` comes in pieces.
fn receive(channel: &mut Channel, raw: &[u8], piece: usize) -> (Vec<u8>, Option<String>) {
    let mut plain = Vec::new();
    for raw in raw.chunks(piece) {
        let before = plain.len();
        let mut new = Vec::new();
        let received = channel.receive(raw, &mut new);
        plain.append(&mut new);
        assert!(plain.len() - before <= raw.len() + 64 * 1024);
        if let Err(error) = received {
            return (plain, Some(error.to_string()));
        }
    }
    (plain, None)
}

/// A WebSocket whose handshake the server has answered.
fn open_websocket() -> Box<Channel> {
    let mut channel = Channel::new(&server(None), UserId { room: 1, user: 0, users: 3 }).unwrap();
    let mut request = Vec::new();
    channel.send(b"", &mut request);
    let answer = klatch_protocol::websocket::accept(&request).unwrap().unwrap();
    assert_eq!(receive(&mut channel, &answer.head, 1 << 20), (Vec::new(), None));
    channel
}

#[test]
fn websocket_frames() {
    corpus("frames", |bytes| {
        let mut channel = open_websocket();
        let whole = receive(&mut channel, bytes, 1 << 20);
        assert!(channel.waiting_bytes() <= 4 * bytes.len() + 256);
        // A close, which ends the reading, may come with messages before it.
        if whole.1.is_none() {
            for piece in [1, 3] {
                let (plain, error) = receive(&mut open_websocket(), bytes, piece);
                assert!(error.is_some() || plain == whole.0);
            }
        }
    });
}

#[test]
fn websocket_handshakes() {
    corpus("http", |bytes| {
        for piece in [5, 1 << 20] {
            let mut channel = Channel::new(&server(None), UserId { room: 1, user: 0, users: 3 }).unwrap();
            receive(&mut channel, bytes, piece);
        }
    });
}

#[test]
fn tls_records() {
    let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/authority.pem");
    let tls = ClientTls::from_file(&authority, "127.0.0.1").unwrap();
    corpus("tls", |bytes| {
        for piece in [1, 1 << 20] {
            let mut channel =
                Channel::new(&server(Some(tls.clone())), UserId { room: 1, user: 0, users: 3 }).unwrap();
            let (plain, _) = receive(&mut channel, bytes, piece);
            assert!(plain.is_empty(), "nothing is plain before the handshake is done");
            let mut raw = Vec::new();
            channel.send(b"hello\r\n", &mut raw);
            assert!(raw.len() < 4096);
        }
    });
}

#[test]
fn gate_lines() {
    corpus("gate", |bytes| {
        let mut gate = GateMembership::new(Gate { shards: 2, name: "g".into() }, 3, 2);
        for (number, line) in (0..).zip(bytes.split(|byte| *byte == b'\n')) {
            gate.on_line(line, number);
            opened_run(line);
            gate.on_left(number as u32, number);
            gate.on_drained(number << 30);
            let _ = (gate.must_open(), gate.describe(), gate.failure(u64::MAX).is_some());
        }
    });
}
