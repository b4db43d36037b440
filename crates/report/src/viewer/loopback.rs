//! An HTTP server on 127.0.0.1 that answers only requests from its own pages. Each connection has one request, a thread and a limit
//! for everything that its client may do: a client that sends too much, or takes too long, or does not read, is closed, and no other
//! notices.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::viewer::error::ViewerError;
use crate::viewer::timed_writer::TimedWriter;

/// Most bytes of the head of a request. Those of browsers have about 600.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Most headers of a request.
const HEADERS_MAX: usize = 64;
/// Connections at a time; more are closed at once. Watchers are among them.
const CONNECTIONS_MAX: usize = 64;
/// Longest time without a connection that is accepted, after an accept has failed for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Input that is read and discarded after an answer, so that a reset does not cost the client the answer.
const DISCARD_BYTES_MAX: usize = 1 << 20;

/// The times that a client has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For the head of its request.
    pub(crate) head: Duration,
    /// To take a whole answer, or one event of a stream.
    pub(crate) answer: Duration,
    /// To close after its answer.
    pub(crate) linger: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let [head, answer, linger] = [10, 30, 1].map(Duration::from_secs);
        Limits { head, answer, linger }
    }
}

/// A request of one of the server's own pages.
#[derive(Debug)]
pub struct Request {
    /// Path and query, as they were sent.
    pub target: String,
}

/// The answer to a request. The connection closes after it.
pub struct Answer {
    status: u16,
    content_type: &'static str,
    body: Body,
}

enum Body {
    Whole(Vec<u8>),
    Stream(WriteEvents),
}

/// Writes events until writing fails.
type WriteEvents = Box<dyn FnOnce(&mut dyn Write) + Send>;

impl Answer {
    /// A page of HTML. It has a content security policy of its own; no other page may frame it.
    pub fn html(page: String) -> Answer {
        Answer { status: 200, content_type: "text/html; charset=utf-8", body: Body::Whole(page.into()) }
    }

    /// Metrics in the text format of Prometheus.
    pub(crate) fn metrics(text: String) -> Answer {
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        Answer { status: 200, content_type, body: Body::Whole(text.into()) }
    }

    /// A short text with a status other than 200.
    pub fn text(status: u16, text: &str) -> Answer {
        Answer {
            status,
            content_type: "text/plain; charset=utf-8",
            body: Body::Whole(text.as_bytes().to_vec()),
        }
    }

    /// Server-sent events: `write` writes and flushes each, until writing fails.
    pub(crate) fn events(write: impl FnOnce(&mut dyn Write) + Send + 'static) -> Answer {
        Answer { status: 200, content_type: "text/event-stream", body: Body::Stream(Box::new(write)) }
    }

    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let length = match &self.body {
            Body::Whole(body) => format!("Content-Length: {}\r\n", body.len()),
            Body::Stream(_) => String::new(),
        };
        format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\n{length}Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nConnection: close\r\n\r\n",
            self.status, self.content_type
        )
    }
}

/// The listening server with its port.
pub struct Loopback {
    listener: TcpListener,
    port: u16,
    limits: Limits,
}

impl Loopback {
    /// Listens on this port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The port is in use, or not permitted.
    pub fn bind(port: u16) -> Result<Loopback, ViewerError> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        let (port, listener) =
            bound.map_err(|error| ViewerError::Listen { port, cause: error.to_string() })?;
        Ok(Loopback { listener, port, limits: Limits::default() })
    }

    /// The same with other times for clients.
    #[cfg(test)]
    pub(crate) fn with_limits(self, limits: Limits) -> Loopback {
        Loopback { limits, ..self }
    }

    /// The address of the start page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers requests for ever, each in a thread of its own. Requests that are not from its own pages are refused before `answer`.
    pub fn serve(&self, answer: impl Fn(Request) -> Answer + Send + Sync + 'static) {
        let answer = Arc::new(answer);
        let connections = Arc::new(AtomicUsize::new(0));
        loop {
            let Ok((stream, _)) = self.listener.accept() else {
                // Connections wait in the backlog until others have closed.
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            };
            let place = Place(Arc::clone(&connections));
            if place.0.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                continue;
            }
            let (answer, port, limits) = (Arc::clone(&answer), self.port, self.limits);
            // Without a thread the connection is closed, which the browser shows. The client may be gone at any time.
            let serve = move || drop((serve_one(&stream, port, limits, &*answer), place));
            let _ = std::thread::Builder::new().name("page".to_owned()).spawn(serve);
        }
    }
}

/// A connection's share of [`CONNECTIONS_MAX`].
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve_one(
    stream: &TcpStream,
    port: u16,
    limits: Limits,
    answer: &(impl Fn(Request) -> Answer + ?Sized),
) -> io::Result<()> {
    let answer = match read_head(stream, limits.head)? {
        Ok(head) => match parse(&head, port) {
            Ok(request) => answer(request),
            Err(refusal) => refusal,
        },
        Err(refusal) => refusal,
    };
    let mut out = TimedWriter::new(stream, limits.answer)?;
    out.write_all(answer.head().as_bytes())?;
    match answer.body {
        Body::Whole(body) => out.write_all(&body)?,
        Body::Stream(write) => {
            out.flush()?;
            write(&mut out);
        }
    }
    linger(stream, limits.linger)
}

/// Reads up to the empty line after a head. The outer error ends the connection without an answer.
fn read_head(stream: &TcpStream, patience: Duration) -> io::Result<Result<Vec<u8>, Answer>> {
    let deadline = Instant::now() + patience;
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match read_before(stream, &mut buffer, deadline) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                let seen = head.len().saturating_sub(3);
                head.extend_from_slice(&buffer[..bytes]);
                if head[seen..].windows(4).any(|end| end == b"\r\n\r\n") {
                    return Ok(Ok(head));
                }
                if head.len() > HEAD_BYTES_MAX {
                    return Ok(Err(Answer::text(431, "the head of the request is too long")));
                }
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                return Ok(Err(Answer::text(408, "the request did not arrive in time")));
            }
            Err(error) => return Err(error),
        }
    }
}

/// One read that ends at the deadline with [`ErrorKind::TimedOut`].
pub(crate) fn read_before(mut stream: &TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.read(buffer).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    })
}

/// The request in a head, or its refusal.
fn parse(head: &[u8], port: u16) -> Result<Request, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Answer::text(431, "the request has too many headers"));
        }
        _ => return Err(Answer::text(400, "this is no request of HTTP/1")),
    }
    if !is_own(&request, port) {
        return Err(Answer::text(403, &format!("use http://127.0.0.1:{port}/ as klatch printed it")));
    }
    if request.method != Some("GET") {
        return Err(Answer::text(405, "only GET is served"));
    }
    Ok(Request { target: request.path.unwrap_or_default().to_owned() })
}

/// DNS rebinding: a foreign page under a host name that resolves to this machine must not read the results. Browsers send the origin of
/// a foreign page under its own name.
fn is_own(request: &httparse::Request, port: u16) -> bool {
    let values = |name: &'static str| {
        let named = request.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| std::str::from_utf8(header.value).unwrap_or_default())
    };
    let is_own_host = |host: &str| own_hosts(port).iter().any(|own| own == host);
    values("Host").count() == 1
        && values("Host").all(is_own_host)
        && values("Origin").all(|origin| is_own_origin(origin, port))
}

/// Ends the output, and reads on until the client has closed: closing with unread input would reset the connection.
fn linger(mut stream: &TcpStream, patience: Duration) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + patience;
    let mut buffer = [0; 4096];
    let mut discarded = 0;
    while discarded < DISCARD_BYTES_MAX {
        match read_before(stream, &mut buffer, deadline)? {
            0 => break,
            bytes => discarded += bytes,
        }
    }
    stream.flush()
}

/// The names under which a port of this machine is reached.
pub(crate) fn own_hosts(port: u16) -> [String; 2] {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
}

/// Whether a page is one that is served on this port.
pub(crate) fn is_own_origin(origin: &str, port: u16) -> bool {
    origin.strip_prefix("http://").is_some_and(|host| own_hosts(port).iter().any(|own| own == host))
}

#[cfg(test)]
#[path = "loopback_tests.rs"]
mod tests;
