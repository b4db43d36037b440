//! The protocols in which a request has one reply with the same payload.

use crate::protocol::{Credentials, decimal, line};

/// Longest head of an HTTP reply, bytes.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Most header fields of an HTTP reply.
const HEADERS_MAX: usize = 64;

/// What a server sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply<'a> {
    /// The payload of a request.
    Payload(&'a [u8]),
    /// An error; the text is its first line.
    Refused(&'a [u8]),
}

/// What a server sent to a connection that it does not take requests from yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greeting<'a> {
    /// More is to come.
    Continue,
    /// It takes requests.
    Open,
    /// An error; the text is its first line.
    Refused(&'a [u8]),
}

/// One connection's side of a protocol, without any I/O: bytes in, bytes and replies out.
pub(crate) trait RequestProtocol: Send + 'static {
    /// The state of a connection that is not made yet.
    fn new(login: &Credentials) -> Self;

    /// Appends what a new connection sends before its first request.
    fn write_hello(&self, _out: &mut Vec<u8>) {}

    /// Whether the server takes requests.
    fn is_open(&self) -> bool {
        true
    }

    /// Parses the first complete unit before the server takes requests, and appends the answer to it. Returns its length in bytes, at most
    /// that of `input`, or `None` if it is incomplete.
    fn parse_greeting<'a>(&mut self, _input: &'a [u8], _out: &mut Vec<u8>) -> Option<(usize, Greeting<'a>)> {
        None
    }

    /// Appends what a connection sends before it is closed.
    fn write_quit(_out: &mut Vec<u8>) {}

    /// Appends a request with a payload of `size` bytes, which `payload` appends.
    fn write_request(out: &mut Vec<u8>, size: usize, payload: impl FnOnce(&mut Vec<u8>));

    /// Parses the first complete reply to a request with a payload of `size` bytes. Returns its length in bytes and the reply,
    /// at most that of `input`, or `None` if it is incomplete.
    fn parse_reply(size: usize, input: &[u8]) -> Option<(usize, Reply<'_>)>;
}

/// Every byte comes back, as in RFC 862.
pub(crate) struct Echo;

impl RequestProtocol for Echo {
    fn new(_: &Credentials) -> Echo {
        Echo
    }

    fn write_request(out: &mut Vec<u8>, _: usize, payload: impl FnOnce(&mut Vec<u8>)) {
        payload(out);
    }

    fn parse_reply(size: usize, input: &[u8]) -> Option<(usize, Reply<'_>)> {
        Some((size, Reply::Payload(input.get(..size)?)))
    }
}

/// A GET whose query is the payload, and a body that repeats it.
pub(crate) struct HttpEcho;

impl RequestProtocol for HttpEcho {
    fn new(_: &Credentials) -> HttpEcho {
        HttpEcho
    }

    fn write_request(out: &mut Vec<u8>, _: usize, payload: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"GET /echo?payload=");
        payload(out);
        out.extend_from_slice(b" HTTP/1.1\r\nHost: klatch\r\n\r\n");
    }

    fn parse_reply(_: usize, input: &[u8]) -> Option<(usize, Reply<'_>)> {
        let refused = || Reply::Refused(line(input).map_or(input, |(line, _)| line));
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut headers);
        let taken = match head.parse(input) {
            Ok(httparse::Status::Complete(taken)) => taken,
            Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return None,
            Ok(httparse::Status::Partial) | Err(_) => return Some((input.len(), refused())),
        };
        let length = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        match length.and_then(|header| decimal(header.value)) {
            Some(length) if head.code == Some(200) => {
                Some((taken + length, Reply::Payload(input.get(taken..taken + length)?)))
            }
            // The rest of the body is of no use.
            Some(length) => Some((input.len().min(taken + length), refused())),
            None => Some((input.len(), refused())),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn request<P: RequestProtocol>() -> Vec<u8> {
        let mut out = Vec::new();
        P::write_request(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        out
    }

    pub(crate) fn incomplete_replies_wait<P: RequestProtocol>(reply: &[u8]) {
        for cut in 0..reply.len() {
            assert_eq!(P::parse_reply(5, &reply[..cut]), None, "{cut} bytes");
        }
        let two = [reply, b"next"].concat();
        assert_eq!(P::parse_reply(5, &two), Some((reply.len(), Reply::Payload(b"hello"))));
    }

    #[test]
    fn echo_is_the_payload_alone() {
        assert_eq!(request::<Echo>(), b"hello");
        incomplete_replies_wait::<Echo>(b"hello");
    }

    #[test]
    fn http_has_a_body_with_its_length() {
        assert_eq!(request::<HttpEcho>(), b"GET /echo?payload=hello HTTP/1.1\r\nHost: klatch\r\n\r\n");
        incomplete_replies_wait::<HttpEcho>(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
        let parse = |reply: &'static [u8]| HttpEcho::parse_reply(5, reply);
        let missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
        assert_eq!(parse(missing), Some((missing.len(), Reply::Refused(b"HTTP/1.1 404 Not Found"))));
        for cut in missing.len() - 2..missing.len() {
            let refused = Reply::Refused(b"HTTP/1.1 404 Not Found");
            assert_eq!(parse(&missing[..cut]), Some((cut, refused)), "the body comes later");
        }
        let endless = b"HTTP/1.1 200 OK\r\n\r\nhello";
        assert_eq!(parse(endless), Some((endless.len(), Reply::Refused(b"HTTP/1.1 200 OK"))));
        assert_eq!(parse(b"SSH-2.0-x\r\n"), Some((11, Reply::Refused(b"SSH-2.0-x"))));
    }
}
