//! A connection over HTTP whose client waits for each answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use klatch_exchange::web::{BodyPiece, BodyReader, Parsed, parse_response};

use crate::finding::{Checked, wrong};
use crate::stream::connect;

/// Most bytes of a body. The largest file of a site has 1 MB.
const BODY_BYTES_MAX: usize = 16 << 20;
/// A whole reply may take so many times the time limit of one read.
const REPLY_TIMEOUT_FACTOR: u32 = 10;

/// A connection to a server.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    answer_timeout: Duration,
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
        let stream = connect(address, answer_timeout)?;
        Ok(HttpConnection { stream, answer_timeout, input: Vec::new() })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        self.stream.write_all(bytes).or_else(|error| wrong(format!("a request cannot be sent: {error}")))
    }

    /// Waits for a complete reply.
    pub(crate) fn reply(&mut self) -> Checked<Reply> {
        let deadline = Instant::now() + self.answer_timeout * REPLY_TIMEOUT_FACTOR;
        let (mut reply, mut reader) = loop {
            if let Some((reply, reader, bytes)) = parse_head(&self.input)? {
                self.input.drain(..bytes);
                break (reply, reader);
            }
            self.check_end(deadline, 0)?;
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
            self.check_end(deadline, reply.body.len())?;
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

    /// A reply must end, in time and before it fills the memory.
    fn check_end(&self, deadline: Instant, body_bytes: usize) -> Checked<()> {
        if body_bytes > BODY_BYTES_MAX {
            return wrong(format!("a body of over {BODY_BYTES_MAX} bytes"));
        }
        if Instant::now() >= deadline {
            let seconds = (self.answer_timeout * REPLY_TIMEOUT_FACTOR).as_secs_f64();
            return wrong(format!("a reply was not complete after {seconds} s"));
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::finding::CheckError;

    /// The finding about a reply of which the server writes this piece until the client hangs up.
    fn finding(piece: &'static [u8], interval: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(piece).is_ok() {
                std::thread::sleep(interval);
            }
        });
        let mut client = HttpConnection::connect(address, Duration::from_millis(50)).unwrap();
        let Err(CheckError::Wrong(finding)) = client.reply() else { panic!("a reply") };
        drop(client);
        server.join().unwrap();
        finding
    }

    #[test]
    fn a_reply_without_end_is_a_finding() {
        let endless = finding(&[b'x'; 65_536], Duration::ZERO);
        assert!(endless.contains("a body of over 16777216 bytes"), "{endless}");
        let slow = finding(b"x", Duration::from_millis(20));
        assert!(slow.contains("a reply was not complete after 0.5 s"), "{slow}");
    }
}
