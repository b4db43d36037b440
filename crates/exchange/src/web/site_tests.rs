//! Tests of the replies of a site, request by request.

use super::*;
use crate::web::ads::AdChoice;
use crate::web::mix::{Operation, Step};
use crate::web::page::{BodyCheck, unframe};
use crate::web::post_log::check_post_log;
use crate::web::request::{Parsed, parse_request};
use crate::web::response::{BodyLength, ResponseHead, parse_response};

/// Collects the pieces that are sent to it.
#[derive(Clone, Default)]
struct Pieces(Arc<Mutex<Vec<Arc<[u8]>>>>);

impl Outbox for Pieces {
    fn send(&self, bytes: &Arc<[u8]>) {
        self.0.lock().unwrap().push(Arc::clone(bytes));
    }
}

fn site() -> Site {
    Site::new(&SiteOptions { seed: 7, directories: 12, ..SiteOptions::default() })
}

fn file(class: u8) -> FileId {
    FileId::new(11, class, 2).unwrap()
}

/// The reply to one request, and the number of its pieces.
fn ask(site: &Site, request: &[u8]) -> (Vec<u8>, usize) {
    let Ok(Parsed::Complete { head, bytes }) = parse_request(request) else { panic!("no request") };
    let out = Pieces::default();
    let body = &request[bytes..];
    assert_eq!(body.len(), head.body_bytes);
    site.reply(&Request { head, body, from: [10, 0, 0, 1].into() }, &out);
    let pieces = out.0.lock().unwrap();
    (pieces.concat(), pieces.len())
}

/// Parses a reply. Its body must have the stated length.
fn parse(reply: &[u8]) -> (ResponseHead<'_>, &[u8]) {
    let Ok(Parsed::Complete { head, bytes }) = parse_response(reply) else { panic!("no response") };
    assert_eq!(head.body, BodyLength::Fixed((reply.len() - bytes) as u64));
    (head, &reply[bytes..])
}

fn get(target: &Target) -> Vec<u8> {
    let mut request = Vec::new();
    crate::web::request_writer::write_get(target, "h", &mut request);
    request
}

fn step(operation: Operation, file: FileId) -> Step {
    Step { operation, file, single: false, first: false, last: false }
}

/// Sends a step's request, and checks the reply's status and body. Returns the reply.
fn ask_step(site: &Site, step: &Step, ad: Option<u16>) -> Vec<u8> {
    let mut request = Vec::new();
    step.write("h", &mut request);
    let (reply, _) = ask(site, &request);
    let (head, body) = parse(&reply);
    assert_eq!((head.status, head.keep_alive), (200, !step.last), "{step:?}");
    let mut check = BodyCheck::new(step, ad);
    check.feed(site.store.content(), body).and_then(|()| check.finish()).unwrap();
    reply
}

fn status(site: &Site, request: &str) -> u16 {
    parse(&ask(site, request.as_bytes()).0).0.status
}

#[test]
fn every_class_is_served_as_file_and_page() {
    let site = site();
    for class in 0..4 {
        for operation in [Operation::Static, Operation::Dynamic, Operation::Cgi] {
            let step = step(operation, file(class));
            ask_step(&site, &step, None);
            ask_step(&site, &Step { last: true, ..step }, None);
        }
    }
}

#[test]
fn replies_share_the_stored_file() {
    let site = site();
    for (class, pieces) in [(0, 1), (1, 1), (2, 2), (3, 2)] {
        assert_eq!(ask(&site, &get(&Target::File(file(class)))).1, pieces);
    }
    assert_eq!(ask(&site, &get(&Target::Page(file(2)))).1, 1);
    assert_eq!(ask(&site, &get(&Target::Page(file(3)))).1, 3);
}

#[test]
fn the_server_chooses_the_ad_that_the_crowd_computes() {
    let site = site();
    let tables = AdTables::new(7, &TableOptions::default());
    for user in [0, 1, 500, 999] {
        for last_ad in [0, 17, 359] {
            let choice = tables.choose(user, last_ad);
            let reply = ask_step(&site, &step(Operation::Ad { user, last_ad }, file(1)), choice.ad);
            let cookie = parse(&reply).0.set_cookie("found_cookie").and_then(AdChoice::parse_cookie);
            assert_eq!(cookie, Some(choice));
        }
    }
    // For an unknown user the page shows its stored ads.
    let reply = ask_step(&site, &step(Operation::Ad { user: 1000, last_ad: 0 }, file(2)), None);
    let cookie = parse(&reply).0.set_cookie("found_cookie").and_then(AdChoice::parse_cookie);
    assert_eq!(cookie, Some(AdChoice::NONE));
}

#[test]
fn posts_are_logged_and_answered_with_their_file() {
    let site = site();
    let mut confirmed = Vec::new();
    for (client, sequence) in [(3, 0), (3, 1), (u32::MAX, 0)] {
        let file = file((sequence % 4) as u8);
        let reply = ask_step(&site, &step(Operation::Post { client, sequence }, file), None);
        let expected = format!("my_cookie={}", 10_000 + sequence);
        assert_eq!(parse(&reply).0.set_cookie("my_cookie"), Some(expected.as_bytes()));
        confirmed.push(PostEntry { client, sequence, file });
    }
    let (reply, _) = ask(&site, &get(&Target::Fetch));
    assert_eq!(check_post_log(unframe(parse(&reply).1).unwrap(), &confirmed), []);
}

#[test]
fn refused_posts_are_not_logged() {
    let site = site();
    let post = |cookie: &str, body: &str| {
        let length = body.len();
        format!("POST /dynamic HTTP/1.1\r\nHost: h\r\n{cookie}Content-Length: {length}\r\n\r\n{body}")
    };
    let cookie = "Cookie: my_cookie=user_id=10000&last_ad=0\r\n";
    let form = "urlroot=/file_set/&dir=11&class=1&num=2&client=1";
    for (request, expected) in [
        (post("", form), 400),
        (post("Cookie: my_cookie=1\r\n", form), 400),
        (post(cookie, ""), 400),
        (post(cookie, &form.replace("num=2", "num=9")), 400),
        (post(cookie, &form.replace("dir=11", "dir=12")), 404),
    ] {
        assert_eq!(status(&site, &request), expected, "{request}");
    }
    assert_eq!(site.post_log.lock().unwrap().len(), 11);
    assert_eq!(status(&site, &post(cookie, form)), 200);
    assert_eq!(site.post_log.lock().unwrap().len(), 150);
}

#[test]
fn a_reset_replaces_the_tables_and_empties_the_log() {
    let site = site();
    ask_step(&site, &step(Operation::Post { client: 1, sequence: 0 }, file(0)), None);
    let options = TableOptions { users: 3, now_s: 1_800_000_000, expiry_s: [-1, -1] };
    let (reply, _) = ask(&site, &get(&Target::Reset(options)));
    let (head, body) = parse(&reply);
    assert_eq!((head.status, unframe(body)), (200, Some(&b""[..])));
    assert_eq!(site.post_log.lock().unwrap().len(), 11);
    let choice = site.dynamic().tables.choose(2, 5);
    assert_eq!(choice, AdTables::new(7, &options).choose(2, 5));
    assert!(choice.expired && choice.ad.is_some());
    assert_eq!(site.dynamic().tables.choose(3, 5), AdChoice::NONE);
}

#[test]
fn wrong_requests_have_their_status() {
    let site = site();
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("GET /file_set/dir00012/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("GET /dynamic?/file_set/dir00012/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("GET /cgi?/file_set/dir00012/class3_0 HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("GET /dynamic?command/Other HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("GET /file_set/../etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", 404),
        ("POST /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        ("HEAD /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        ("GET /dynamic HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        ("POST /dynamic?command/Fetch HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        (
            "GET /dynamic?/file_set/dir00000/class1_0 HTTP/1.1\r\nHost: h\r\nCookie: my_cookie=user_id=1\r\n\r\n",
            400,
        ),
    ] {
        assert_eq!(status(&site, request), expected, "{request}");
    }
    let other_cookie =
        "GET /dynamic?/file_set/dir00000/class1_0 HTTP/1.1\r\nHost: h\r\nCookie: other=1\r\n\r\n";
    assert_eq!(status(&site, other_cookie), 200, "it gets the standard page");
}
