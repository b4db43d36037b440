//! Tests of the response parser with right and wrong heads and bodies.

use proptest::prelude::*;

use super::*;

fn complete(bytes: &[u8]) -> (ResponseHead<'_>, usize) {
    match parse_response(bytes) {
        Ok(Parsed::Complete { head, bytes }) => (head, bytes),
        other => panic!("{}: {other:?}", bytes.escape_ascii()),
    }
}

#[test]
fn a_head_has_its_parts() {
    let response = b"HTTP/1.1 200 OK\r\nServer: x\r\nset-cookie: JSESSIONID=1; Path=/\r\n\
        Set-Cookie: found_cookie=Ad_id=1\r\nCONTENT-LENGTH: 5\r\n\r\nhello";
    let (head, bytes) = complete(response);
    assert_eq!((head.status, head.body, head.keep_alive), (200, BodyLength::Fixed(5), true));
    assert_eq!(bytes, response.len() - 5);
    assert_eq!(head.set_cookie("found_cookie"), Some(&b"found_cookie=Ad_id=1"[..]));
    assert_eq!(head.set_cookie("found"), None);
    assert_eq!(head.set_cookie("my_cookie"), None);
}

#[test]
fn bodies_end_as_version_and_headers_require() {
    for (start, headers, body, keep_alive) in [
        ("HTTP/1.1 200 OK", "Content-Length: 7\r\n", BodyLength::Fixed(7), true),
        ("HTTP/1.1 200 OK", "Content-Length: 7\r\nContent-Length: 7\r\n", BodyLength::Fixed(7), true),
        ("HTTP/1.1 200 OK", "Content-Length: 7\r\nConnection: close\r\n", BodyLength::Fixed(7), false),
        ("HTTP/1.0 200 OK", "Content-Length: 7\r\n", BodyLength::Fixed(7), false),
        ("HTTP/1.0 200 OK", "Content-Length: 7\r\nConnection: keep-alive\r\n", BodyLength::Fixed(7), true),
        ("HTTP/1.1 200 OK", "Transfer-Encoding: Chunked\r\n", BodyLength::Chunked, true),
        ("HTTP/1.1 200 OK", "", BodyLength::UntilClose, false),
        ("HTTP/1.1 200", "Connection: keep-alive\r\n", BodyLength::UntilClose, false),
        ("HTTP/1.1 204 No Content", "", BodyLength::Fixed(0), true),
        ("HTTP/1.1 304 Not Modified", "Content-Length: 9\r\n", BodyLength::Fixed(0), true),
        ("HTTP/1.1 100 Continue", "", BodyLength::Fixed(0), true),
    ] {
        let response = format!("{start}\r\n{headers}\r\n");
        let (head, _) = complete(response.as_bytes());
        assert_eq!((head.body, head.keep_alive), (body, keep_alive), "{response}");
    }
}

#[test]
fn wrong_heads_are_named() {
    let long = format!("HTTP/1.1 200 {}", "a".repeat(HEAD_BYTES_MAX));
    for (response, error) in [
        ("HTTP/2 200 OK\r\n\r\n", ResponseError::Syntax),
        ("HTTP/1.1 20 OK\r\n\r\n", ResponseError::Syntax),
        ("HTTP/1.1 099 OK\r\n\r\n", ResponseError::Syntax),
        ("hello\r\n\r\n", ResponseError::Syntax),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", ResponseError::TransferCoding),
        (&long, ResponseError::HeadTooLarge),
    ] {
        assert_eq!(parse_response(response.as_bytes()), Err(error), "{response:.80}");
    }
}

#[test]
fn each_part_of_a_head_is_partial() {
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    for length in 0..response.len() {
        assert_eq!(parse_response(&response[..length]), Ok(Parsed::Partial), "{length}");
    }
}

#[test]
fn a_fixed_body_leaves_the_next_response() {
    let mut reader = BodyReader::new(BodyLength::Fixed(5));
    let mut input = &b"hel"[..];
    assert_eq!(reader.next(&mut input), Ok(BodyPiece::Data(b"hel")));
    assert_eq!(reader.next(&mut input), Ok(BodyPiece::NeedMore));
    let mut input = &b"loHTTP"[..];
    assert_eq!(reader.next(&mut input), Ok(BodyPiece::Data(b"lo")));
    assert_eq!(reader.next(&mut input), Ok(BodyPiece::End));
    assert_eq!(input, b"HTTP");
    assert_eq!(BodyReader::new(BodyLength::Fixed(0)).next(&mut input), Ok(BodyPiece::End));
}

#[test]
fn a_body_until_close_takes_all_bytes() {
    let mut reader = BodyReader::new(BodyLength::UntilClose);
    for _ in 0..3 {
        let mut input = &b"hello"[..];
        assert_eq!(reader.next(&mut input), Ok(BodyPiece::Data(b"hello")));
        assert_eq!(reader.next(&mut input), Ok(BodyPiece::NeedMore));
    }
    assert!(reader.may_end_with_connection());
    assert!(!BodyReader::new(BodyLength::Chunked).may_end_with_connection());
}

#[test]
fn errors_of_chunks_are_errors_of_the_response() {
    let mut reader = BodyReader::new(BodyLength::Chunked);
    let error = reader.next(&mut &b"x"[..]).unwrap_err();
    assert_eq!(error, ResponseError::Chunks(ChunkedError::Size));
    assert!(error.to_string().contains("hexadecimal"));
}

proptest! {
    #[test]
    fn any_bytes_parse_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_response(&bytes);
        let _ = parse_response(&[b"HTTP/1.1 200 OK\r\n", &bytes[..]].concat());
    }
}
