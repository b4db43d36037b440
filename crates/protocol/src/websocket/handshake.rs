//! The opening handshake, for both sides.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

/// The subprotocol of IRCv3 whose messages are texts.
pub const TEXT_SUBPROTOCOL: &str = "text.ircv3.net";
/// The subprotocol of IRCv3 whose messages are bytes.
pub const BINARY_SUBPROTOCOL: &str = "binary.ircv3.net";

/// What RFC 6455 appends to a key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Most bytes of the head of a request or an answer.
const HEAD_BYTES_MAX: usize = 8 * 1024;
const HEADERS_MAX: usize = 64;

/// The value of `Sec-WebSocket-Accept` that answers a key.
pub fn accept_value(key: &str) -> String {
    let mut sha1 = sha1_smol::Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(GUID.as_bytes());
    STANDARD.encode(sha1.digest().bytes())
}

/// What a server does with a request to open a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes of the request; frames follow.
    pub request_bytes: usize,
    /// The head of the answer, which opens the connection.
    pub head: Vec<u8>,
    /// The agreed subprotocol; `None` if the client asked for none that the server has.
    pub subprotocol: Option<&'static str>,
}

/// The answer to a request that opens no WebSocket; the connection is closed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(pub Vec<u8>);

impl Rejection {
    fn new(status: &str, header: &str, reason: &str) -> Rejection {
        let length = reason.len() + 1;
        let text = format!(
            "HTTP/1.1 {status}\r\n{header}Content-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{reason}\n"
        );
        Rejection(text.into_bytes())
    }

    fn bad(reason: &str) -> Rejection {
        Rejection::new("400 Bad Request", "", reason)
    }
}

/// Answers the request at the start of `input`; `None` if it is incomplete.
///
/// # Errors
/// It does not open a WebSocket of version 13.
pub fn accept(input: &[u8]) -> Result<Option<Answer>, Rejection> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let request_bytes = match request.parse(input) {
        Ok(httparse::Status::Complete(bytes)) if bytes <= HEAD_BYTES_MAX => bytes,
        Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) => return Err(Rejection::bad("the head of the request is too long")),
        Err(_) => return Err(Rejection::bad("this is no HTTP request")),
    };
    if request.method != Some("GET") || request.version != Some(1) {
        return Err(Rejection::bad("a WebSocket begins with GET and HTTP/1.1"));
    }
    let headers = Headers(request.headers);
    if headers.one("host").is_none() {
        return Err(Rejection::bad("the request names no host"));
    }
    if !headers.has_token("upgrade", "websocket") || !headers.has_token("connection", "upgrade") {
        return Err(Rejection::new(
            "426 Upgrade Required",
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
            "this port speaks WebSocket only",
        ));
    }
    if headers.one("sec-websocket-version") != Some("13") {
        return Err(Rejection::new(
            "426 Upgrade Required",
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
            "the version of WebSocket must be 13",
        ));
    }
    let is_key = |key: &&str| STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16);
    let Some(key) = headers.one("sec-websocket-key").filter(is_key) else {
        return Err(Rejection::bad("the key of the request is not 16 bytes in base64"));
    };
    let subprotocol = headers
        .tokens("sec-websocket-protocol")
        .find_map(|asked| [TEXT_SUBPROTOCOL, BINARY_SUBPROTOCOL].into_iter().find(|&known| known == asked));
    let mut head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n",
        accept_value(key)
    );
    if let Some(agreed) = subprotocol {
        head += &format!("Sec-WebSocket-Protocol: {agreed}\r\n");
    }
    head += "\r\n";
    Ok(Some(Answer { request_bytes, head: head.into_bytes(), subprotocol }))
}

/// What a request says of the page that it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSource<'a> {
    /// Path and query that it asks for.
    pub target: &'a str,
    /// The host that it was sent to, as the client names it.
    pub host: &'a str,
    /// The origin of the page; only browsers name it.
    pub origin: Option<&'a str>,
}

/// The source of a request that [`accept`] answers; `None` of any other.
pub fn request_source(input: &[u8]) -> Option<RequestSource<'_>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(input).ok().filter(httparse::Status::is_complete)?;
    let target = request.path?;
    let headers = Headers(request.headers);
    Some(RequestSource { target, host: headers.one("host")?, origin: headers.one("origin") })
}

/// Appends a client's request, with the origin of a page of that host, since some servers demand one. `key` is any 16 bytes; `subprotocol` is the one that it asks for, if any.
pub fn write_request(out: &mut Vec<u8>, host: &str, path: &str, key: [u8; 16], subprotocol: Option<&str>) {
    let key = STANDARD.encode(key);
    let mut text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    if let Some(name) = subprotocol {
        text += &format!("Sec-WebSocket-Protocol: {name}\r\n");
    }
    text += "\r\n";
    out.extend_from_slice(text.as_bytes());
}

/// Why a server's answer opens no WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HandshakeError {
    /// The answer is not HTTP.
    #[error("the server does not answer in HTTP, so it speaks no WebSocket at this port; it sent: {0}")]
    NotHttp(String),
    /// The answer has another status than 101.
    #[error("the server answered the WebSocket handshake with status {0} {1}")]
    Status(u16, String),
    /// The answer is not what the key demands, or lacks a header.
    #[error("the server's answer to the WebSocket handshake is wrong: {0}")]
    Wrong(&'static str),
    /// The server chose another subprotocol, or none.
    #[error("the server agreed to {}, and was asked for {asked}", agreed.as_deref().map_or("no subprotocol".to_owned(), |name| format!("subprotocol {name}")))]
    Subprotocol {
        /// The subprotocol that the client asked for.
        asked: String,
        /// The server's choice, if it made one.
        agreed: Option<String>,
    },
}

/// Checks the server's answer at the start of `input`. Returns its length in bytes; `None` if it is incomplete.
///
/// # Errors
/// The answer opens no WebSocket with the subprotocol that was asked for.
pub fn check_answer(
    input: &[u8],
    key: [u8; 16],
    subprotocol: Option<&str>,
) -> Result<Option<usize>, HandshakeError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut answer = httparse::Response::new(&mut headers);
    let bytes = match answer.parse(input) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return Ok(None),
        _ => {
            let line = input.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
            let shown: String = String::from_utf8_lossy(line).chars().take(80).collect();
            return Err(HandshakeError::NotHttp(shown.escape_debug().to_string()));
        }
    };
    let code = answer.code.unwrap_or_default();
    if code != 101 {
        return Err(HandshakeError::Status(code, answer.reason.unwrap_or_default().to_owned()));
    }
    let headers = Headers(answer.headers);
    if !headers.has_token("upgrade", "websocket") || !headers.has_token("connection", "upgrade") {
        return Err(HandshakeError::Wrong("it upgrades to something else"));
    }
    if headers.one("sec-websocket-accept") != Some(accept_value(&STANDARD.encode(key)).as_str()) {
        return Err(HandshakeError::Wrong("Sec-WebSocket-Accept does not belong to the key"));
    }
    if headers.one("sec-websocket-extensions").is_some() {
        return Err(HandshakeError::Wrong("it has extensions, and none was offered"));
    }
    let agreed = headers.one("sec-websocket-protocol");
    match subprotocol {
        Some(asked) if agreed != Some(asked) => {
            Err(HandshakeError::Subprotocol { asked: asked.to_owned(), agreed: agreed.map(str::to_owned) })
        }
        None if agreed.is_some() => {
            Err(HandshakeError::Wrong("it chose a subprotocol, and none was offered"))
        }
        _ => Ok(Some(bytes)),
    }
}

/// Header fields; names compare without regard to case.
struct Headers<'a, 'b>(&'a [httparse::Header<'b>]);

impl<'b> Headers<'_, 'b> {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &'b str> {
        let named = self.0.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.filter_map(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
    }

    /// The value of a field that stands once.
    fn one(&self, name: &'static str) -> Option<&'b str> {
        let mut values = self.values(name);
        values.next().filter(|_| values.next().is_none())
    }

    /// The elements of a field that is a list.
    fn tokens(&self, name: &'static str) -> impl Iterator<Item = &'b str> {
        self.values(name).flat_map(|value| value.split(',')).map(str::trim)
    }

    fn has_token(&self, name: &'static str, token: &str) -> bool {
        self.tokens(name).any(|one| one.eq_ignore_ascii_case(token))
    }
}
