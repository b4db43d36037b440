//! A connection over HTTP whose client waits for each answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use klatch_exchange::web::{BodyPiece, BodyReader, Parsed, parse_response};

use crate::finding::{Checked, wrong};
use crate::stream::connect;

/// A connection to a server.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    /// Received bytes that belong to no reply yet.
    input: Vec<u8>,
}

/// A reply with its whole body.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The value of the cookie `found_cookie`, if it has one.
    pub(crate) ad_cookie: Option<Vec<u8>>,
    pub(crate) body: Vec<u8>,
}

impl HttpConnection {
    pub(crate) fn connect(address: SocketAddr, answer_timeout: Duration) -> Checked<HttpConnection> {
        Ok(HttpConnection { stream: connect(address, answer_timeout)?, input: Vec::new() })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        self.stream.write_all(bytes).or_else(|error| wrong(format!("a request cannot be sent: {error}")))
    }

    /// Waits for a complete reply.
    pub(crate) fn reply(&mut self) -> Checked<Reply> {
        let (mut reply, mut reader) = loop {
            if let Some((reply, reader, bytes)) = parse_head(&self.input)? {
                self.input.drain(..bytes);
                break (reply, reader);
            }
            if self.read()? == 0 {
                return wrong("the connection was closed before a reply was complete");
            }
        };
        loop {
            let mut rest = &self.input[..];
            let ended = loop {
                match reader.next(&mut rest) {
                    Err(error) => return wrong(format!("the body is no HTTP: {error}")),
                    Ok(BodyPiece::Data(data)) => reply.body.extend_from_slice(data),
                    Ok(BodyPiece::NeedMore) => break false,
                    Ok(BodyPiece::End) => break true,
                }
            };
            let used = self.input.len() - rest.len();
            self.input.drain(..used);
            if ended {
                return Ok(reply);
            }
            if self.read()? == 0 {
                if reader.may_end_with_connection() {
                    return Ok(reply);
                }
                return wrong(format!(
                    "the connection was closed after {} bytes of a body",
                    reply.body.len()
                ));
            }
        }
    }

    /// Waits until the server closes the connection, without another byte.
    pub(crate) fn expect_close(&mut self) -> Checked<()> {
        if !self.input.is_empty() || self.read()? > 0 {
            let more = String::from_utf8_lossy(&self.input).chars().take(40).collect::<String>();
            return wrong(format!("more bytes where the connection must close: {more}"));
        }
        Ok(())
    }

    /// Reads once. 0 is the end; a connection that the server resets has ended too.
    fn read(&mut self) -> Checked<usize> {
        let before = self.input.len();
        self.input.resize(before + 64 * 1024, 0);
        let result = self.stream.read(&mut self.input[before..]);
        self.input.truncate(before + result.as_ref().copied().unwrap_or(0));
        match result {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(0),
            Err(error) => wrong(format!("no answer: {error}")),
        }
    }
}

/// A reply without its body, the reader of its body, and the bytes of its head; `None` if the head is not complete.
fn parse_head(input: &[u8]) -> Checked<Option<(Reply, BodyReader, usize)>> {
    match parse_response(input) {
        Err(error) => wrong(format!("the answer is no HTTP: {error}")),
        Ok(Parsed::Partial) => Ok(None),
        Ok(Parsed::Complete { head, bytes }) => {
            let ad_cookie = head.set_cookie("found_cookie").map(<[u8]>::to_vec);
            let reply = Reply { status: head.status, ad_cookie, body: Vec::new() };
            Ok(Some((reply, BodyReader::new(head.body), bytes)))
        }
    }
}
