//! One request to a server over HTTP, on a connection of its own, before or after a run.

use std::io::ErrorKind;
use std::time::Duration;

use klatch_exchange::web::{BodyLength, BodyPiece, BodyReader, Parsed, ResponseError, parse_response};
use thiserror::Error;

use crate::addresses::Addresses;
use crate::channel::ClientEndpoint;
use crate::timed_connection::TimedConnection;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The connection ended early.
    #[error("the server closed the connection before the end of its answer")]
    Ended,
    /// The server's answer is no HTTP.
    #[error("the server answered no HTTP: {0}")]
    Http(#[from] ResponseError),
    /// The answer was not complete in time.
    #[error("the server's answer was not complete after {0} s")]
    Late(f64),
    /// The body has no end, or one that is far too late.
    #[error("the body of the server's answer has over {0} bytes")]
    TooLong(usize),
    /// TLS was agreed on, and no HTTP/2.
    #[error("the server does not choose HTTP/2 (h2 in ALPN)")]
    NotChosen,
    /// There is no complete answer in HTTP/2, as the words say.
    #[error("{0}")]
    Broken(String),
    /// The server allows too few streams.
    #[error(
        "the server allows {allowed} streams of a connection at a time, fewer than the {wanted} of the setting streams"
    )]
    Streams {
        /// Those that the server allows.
        allowed: usize,
        /// Those of the workload.
        wanted: usize,
    },
}

/// Where a request is sent, and what is accepted as an answer.
#[derive(Clone, Debug)]
pub(crate) struct HttpServer {
    /// How it is reached.
    pub(crate) server: ClientEndpoint,
    /// Its addresses, which are tried in turn.
    pub(crate) addresses: Addresses,
    /// Longest time for each attempt to connect.
    pub(crate) connect_timeout: Duration,
    /// Longest time from then to the end of the answer.
    pub(crate) answer_timeout: Duration,
}

impl HttpServer {
    /// Sends a request. Returns the status and the body of the answer, which may have `body_bytes_max`.
    pub(crate) fn answer(&self, request: &[u8], body_bytes_max: usize) -> Result<(u16, Vec<u8>), HttpError> {
        self.reply(request, false, body_bytes_max)
    }

    /// The same; `is_head`: the answer has no body, whatever its head says.
    pub(crate) fn reply(
        &self,
        request: &[u8],
        is_head: bool,
        body_bytes_max: usize,
    ) -> Result<(u16, Vec<u8>), HttpError> {
        self.in_time(|connection| Exchange(connection).answer(request, is_head, body_bytes_max))
    }

    /// Exchanges something on a connection of its own, in time.
    pub(crate) fn in_time<T>(
        &self,
        exchange: impl FnOnce(&mut TimedConnection) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        let (connect, answer) = (self.connect_timeout, self.answer_timeout);
        let mut connection = TimedConnection::open(&self.server, &self.addresses, connect, answer)?;
        exchange(&mut connection).map_err(|error| match error {
            HttpError::Io(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                HttpError::Late(self.answer_timeout.as_secs_f64())
            }
            other => other,
        })
    }
}

/// A request and its answer, under way.
struct Exchange<'a>(&'a mut TimedConnection);

impl Exchange<'_> {
    fn answer(
        &mut self,
        request: &[u8],
        is_head: bool,
        body_bytes_max: usize,
    ) -> Result<(u16, Vec<u8>), HttpError> {
        self.0.write(request)?;
        let mut received = Vec::new();
        let (status, length) = loop {
            if let Parsed::Complete { head, bytes } = parse_response(&received)? {
                let (status, length) = (head.status, head.body);
                received.drain(..bytes);
                // Others are interim answers.
                if status >= 200 {
                    break (status, if is_head { BodyLength::Fixed(0) } else { length });
                }
            } else if self.0.read(&mut received)? == 0 {
                return Err(HttpError::Ended);
            }
        };
        let (mut body, mut reader) = (Vec::new(), BodyReader::new(length));
        loop {
            let mut rest = &received[..];
            loop {
                match reader.next(&mut rest)? {
                    BodyPiece::Data(data) => body.extend_from_slice(data),
                    BodyPiece::NeedMore => break,
                    BodyPiece::End => return Ok((status, body)),
                }
            }
            if body.len() > body_bytes_max {
                return Err(HttpError::TooLong(body_bytes_max));
            }
            received.clear();
            if self.0.read(&mut received)? == 0 {
                let is_whole = reader.may_end_with_connection();
                return if is_whole { Ok((status, body)) } else { Err(HttpError::Ended) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use klatch_record::{Connecting, ProtocolName};

    use super::*;

    /// The error of an answer that a server writes until the client hangs up: these bytes, again and again at this interval.
    fn error(head: &'static str, piece: &'static [u8], interval: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = Addresses::new(vec![listener.local_addr().unwrap()], &Connecting::default());
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let _ = stream.write_all(head.as_bytes());
            while stream.write_all(piece).is_ok() {
                std::thread::sleep(interval);
            }
        });
        let server_side = HttpServer {
            server: ClientEndpoint::plain(ProtocolName::Http, "127.0.0.1", 1),
            addresses,
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_millis(300),
        };
        let error = server_side.answer(b"GET / HTTP/1.1\r\n\r\n", 1 << 20).unwrap_err().to_string();
        server.join().unwrap();
        error
    }

    #[test]
    fn an_answer_without_end_is_an_error() {
        let until_close = "HTTP/1.1 200 OK\r\n\r\n";
        let too_long = "the body of the server's answer has over 1048576 bytes";
        assert_eq!(error(until_close, &[b'x'; 65_536], Duration::ZERO), too_long);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n";
        assert_eq!(error(chunked, &[b'x'; 65_536], Duration::ZERO), too_long);
        let late = "the server's answer was not complete after 0.3 s";
        let step = Duration::from_millis(20);
        assert_eq!(error("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x", step), late);
        assert_eq!(error("HTTP/1.1 200 OK\r\n", b"x", step), late);
        assert_eq!(
            error("HTTP/1.1 200 OK\r\nX: ", &[b'x'; 4096], Duration::ZERO),
            "the server answered no HTTP: the head exceeds 8192 bytes or 64 headers"
        );
    }
}
