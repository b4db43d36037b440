//! Tests of a connection: requests in pieces and in pipelines, and what closes it.

use std::sync::Mutex;

use super::*;
use crate::web::ads::{AdTables, TableOptions};
use crate::web::body_piece::BodyPiece;
use crate::web::content::Content;
use crate::web::files::FileId;
use crate::web::mix::{Mix, Operation, Step};
use crate::web::page::{BodyCheck, unframe};
use crate::web::post_log::{PostEntry, check_post_log};
use crate::web::request_writer::write_get;
use crate::web::response::{BodyReader, parse_response};
use crate::web::site::SiteOptions;
use crate::web::target::Target;

const DIRECTORIES: u32 = 4;

/// Collects what is sent to it.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Outbox for Bytes {
    fn send(&self, bytes: &Arc<[u8]>) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

impl Bytes {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn site() -> Arc<Site> {
    Arc::new(Site::new(&SiteOptions { seed: 7, directories: DIRECTORIES, ..SiteOptions::default() }))
}

fn visit(site: &Arc<Site>) -> (SiteVisit<Bytes>, Bytes) {
    let outbox = Bytes::default();
    (site.enter([127, 0, 0, 1].into(), outbox.clone()), outbox)
}

/// Splits one reply from the front of `input`. Returns its status and body.
fn reply(input: &mut &[u8]) -> (u16, Vec<u8>) {
    let Ok(Parsed::Complete { head, bytes }) = parse_response(input) else { panic!("no whole response") };
    *input = &input[bytes..];
    let (mut reader, mut body) = (BodyReader::new(head.body), Vec::new());
    loop {
        match reader.next(input).unwrap() {
            BodyPiece::Data(piece) => body.extend_from_slice(piece),
            BodyPiece::NeedMore => panic!("the body is {} bytes short", body.len()),
            BodyPiece::End => return (head.status, body),
        }
    }
}

fn request(target: &Target) -> Vec<u8> {
    let mut request = Vec::new();
    write_get(target, "h", &mut request);
    request
}

fn small_file() -> Target {
    Target::File(FileId::new(0, 0, 0).unwrap())
}

/// A crowd's lines, with all requests of a session in one pipeline that arrives in pieces.
#[test]
fn sessions_get_the_right_replies_in_order() {
    let (site, content) = (site(), Content::new(7));
    let tables = AdTables::new(7, &TableOptions::default());
    let mix = Mix::new(7, DIRECTORIES, 1000, false);
    let mut confirmed = Vec::new();
    for (line, piece_bytes) in [(0, 1), (1, 7), (2, 150), (3, 4096)] {
        let mut script = mix.line(line);
        for _ in 0..25 {
            let (mut steps, mut requests) = (Vec::<Step>::new(), Vec::new());
            while steps.last().is_none_or(|step| !step.last) {
                steps.push(script.next_step(&mix));
                steps.last().unwrap().write("h", &mut requests);
            }
            let (mut visit, outbox) = visit(&site);
            let pieces = requests.chunks(piece_bytes);
            let last = pieces.len() - 1;
            for (number, piece) in pieces.enumerate() {
                let expected = if number == last { Flow::Close } else { Flow::Continue };
                assert_eq!(visit.feed(piece), expected);
            }
            let replies = outbox.take();
            let mut rest = &replies[..];
            for step in steps {
                let (status, body) = reply(&mut rest);
                assert_eq!(status, 200, "{step:?}");
                let ad = match step.operation {
                    Operation::Ad { user, last_ad } => tables.choose(user, last_ad).ad,
                    Operation::Post { client, sequence } => {
                        confirmed.push(PostEntry { client, sequence, file: step.file });
                        None
                    }
                    _ => None,
                };
                let mut check = BodyCheck::new(&step, ad);
                check.feed(&content, &body).and_then(|()| check.finish()).unwrap();
            }
            assert_eq!(rest, b"", "nothing follows the last reply");
        }
    }
    assert!(confirmed.len() > 10);
    let (mut visit, outbox) = visit(&site);
    assert_eq!(visit.feed(&request(&Target::Fetch)), Flow::Continue);
    let log = reply(&mut &outbox.take()[..]).1;
    assert_eq!(check_post_log(unframe(&log).unwrap(), &confirmed), []);
}

#[test]
fn the_last_request_closes_and_what_follows_is_ignored() {
    let single = b"GET /file_set/dir00000/class0_0 HTTP/1.0\r\n\r\n";
    let last = b"GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    for request in [&single[..], last] {
        let (mut visit, outbox) = visit(&site());
        assert_eq!(visit.feed(&request.repeat(2)), Flow::Close);
        let replies = outbox.take();
        let mut rest = &replies[..];
        assert_eq!(reply(&mut rest).0, 200);
        assert_eq!(rest, b"");
        assert_eq!(visit.feed(request), Flow::Close);
        assert_eq!(outbox.take(), b"");
    }
    let kept = b"GET /file_set/dir00000/class0_0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let (mut visit, _) = visit(&site());
    assert_eq!(visit.feed(kept), Flow::Continue);
}

#[test]
fn requests_that_cannot_be_delimited_close_the_connection() {
    let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(HEAD_BYTES_MAX));
    for (wrong, status) in [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("POST /dynamic HTTP/1.0\r\nContent-Length: 4097\r\n\r\n", 413),
        ("POST /dynamic HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ("BREW / HTTP/1.0\r\n\r\n", 501),
        (&long, 431),
    ] {
        for piece_bytes in [1, wrong.len()] {
            let (mut visit, outbox) = visit(&site());
            let sent = [&request(&small_file())[..], wrong.as_bytes()].concat();
            let mut flow = Flow::Continue;
            for piece in sent.chunks(piece_bytes) {
                flow = visit.feed(piece);
            }
            assert_eq!(flow, Flow::Close, "{wrong:.40}");
            let replies = outbox.take();
            let mut rest = &replies[..];
            assert_eq!(reply(&mut rest).0, 200, "the request before it is served");
            assert_eq!((reply(&mut rest).0, rest), (status, &b""[..]), "{wrong:.40}");
            assert!(replies.windows(17).any(|window| window == b"Connection: close"));
        }
    }
}

#[test]
fn refused_requests_that_are_delimited_keep_the_connection() {
    let (mut visit, outbox) = visit(&site());
    let wrong = b"POST /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(visit.feed(&[&wrong[..], &request(&small_file())].concat()), Flow::Continue);
    let replies = outbox.take();
    let mut rest = &replies[..];
    assert_eq!([reply(&mut rest).0, reply(&mut rest).0], [405, 200]);
}

#[test]
fn only_an_incomplete_request_occupies_memory() {
    let (mut visit, _) = visit(&site());
    let request = request(&small_file());
    assert_eq!(visit.feed(&request), Flow::Continue);
    assert_eq!(visit.pending.capacity(), 0);
    let three = request.repeat(3);
    assert_eq!(visit.feed(&three[..request.len() + 5]), Flow::Continue);
    assert_eq!(visit.pending, request[..5]);
    assert_eq!(visit.feed(&three[request.len() + 5..]), Flow::Continue);
    assert_eq!(visit.pending.capacity(), 0);
}

#[test]
fn a_request_that_takes_too_long_is_refused() {
    let (mut visit, outbox) = visit(&site());
    visit.close(b"timeout");
    assert_eq!(outbox.take(), b"", "without a request there is nothing to refuse");
    let (mut visit, outbox) = self::visit(&site());
    assert_eq!(visit.feed(b"GET /"), Flow::Continue);
    visit.close(b"timeout");
    assert_eq!(reply(&mut &outbox.take()[..]).0, 408);
    assert_eq!(visit.feed(b" HTTP/1.0\r\n\r\n"), Flow::Close);
    let closing_message = <Site as Service<Bytes>>::closing_message(b"full");
    assert!(closing_message.is_empty() && <Site as Service<Bytes>>::REPLIES_ONLY);
}
