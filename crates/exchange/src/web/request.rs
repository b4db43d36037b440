//! Parses the heads of requests, for the server.

use httparse::EMPTY_HEADER;

use super::status::Status;
use super::text::decimal;

/// Most bytes of a request's head.
pub const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Most bytes of a request's body.
pub const BODY_BYTES_MAX: usize = 4 * 1024;
const HEADERS_MAX: usize = 32;
/// Methods of RFC 9110 and RFC 5789 that no target here has.
const OTHER_METHODS: [&str; 7] = ["HEAD", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// The result of parsing a head of which perhaps only a part is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    /// The head continues after the given bytes.
    Partial,
    /// The head is complete.
    Complete {
        /// What the head states.
        head: T,
        /// Bytes of the head, the empty line included.
        bytes: usize,
    },
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// GET, for files, pages and commands.
    Get,
    /// POST, for forms only.
    Post,
    /// A standard method that no target here has.
    Other,
}

/// What a server needs from the head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// The method of the request.
    pub method: HttpMethod,
    /// The target up to the question mark.
    pub path: &'a [u8],
    /// The target after the first question mark.
    pub query: Option<&'a [u8]>,
    /// The value of the first header Cookie.
    pub cookie: Option<&'a [u8]>,
    /// Bytes of the body, at most [`BODY_BYTES_MAX`].
    pub body_bytes: usize,
    /// The connection stays open after the reply.
    pub keep_alive: bool,
}

/// Parses the head of a request at the beginning of `bytes`. An error is the status of the reply, after which the
/// connection must close, because the next request cannot be found.
pub fn parse_request(bytes: &[u8]) -> Result<Parsed<RequestHead<'_>>, Status> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    // One byte more than the limit is enough to see that a head exceeds it.
    let window = &bytes[..bytes.len().min(HEAD_BYTES_MAX + 1)];
    let head_bytes = match request.parse(window) {
        Ok(httparse::Status::Complete(head_bytes)) if head_bytes <= HEAD_BYTES_MAX => head_bytes,
        Ok(httparse::Status::Partial) if window.len() <= HEAD_BYTES_MAX => return Ok(Parsed::Partial),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Status::HeadTooLarge),
        Err(_) => return Err(Status::BadRequest),
    };
    let method = match request.method {
        Some("GET") => HttpMethod::Get,
        Some("POST") => HttpMethod::Post,
        Some(method) if OTHER_METHODS.contains(&method) => HttpMethod::Other,
        _ => return Err(Status::NotImplemented),
    };
    let is_1_1 = request.version == Some(1);
    let target = origin_form(request.path.unwrap_or_default().as_bytes());
    let mut parts = target.splitn(2, |&byte| byte == b'?');
    let mut head = RequestHead {
        method,
        path: parts.next().unwrap_or_default(),
        query: parts.next(),
        cookie: None,
        body_bytes: 0,
        keep_alive: is_1_1,
    };
    let (mut hosts, mut closes, mut body_bytes) = (0, false, None);
    for header in request.headers.iter() {
        let is = |name| header.name.eq_ignore_ascii_case(name);
        if is("host") {
            hosts += 1;
        } else if is("connection") {
            closes |= has_token(header.value, "close");
            head.keep_alive |= has_token(header.value, "keep-alive");
        } else if is("cookie") {
            head.cookie = head.cookie.or(Some(header.value));
        } else if is("content-length") {
            let value = decimal(header.value, u64::MAX).ok_or(Status::BadRequest)?;
            if body_bytes.is_some_and(|other| other != value) {
                return Err(Status::BadRequest);
            }
            body_bytes = Some(value);
        } else if is("transfer-encoding") {
            return Err(Status::NotImplemented);
        }
    }
    // RFC 9112, section 3.2.
    if is_1_1 && hosts != 1 {
        return Err(Status::BadRequest);
    }
    head.keep_alive &= !closes;
    head.body_bytes = usize::try_from(body_bytes.unwrap_or(0)).unwrap_or(usize::MAX);
    if head.body_bytes > BODY_BYTES_MAX {
        return Err(Status::ContentTooLarge);
    }
    Ok(Parsed::Complete { head, bytes: head_bytes })
}

/// Whether the empty line that ends a head is in `bytes`, of which the first `seen` bytes have none. So a head that
/// arrives byte by byte need not be parsed for each of them.
pub fn has_empty_line(bytes: &[u8], seen: usize) -> bool {
    let from = seen.saturating_sub(3);
    let mut lines = bytes[from..].split(|&byte| byte == b'\n');
    // What precedes the first LF may be the rest of a line.
    lines.next();
    let is_empty = |line: &[u8]| line.is_empty() || line == b"\r";
    lines.next_back().is_some() && lines.any(is_empty)
}

/// The path and query of a target, also if it has the absolute form of requests to a proxy.
fn origin_form(target: &[u8]) -> &[u8] {
    match target.strip_prefix(b"http://") {
        Some(rest) => rest.iter().position(|&byte| byte == b'/').map_or(b"/", |slash| &rest[slash..]),
        None => target,
    }
}

/// Whether a list of words that commas separate has this one, in any case.
pub(super) fn has_token(list: &[u8], token: &str) -> bool {
    list.split(|&byte| byte == b',').any(|word| word.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
