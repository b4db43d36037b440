//! HTTP/1.1: replies follow one another in the order of the requests.

use std::fmt::Write as _;
use std::sync::Arc;

use klatch_exchange::web::{BodyLength, BodyPiece, BodyReader, Parsed, parse_response};
use klatch_record::RequestParts;

use crate::channel::ClientEndpoint;
use crate::compared_body::ComparedBody;
use crate::http_command::{HttpError, HttpServer};
use crate::http_connection::{End, HttpConnection, Part, Request};
use crate::protocol::shown_up_to;
use crate::urls::{Urls, WITH_BODY, host};

/// Most characters of the first line of something that is no HTTP that a message shows.
const LINE_SHOWN_MAX: usize = 80;

/// The progress of a reply.
enum State {
    /// The head is missing.
    Head,
    /// A part of the body is missing.
    Body(Body),
    /// The last reply of the connection was complete.
    Closing,
}

struct Body {
    reader: BodyReader,
    status: u16,
    keep_alive: bool,
}

/// A connection of HTTP/1.1.
pub(crate) struct Http1 {
    /// The request of each URL, with its body.
    requests: Arc<[Vec<u8>]>,
    state: State,
    body: ComparedBody,
}

impl Http1 {
    pub(crate) fn new(urls: &Urls, parts: &RequestParts, server: &ClientEndpoint) -> Http1 {
        let host = host(server);
        let request = |url| {
            let (method, path) = urls.method_and_path(url);
            request(method, path, parts, &host)
        };
        Http1::of((0..urls.count()).map(request).collect())
    }

    fn of(requests: Arc<[Vec<u8>]>) -> Http1 {
        Http1 { requests, state: State::Head, body: ComparedBody::default() }
    }

    /// The reply is complete. Returns what is wrong with it.
    fn complete(&mut self, urls: &Urls, url: usize) -> Option<String> {
        let State::Body(Body { status, keep_alive, .. }) = std::mem::replace(&mut self.state, State::Head)
        else {
            return None;
        };
        if !keep_alive {
            self.state = State::Closing;
        }
        let fault = self.body.fault(urls, url, status);
        self.body.clear();
        fault
    }
}

impl HttpConnection for Http1 {
    fn anew(&self) -> Http1 {
        Http1::of(self.requests.clone())
    }

    fn ask(
        &self,
        server: &HttpServer,
        url: usize,
        is_head: bool,
        body_bytes_max: usize,
    ) -> Result<(u16, Vec<u8>), HttpError> {
        server.reply(&self.requests[url], is_head, body_bytes_max)
    }

    fn send(&mut self, request: Request, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.requests[request.url]);
    }

    fn next(&mut self, input: &mut &[u8], urls: &Urls, awaited: impl FnOnce() -> Option<Request>) -> Part {
        if input.is_empty() || self.is_closing() {
            return Part::Incomplete;
        }
        let Some(request) = awaited() else {
            return Part::Unexpected(format!("{} bytes that no request asked for", input.len()));
        };
        let url = request.url;
        loop {
            match &mut self.state {
                State::Closing => return Part::Incomplete,
                State::Head => match parse_response(input) {
                    Ok(Parsed::Partial) => return Part::Incomplete,
                    Ok(Parsed::Complete { head, bytes }) => {
                        *input = &input[bytes..];
                        // An interim reply.
                        if head.status < 200 {
                            continue;
                        }
                        let length = if urls.is_head(url) { BodyLength::Fixed(0) } else { head.body };
                        let (reader, keep_alive) = (BodyReader::new(length), head.keep_alive);
                        self.state = State::Body(Body { reader, status: head.status, keep_alive });
                    }
                    Err(error) => {
                        let line = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
                        let shown = shown_up_to(line, LINE_SHOWN_MAX);
                        return Part::NoHttp(format!("the server answered no HTTP ({error}): {shown}"));
                    }
                },
                State::Body(body) => match body.reader.next(input) {
                    Ok(BodyPiece::Data(data)) => self.body.feed(data, urls, url),
                    Ok(BodyPiece::NeedMore) => return Part::Incomplete,
                    Ok(BodyPiece::End) => return Part::Complete(request, self.complete(urls, url)),
                    Err(error) => return Part::NoHttp(format!("the server sent a wrong body: {error}")),
                },
            }
        }
    }

    fn is_closing(&self) -> bool {
        matches!(self.state, State::Closing)
    }

    fn on_end(&mut self, urls: &Urls, awaited: Option<Request>) -> End {
        let end = match &self.state {
            State::Closing => End::Announced,
            State::Head => End::Instead("the server closed the connection instead of a reply".to_owned()),
            State::Body(body) if body.reader.may_end_with_connection() => {
                End::Complete(awaited.and_then(|request| self.complete(urls, request.url)))
            }
            State::Body(body) => {
                let length = self.body.length();
                let of = match body.reader {
                    BodyReader::Fixed(left) => format!(" of {}", length as u64 + left),
                    _ => String::new(),
                };
                End::Cut(format!("the connection was closed after {length}{of} bytes of the body"))
            }
        };
        *self = self.anew();
        end
    }
}

/// The bytes of a request.
fn request(
    method: &str,
    path: &str,
    RequestParts { headers, body, .. }: &RequestParts,
    host: &str,
) -> Vec<u8> {
    let body = body.as_ref().map(|body| body.0.as_slice());
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    for (name, value) in [("Host", host), ("User-Agent", "klatch")] {
        if !given(name) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if body.is_some() || WITH_BODY.contains(&method) {
        let _ = write!(text, "Content-Length: {}\r\n", body.map_or(0, <[u8]>::len));
    }
    [text.as_bytes(), b"\r\n", body.unwrap_or_default()].concat()
}

#[cfg(test)]
mod tests {
    use klatch_record::{Body, ProtocolName, RrWorkload};

    use super::*;

    #[test]
    fn a_request_has_the_fields_of_its_url_its_server_and_its_user() {
        let rr = RrWorkload { url: Some("/a?b".into()), ..RrWorkload::default() };
        let text = |parts: &RequestParts, host: &str, port: u16| {
            let server = ClientEndpoint::plain(ProtocolName::Http, host, port);
            let http = Http1::new(&Urls::new(&rr, parts, 1), parts, &server);
            String::from_utf8(http.requests[0].clone()).unwrap()
        };
        let none = RequestParts::default();
        assert_eq!(
            text(&none, "::1", 8080),
            "GET /a?b HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: klatch\r\n\r\n"
        );
        assert!(text(&none, "example.org", 80).contains("Host: example.org\r\n"));
        let headers = vec![("host".to_owned(), "other".to_owned()), ("Cookie".to_owned(), "s".to_owned())];
        let parts = RequestParts { headers, body: Some(Body(b"hello".to_vec())), ..RequestParts::default() };
        assert_eq!(
            text(&parts, "::1", 8080),
            "POST /a?b HTTP/1.1\r\nUser-Agent: klatch\r\nhost: other\r\nCookie: s\r\nContent-Length: 5\r\n\r\nhello"
        );
    }
}
