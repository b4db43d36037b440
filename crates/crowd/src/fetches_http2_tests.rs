//! The frames of a server are written by hand here: RFC 9113, section 4.1.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use klatch_record::{CrowdResult, HttpVersion, ProtocolName, RequestParts};

use super::support::details;
use super::*;
use crate::channel::ClientEndpoint;
use crate::http2::Http2;
use crate::shared::{ControlMessage, Shared, Wake};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The field `:status: 200` in the static table of HPACK.
const STATUS_200: u8 = 0x88;
/// A field that is added to the dynamic table, and then its place there.
const NEW_FIELD: &[u8] = b"\x40\x06x-kept\x01v";
const KEPT_FIELD: u8 = 0xbe;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = &(payload.len() as u32).to_be_bytes()[1..];
    [length, &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

fn head(stream: u32, flags: u8, fields: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, fields)
}

/// A reply that says this.
fn reply(stream: u32, body: &[u8]) -> Vec<u8> {
    [head(stream, 0, &[STATUS_200]), frame(DATA, END_STREAM, stream, body)].concat()
}

fn hello(stream: u32) -> Vec<u8> {
    reply(stream, b"hello")
}

/// The server takes no stream after this one.
fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last_stream.to_be_bytes(), code.to_be_bytes()].concat())
}

struct Crowd {
    fetches: Fetches<Http2>,
    shared: Arc<Shared>,
    control: Receiver<ControlMessage>,
}

impl Crowd {
    /// One connection with so many streams at a server that says hello, after its gate has opened. The next stream is number 3.
    fn open(streams: u32) -> Crowd {
        Crowd::with_body(streams, None)
    }

    fn with_body(streams: u32, body: Option<&[u8]>) -> Crowd {
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let (sender, control) = channel();
        let worker = Worker::new(0, shared.clone(), sender);
        let (http, url) = (HttpVersion::Http2, Some("/".into()));
        let rr = RrWorkload { url, http, streams: Some(streams), duration_s: 1.0, ..RrWorkload::default() };
        let server = ClientEndpoint::plain(ProtocolName::Http, "h", 80);
        let body = body.map(|body| klatch_record::Body(body.to_vec()));
        let parts = RequestParts { body, ..RequestParts::default() };
        let urls = Urls::new(&rr, &parts, 1).with_first(200, b"hello");
        let http = Http2::new(&urls, &parts, &server, streams).unwrap();
        let mut crowd =
            Crowd { fetches: Fetches::new(worker, &rr, Arc::new(urls), &http, 1, 0..1), shared, control };
        crowd.fetches.write_handshake(0);
        assert_eq!(crowd.sent(HEADERS), [1]);
        crowd.receive(&[settings(), hello(1)].concat(), 0);
        assert!(matches!(crowd.control.try_recv(), Ok(ControlMessage::Joined)));
        crowd.shared.open_gate();
        crowd
    }

    /// The streams of all frames of this kind that are to be sent.
    fn sent(&mut self, kind: u8) -> Vec<u32> {
        let out = std::mem::take(&mut self.fetches.link(0).out);
        let mut rest = out.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap_or(&out);
        let mut streams = Vec::new();
        while let [a, b, c, its_kind, _, d, e, f, g, ..] = *rest {
            if its_kind == kind {
                streams.push(u32::from_be_bytes([d, e, f, g]));
            }
            rest = &rest[9 + u32::from_be_bytes([0, a, b, c]) as usize..];
        }
        assert_eq!(rest, b"");
        streams
    }

    /// The streams that begin.
    fn queue(&mut self, ns: u64) -> Vec<u32> {
        self.fetches.queue_due(0, self.shared.gate_ns() + ns);
        self.sent(HEADERS)
    }

    fn receive(&mut self, bytes: &[u8], ns: u64) {
        let now_ns = self.shared.gate_ns() + ns;
        assert_eq!(self.fetches.on_bytes(0, bytes, now_ns), bytes.len());
    }

    fn end(&mut self, ns: u64) -> AfterEnd {
        self.fetches.on_end(0, self.shared.gate_ns() + ns)
    }

    /// Why it gave up, if it did.
    fn failure(&self) -> Option<String> {
        support::failure(&self.control)
    }

    fn result(self) -> CrowdResult {
        support::result(self.fetches)
    }
}

#[test]
fn replies_of_streams_may_come_in_any_order_and_in_any_pieces() {
    let mut crowd = Crowd::open(3);
    assert_eq!(crowd.queue(0), [3, 5, 7]);
    let replies = [
        head(7, 0, &[&[STATUS_200], NEW_FIELD].concat()),
        head(3, 0, &[STATUS_200, KEPT_FIELD]),
        frame(DATA, 0, 7, b"he"),
        frame(DATA, 0, 3, b"hell"),
        frame(DATA, END_STREAM, 7, b"llo"),
        hello(5),
        frame(DATA, 0, 3, b"o"),
        frame(DATA, END_STREAM, 3, b""),
    ];
    for (ns, byte) in replies.concat().chunks(1).enumerate() {
        crowd.receive(byte, 1_000 + ns as u64);
    }
    assert_eq!(crowd.queue(9_000), [9, 11, 13]);
    let result = crowd.result();
    assert_eq!((result.sent, result.received, result.wrong, result.lost), (6, 3, 0, 3), "{result:?}");
}

#[test]
fn a_wrong_reply_is_that_of_its_stream() {
    let mut crowd = Crowd::open(4);
    assert_eq!(crowd.queue(0), [3, 5, 7, 9]);
    let refused = frame(RST_STREAM, 0, 9, &7_u32.to_be_bytes());
    let replies = [reply(7, b"hullo"), refused, hello(3), head(5, END_STREAM, &[STATUS_200])];
    crowd.receive(&replies.concat(), 1_000);
    let result = crowd.result();
    assert_eq!((result.received, result.wrong, result.lost), (1, 3, 0));
    let sequences: Vec<_> = result.faults.iter().map(|fault| fault.sequence.unwrap()).collect();
    // Those that are ready at once are taken by their places.
    assert_eq!(sequences.iter().sum::<u32>(), 1 + 2 + 3, "{sequences:?}");
    let details = details(&result).join("\n");
    for detail in [
        "GET /: the body is not that of the first reply: expected \"ello\" at byte 1, got \"ullo\"",
        "GET /: the body is not that of the first reply: expected \"hello\" at byte 0, got its end, and 0 bytes instead of 5",
        "GET /: the server reset the stream: REFUSED_STREAM",
    ] {
        assert!(details.contains(detail), "{details}");
    }
}

#[test]
fn requests_that_a_server_did_not_take_before_it_ended_the_connection_are_sent_again() {
    let mut crowd = Crowd::open(3);
    assert_eq!(crowd.queue(0), [3, 5, 7]);
    crowd.receive(&[hello(5), go_away(3, 0)].concat(), 1_000);
    assert_eq!(crowd.queue(2_000), Vec::<u32>::new(), "nothing more is sent on it");
    assert_eq!((crowd.fetches.next_leaving(), crowd.fetches.is_leaving(0)), (None, false));
    crowd.receive(&hello(3), 3_000);
    assert_eq!((crowd.fetches.next_leaving(), crowd.fetches.is_leaving(0)), (Some(0), true));
    assert_eq!(crowd.end(4_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(5_000), [1, 3, 5], "one again, and two that follow the replies");
    crowd.receive(&[settings(), hello(1), hello(3), hello(5)].concat(), 6_000);
    let result = crowd.result();
    assert_eq!((result.sent, result.received, result.wrong, result.lost), (5, 5, 0, 0), "{result:?}");
    assert_eq!(result.results.reopened(), 1);
}

#[test]
fn a_connection_that_ends_without_a_word_is_a_fault_and_twice_without_a_reply_the_end() {
    let mut crowd = Crowd::open(2);
    assert_eq!(crowd.queue(0), [3, 5]);
    crowd.receive(&[head(3, 0, &[STATUS_200]), frame(DATA, 0, 3, b"hel")].concat(), 1_000);
    assert_eq!(crowd.end(2_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(3_000), [1, 3]);
    crowd.receive(&[settings(), go_away(0, 0xb)].concat(), 4_000);
    assert_eq!(crowd.fetches.next_leaving(), Some(0));
    assert_eq!(crowd.end(5_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(6_000), [1, 3]);
    assert_eq!(crowd.end(7_000), AfterEnd::Done);
    assert_eq!(
        crowd.failure().unwrap(),
        "connection 1: the server closes each connection instead of a reply"
    );
    let result = crowd.result();
    assert_eq!((result.wrong, result.lost), (2, 2));
    assert_eq!(
        details(&result)[..2],
        [
            "GET /: the connection was closed after 3 bytes of the body",
            "GET /: the server ended the connection with the error ENHANCE_YOUR_CALM"
        ]
    );
}

#[test]
fn what_is_no_http_2_ends_the_run() {
    let fewer = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]);
    for (bytes, reason) in [
        (frame(DATA, 0, 0, b"x"), "GET /: the server violates HTTP/2: PROTOCOL_ERROR"),
        // An index of no field.
        (head(3, 0, &[STATUS_200, 0xff, 0x7f]), "GET /: the server violates HTTP/2: PROTOCOL_ERROR"),
        (fewer, "GET /: the server allows 1 streams of a connection at a time, fewer than the 2"),
    ] {
        let mut crowd = Crowd::open(2);
        assert_eq!(crowd.queue(0), [3, 5]);
        crowd.receive(&bytes, 1_000);
        let failure = crowd.failure();
        assert!(failure.as_ref().is_some_and(|failure| failure.contains(reason)), "{reason}: {failure:?}");
    }
}

/// What the server's windows do not take waits, and what the output has no room for too.
#[test]
fn a_body_is_sent_as_far_as_windows_and_output_have_room() {
    let body = vec![b'x'; 300_000];
    let mut crowd = Crowd::with_body(1, Some(&body));
    // The body of the request to join is not complete, and the server does not ask for the rest.
    crowd.sent(DATA);
    let sent = |crowd: &mut Crowd| {
        let mut bytes = 0;
        while crowd.fetches.has_more(0) {
            crowd.fetches.queue_due(0, crowd.shared.gate_ns());
            let out = std::mem::take(&mut crowd.fetches.link(0).out);
            assert!(out.len() < 2 * OUT_MAX, "{}", out.len());
            bytes += out.len();
        }
        bytes
    };
    crowd.fetches.queue_due(0, crowd.shared.gate_ns());
    assert!(sent(&mut crowd) < 1_000, "the window of the connection is used up");
    let more = |stream: u32, bytes: u32| frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
    crowd.receive(&[more(0, 1 << 20), more(3, 1 << 20)].concat(), 0);
    let bytes = sent(&mut crowd);
    assert!((300_000..301_000).contains(&bytes), "{bytes}");
}
