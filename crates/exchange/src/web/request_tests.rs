//! Tests of the request parser with right and wrong heads.

use proptest::prelude::*;

use super::*;

fn complete(bytes: &[u8]) -> (RequestHead<'_>, usize) {
    match parse_request(bytes) {
        Ok(Parsed::Complete { head, bytes }) => (head, bytes),
        other => panic!("{}: {other:?}", bytes.escape_ascii()),
    }
}

#[test]
fn a_head_has_its_parts() {
    let request = b"POST /dynamic?a?b HTTP/1.1\r\nHOST: x\r\nCookie: my_cookie=user_id=10001&last_ad=7\r\n\
        content-length: 12\r\nAccept: */*\r\n\r\nurlroot=";
    let (head, bytes) = complete(request);
    let expected = RequestHead {
        method: HttpMethod::Post,
        path: b"/dynamic",
        query: Some(b"a?b"),
        cookie: Some(b"my_cookie=user_id=10001&last_ad=7"),
        body_bytes: 12,
        keep_alive: true,
    };
    assert_eq!((head, bytes), (expected, request.len() - 8));
    let (head, _) = complete(b"GET http://host:80/file?q HTTP/1.0\n\n");
    assert_eq!((head.path, head.query, head.keep_alive), (&b"/file"[..], Some(&b"q"[..]), false));
    assert_eq!(complete(b"GET http://host HTTP/1.0\r\n\r\n").0.path, b"/");
    assert_eq!(complete(b"HEAD / HTTP/1.0\r\n\r\n").0.method, HttpMethod::Other);
}

#[test]
fn connections_stay_open_as_version_and_header_require() {
    for (version, headers, keep_alive) in [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: Keep-Alive\r\n", true),
        ("1.1", "connection: TE , Close\r\n", false),
        ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
        ("1.0", "Connection: close\r\n", false),
    ] {
        let request = format!("GET / HTTP/{version}\r\nHost: x\r\n{headers}\r\n");
        assert_eq!(complete(request.as_bytes()).0.keep_alive, keep_alive, "{request}");
    }
}

#[test]
fn wrong_heads_have_their_status() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(HEAD_BYTES_MAX));
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "a: b\r\n".repeat(HEADERS_MAX));
    let cases: [(&str, Status); 19] = [
        ("GET\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/2.0\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.1\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.0\r\nContent-Length: -1\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.0\r\nContent-Length: 1, 1\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.0\r\nContent-Length:\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", Status::BadRequest),
        ("GET / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n", Status::BadRequest),
        ("POST / HTTP/1.0\r\nContent-Length: 4097\r\n\r\n", Status::ContentTooLarge),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Status::NotImplemented),
        ("BREW / HTTP/1.0\r\n\r\n", Status::NotImplemented),
        ("get / HTTP/1.0\r\n\r\n", Status::NotImplemented),
        ("\0\u{1}\u{2}", Status::BadRequest),
        (&long, Status::HeadTooLarge),
        (&many, Status::HeadTooLarge),
    ];
    for (request, status) in cases {
        assert_eq!(parse_request(request.as_bytes()), Err(status), "{request:.80}");
    }
    assert_eq!(complete(b"POST / HTTP/1.0\r\nContent-Length: 4096\r\n\r\n").0.body_bytes, 4096);
    assert_eq!(complete(b"GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n").0.body_bytes, 1);
}

#[test]
fn the_longest_head_is_accepted_and_one_byte_more_is_not() {
    let head = |bytes: usize| {
        let rest = "GET / HTTP/1.0\r\na: \r\n\r\n".len();
        format!("GET / HTTP/1.0\r\na: {}\r\n\r\n", "x".repeat(bytes - rest))
    };
    assert_eq!(complete(head(HEAD_BYTES_MAX).as_bytes()).1, HEAD_BYTES_MAX);
    assert_eq!(parse_request(head(HEAD_BYTES_MAX + 1).as_bytes()), Err(Status::HeadTooLarge));
    let endless = vec![b'a'; HEAD_BYTES_MAX];
    assert_eq!(parse_request(&endless), Ok(Parsed::Partial));
    assert_eq!(parse_request(&[&endless[..], b"a"].concat()), Err(Status::HeadTooLarge));
}

#[test]
fn each_part_of_a_head_is_partial() {
    let request = b"GET /a?b HTTP/1.1\r\nHost: x\r\nCookie: c\r\n\r\n";
    for length in 0..request.len() {
        assert_eq!(parse_request(&request[..length]), Ok(Parsed::Partial), "{length}");
    }
}

#[test]
fn an_empty_line_is_found_wherever_the_pieces_part() {
    for (bytes, ends_at) in [
        (&b"GET / HTTP/1.1\r\nHost: x\r\n\r\nmore\r\n"[..], Some(27)),
        (b"GET / HTTP/1.1\nHost: x\n\nmore", Some(24)),
        (b"GET / HTTP/1.1\r\nHost: x\n\r\n", Some(26)),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r", None),
        (b"GET / HTTP/1.1\r\nHost: x\r\r\n", None),
    ] {
        for length in 1..=bytes.len() {
            let found = has_empty_line(&bytes[..length], length - 1);
            let expected = ends_at.is_some_and(|end| length == end);
            // A byte after the empty line may show it again, because three bytes overlap.
            assert!(found == expected || found && ends_at.is_some_and(|end| length > end), "{length}");
            assert_eq!(has_empty_line(&bytes[..length], 0), ends_at.is_some_and(|end| length >= end));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_parse_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(Parsed::Complete { head, bytes: count }) = parse_request(&bytes) {
            prop_assert!(count <= bytes.len() && head.body_bytes <= BODY_BYTES_MAX);
        }
    }

    /// More bytes never change the head that was found in the first ones.
    #[test]
    fn what_follows_a_head_does_not_change_it(rest in proptest::collection::vec(any::<u8>(), 0..50)) {
        let head = b"GET /x HTTP/1.1\r\nHost: y\r\n\r\n";
        let both = [&head[..], &rest].concat();
        prop_assert_eq!(complete(&both), complete(head));
    }
}
