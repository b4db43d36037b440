//! Parses the heads of responses, and finds the end of their bodies, for the crowd.

use std::fmt;

use httparse::EMPTY_HEADER;

use super::body_piece::BodyPiece;
use super::chunked::{ChunkedDecoder, ChunkedError};
use super::request::{HEAD_BYTES_MAX, Parsed, has_token};
use super::text::decimal;

const HEADERS_MAX: usize = 64;
/// Most headers Set-Cookie that are kept. Servers add cookies of their own, such as one for a session.
const COOKIES_MAX: usize = 4;

/// The head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead<'a> {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The rule by which the body ends.
    pub body: BodyLength,
    /// The connection stays open after the body.
    pub keep_alive: bool,
    cookies: [Option<&'a [u8]>; COOKIES_MAX],
}

impl<'a> ResponseHead<'a> {
    /// The value of the header Set-Cookie for the cookie `name`, the name included.
    pub fn set_cookie(&self, name: &str) -> Option<&'a [u8]> {
        let is_named =
            |value: &&[u8]| value.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
        self.cookies.into_iter().flatten().find(is_named)
    }
}

/// The rule by which the body of a response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// The body has so many bytes.
    Fixed(u64),
    /// The body is sent in chunks, the last of which is empty.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// Why the bytes from a server are no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseError {
    /// The head breaks the rules of HTTP.
    Syntax,
    /// The head has more bytes or headers than the limit.
    HeadTooLarge,
    /// The head has two lengths of the body, or one that is not a number.
    Length,
    /// The body has a transfer coding other than `chunked`.
    TransferCoding,
    /// The chunks of the body break the rules of HTTP.
    Chunks(ChunkedError),
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResponseError::Syntax => f.write_str("the head is not HTTP/1"),
            ResponseError::HeadTooLarge => {
                write!(f, "the head exceeds {HEAD_BYTES_MAX} bytes or {HEADERS_MAX} headers")
            }
            ResponseError::Length => f.write_str("the length of the body is contradictory or no number"),
            ResponseError::TransferCoding => f.write_str("the transfer coding is not chunked alone"),
            ResponseError::Chunks(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ResponseError {}

/// Parses the head of a response to GET or POST at the beginning of `bytes`.
pub fn parse_response(bytes: &[u8]) -> Result<Parsed<ResponseHead<'_>>, ResponseError> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let window = &bytes[..bytes.len().min(HEAD_BYTES_MAX + 1)];
    let head_bytes = match response.parse(window) {
        Ok(httparse::Status::Complete(head_bytes)) if head_bytes <= HEAD_BYTES_MAX => head_bytes,
        Ok(httparse::Status::Partial) if window.len() <= HEAD_BYTES_MAX => return Ok(Parsed::Partial),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(ResponseError::HeadTooLarge),
        Err(_) => return Err(ResponseError::Syntax),
    };
    let status = response.code.filter(|code| *code >= 100).ok_or(ResponseError::Syntax)?;
    let mut keep_alive = response.version == Some(1);
    let (mut closes, mut chunked, mut length) = (false, false, None);
    let mut cookies = [None; COOKIES_MAX];
    let mut free_cookies = cookies.iter_mut();
    for header in response.headers.iter() {
        let is = |name| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let value = decimal(header.value, u64::MAX).ok_or(ResponseError::Length)?;
            if length.is_some_and(|other| other != value) {
                return Err(ResponseError::Length);
            }
            length = Some(value);
        } else if is("transfer-encoding") {
            if chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(ResponseError::TransferCoding);
            }
            chunked = true;
        } else if is("connection") {
            closes |= has_token(header.value, "close");
            keep_alive |= has_token(header.value, "keep-alive");
        } else if is("set-cookie")
            && let Some(free) = free_cookies.next()
        {
            *free = Some(header.value);
        }
    }
    let body = match (status, length) {
        (100..200 | 204 | 304, _) => BodyLength::Fixed(0),
        (_, Some(_)) if chunked => return Err(ResponseError::Length),
        (_, Some(bytes)) => BodyLength::Fixed(bytes),
        (_, None) if chunked => BodyLength::Chunked,
        (_, None) => BodyLength::UntilClose,
    };
    keep_alive &= !closes && body != BodyLength::UntilClose;
    let head = ResponseHead { status, body, keep_alive, cookies };
    Ok(Parsed::Complete { head, bytes: head_bytes })
}

/// Finds the bytes of a body and its end, however the received bytes are cut.
#[derive(Clone, Copy, Debug)]
pub enum BodyReader {
    /// So many bytes are missing.
    Fixed(u64),
    /// The body is sent in chunks.
    Chunked(ChunkedDecoder),
    /// All bytes belong to the body.
    UntilClose,
}

impl BodyReader {
    /// Starts to read a body whose end has this rule.
    pub fn new(length: BodyLength) -> BodyReader {
        match length {
            BodyLength::Fixed(bytes) => BodyReader::Fixed(bytes),
            BodyLength::Chunked => BodyReader::Chunked(ChunkedDecoder::default()),
            BodyLength::UntilClose => BodyReader::UntilClose,
        }
    }

    /// Takes the next piece from the front of `input`.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<BodyPiece<'a>, ResponseError> {
        let left = match self {
            BodyReader::Fixed(0) => return Ok(BodyPiece::End),
            BodyReader::Fixed(left) => left,
            BodyReader::Chunked(decoder) => return decoder.next(input).map_err(ResponseError::Chunks),
            BodyReader::UntilClose => &mut { u64::MAX },
        };
        let count = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
        if count == 0 {
            return Ok(BodyPiece::NeedMore);
        }
        *left -= count as u64;
        Ok(BodyPiece::Data(input.split_off(..count).expect("there are so many bytes")))
    }

    /// Whether the body may end because the connection does.
    pub fn may_end_with_connection(&self) -> bool {
        matches!(self, BodyReader::UntilClose)
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
