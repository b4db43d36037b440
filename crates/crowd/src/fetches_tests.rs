use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use klatch_record::{CrowdResult, ProtocolName, RequestParts};

use super::support::details;
use super::*;
use crate::channel::ClientEndpoint;
use crate::http1::Http1;
use crate::shared::{ControlMessage, Shared, Wake};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

struct Crowd {
    fetches: Fetches<Http1>,
    shared: Arc<Shared>,
    control: Receiver<ControlMessage>,
}

impl Crowd {
    /// One connection with so many requests in flight at a server that says hello, before it has joined.
    fn new(depth: u32) -> Crowd {
        let shared = Arc::new(Shared::new(vec![Wake::Threads(Mutex::default())]));
        let (sender, control) = channel();
        let worker = Worker::new(0, shared.clone(), sender);
        let rr = RrWorkload { url: Some("/".into()), depth, duration_s: 1.0, ..RrWorkload::default() };
        let server = ClientEndpoint::plain(ProtocolName::Http, "h", 80);
        let parts = RequestParts::default();
        let urls = Urls::new(&rr, &parts, 1).with_first(200, b"hello");
        let http = Http1::new(&urls, &parts, &server);
        let mut fetches = Fetches::new(worker, &rr, Arc::new(urls), &http, 1, 0..1);
        fetches.write_handshake(0);
        Crowd { fetches, shared, control }
    }

    /// The same after its gate has opened, with the requests in flight.
    fn open(depth: u32) -> Crowd {
        let mut crowd = Crowd::new(depth);
        assert_eq!(crowd.requests(), 1);
        crowd.reply(HELLO, 0);
        assert!(matches!(crowd.control.try_recv(), Ok(ControlMessage::Joined)));
        crowd.shared.open_gate();
        assert_eq!(crowd.queue(0), depth as usize);
        crowd
    }

    /// The number of requests to send.
    fn requests(&mut self) -> usize {
        let out = std::mem::take(&mut self.fetches.link(0).out);
        String::from_utf8(out).unwrap().matches("GET / HTTP/1.1\r\n").count()
    }

    fn now_ns(&self, ns: u64) -> u64 {
        self.shared.gate_ns() + ns
    }

    fn queue(&mut self, ns: u64) -> usize {
        self.fetches.queue_due(0, self.now_ns(ns));
        self.requests()
    }

    fn reply(&mut self, bytes: &[u8], ns: u64) {
        self.fetches.on_bytes(0, bytes, self.now_ns(ns));
    }

    fn end(&mut self, ns: u64) -> AfterEnd {
        self.fetches.on_end(0, self.now_ns(ns))
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
fn replies_are_read_in_pieces_of_any_size_and_in_every_form() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    let interim = [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", HELLO].concat();
    for reply in [HELLO, &chunked[..], &interim] {
        for piece in 1..=reply.len() {
            let mut crowd = Crowd::open(1);
            let mut partial = Vec::new();
            for bytes in reply.chunks(piece) {
                partial.extend_from_slice(bytes);
                let now_ns = crowd.now_ns(5_000);
                let taken = crowd.fetches.on_bytes(0, &partial, now_ns);
                partial.drain(..taken);
            }
            assert_eq!((crowd.queue(6_000), partial.len()), (1, 0), "a request follows a reply");
            let result = crowd.result();
            assert_eq!((result.received, result.wrong, result.lost), (1, 0, 1), "{piece}");
        }
    }
}

#[test]
fn a_wrong_reply_is_a_fault_and_the_next_request_follows() {
    let mut crowd = Crowd::open(1);
    crowd.reply(b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops", 5_000);
    assert_eq!(crowd.queue(6_000), 1);
    crowd.reply(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhelloo", 7_000);
    crowd.queue(8_000);
    crowd.reply(HELLO, 9_000);
    let result = crowd.result();
    assert_eq!((result.received, result.wrong), (1, 2));
    assert_eq!(
        details(&result),
        [
            "GET /: expected status 200, got 500 with the body \"oops\"",
            "GET /: the body is not that of the first reply: expected its end at byte 5, got \"o\", and 6 bytes instead of 5"
        ]
    );
}

#[test]
fn a_connection_that_the_server_announces_to_close_is_made_anew_with_the_requests_in_flight() {
    let mut crowd = Crowd::open(3);
    crowd.reply(LAST, 5_000);
    assert_eq!(crowd.queue(6_000), 0, "nothing more is sent on it");
    assert_eq!((crowd.fetches.next_leaving(), crowd.fetches.is_leaving(0)), (Some(0), true));
    assert_eq!(crowd.end(7_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(8_000), 3, "two are sent again");
    (0..3).for_each(|_| crowd.reply(HELLO, 9_000));
    let result = crowd.result();
    assert_eq!((result.received, result.wrong, result.lost, result.results.reopened()), (4, 0, 0, 1));
}

#[test]
fn a_body_may_end_with_its_connection() {
    let mut crowd = Crowd::open(1);
    crowd.reply(b"HTTP/1.0 200 OK\r\n\r\nhello", 5_000);
    assert_eq!(crowd.end(6_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(7_000), 1);
    let result = crowd.result();
    assert_eq!((result.received, result.wrong, result.results.reopened()), (1, 0, 1));
}

#[test]
fn a_connection_that_is_closed_too_early_is_a_fault_and_twice_without_a_reply_the_end() {
    let mut crowd = Crowd::open(1);
    crowd.reply(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 5_000);
    assert_eq!(crowd.end(6_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(7_000), 1);
    assert_eq!(crowd.end(8_000), AfterEnd::Reconnect);
    assert_eq!(crowd.queue(9_000), 1);
    assert_eq!(crowd.end(10_000), AfterEnd::Done);
    assert_eq!(
        crowd.failure().unwrap(),
        "connection 1: the server closes each connection instead of a reply"
    );
    let result = crowd.result();
    assert_eq!((result.wrong, result.lost), (2, 1));
    assert_eq!(
        details(&result)[..2],
        [
            "GET /: the connection was closed after 3 of 5 bytes of the body",
            "GET /: the server closed the connection instead of a reply"
        ]
    );
}

#[test]
fn what_is_no_reply_ends_the_run() {
    let mut crowd = Crowd::new(1);
    crowd.reply(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", 0);
    let wrong = "the reply to the first request is wrong: GET /: the body is not that of the first reply";
    assert!(crowd.failure().unwrap().contains(wrong));
    let mut crowd = Crowd::open(1);
    crowd.reply(b"SSH-2.0-\x1b\r\n", 5_000);
    let failure = crowd.failure().unwrap();
    assert!(
        failure.contains("GET /: the server answered no HTTP (the head is not HTTP/1): SSH-2.0-\\u001b"),
        "{failure}"
    );
    let mut crowd = Crowd::open(1);
    crowd.reply(HELLO, 5_000);
    crowd.reply(b"more", 5_000);
    assert_eq!(crowd.result().unexpected, 1);
}
