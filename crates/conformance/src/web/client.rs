//! A client over HTTP that waits for each answer.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use klatch_exchange::web::{
    AdChoice, BodyCheck, BodyPiece, BodyReader, FileId, Operation, Parsed, Step, Target, parse_response,
    write_get,
};

use super::Site;
use crate::finding::{Checked, wrong};
use crate::stream::connect;

/// The value of the header Host.
const HOST: &str = "klatch";

/// A connection to the site.
pub(super) struct Connection<'a> {
    site: &'a Site,
    stream: TcpStream,
    /// Received bytes that belong to no reply yet.
    input: Vec<u8>,
}

/// A reply with its whole body.
pub(super) struct Reply {
    pub(super) status: u16,
    /// The value of the cookie `found_cookie`, if it has one.
    pub(super) ad_cookie: Option<Vec<u8>>,
    pub(super) body: Vec<u8>,
}

impl Site {
    pub(super) fn connect(&self) -> Checked<Connection<'_>> {
        let stream = connect(self.address, self.answer_timeout)?;
        Ok(Connection { site: self, stream, input: Vec::new() })
    }

    /// Sends a command on a connection of its own. Returns the body of the answer.
    pub(super) fn command(&self, target: &Target) -> Checked<Vec<u8>> {
        let mut connection = self.connect()?;
        connection.send(&get(target))?;
        let reply = connection.reply()?;
        if reply.status == 200 { Ok(reply.body) } else { wrong(format!("status {}", reply.status)) }
    }
}

impl Connection<'_> {
    pub(super) fn send(&mut self, bytes: &[u8]) -> Checked<()> {
        self.stream.write_all(bytes).or_else(|error| wrong(format!("a request cannot be sent: {error}")))
    }

    /// Waits for a complete reply.
    pub(super) fn reply(&mut self) -> Checked<Reply> {
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

    /// Sends a request and checks its reply to the last byte. Returns the number of bytes in the body.
    pub(super) fn exchange(&mut self, step: &Step) -> Checked<usize> {
        self.send(&request(step))?;
        self.check_reply(step)
    }

    /// Checks the reply to a request that was sent. Returns the number of bytes in the body.
    pub(super) fn check_reply(&mut self, step: &Step) -> Checked<usize> {
        let reply = self.reply()?;
        let path = String::from_utf8_lossy(&step.file.path()).into_owned();
        if reply.status != 200 {
            return wrong(format!("status {} for {path}", reply.status));
        }
        let chosen = match step.operation {
            Operation::Ad { user, last_ad } => {
                let expected = self.site.ads.choose(user, last_ad);
                let got = reply.ad_cookie.as_deref().and_then(AdChoice::parse_cookie);
                if got != Some(expected) {
                    let cookie = reply.ad_cookie.as_deref().map(String::from_utf8_lossy);
                    return wrong(format!("cookie {cookie:?} instead of ad {:?}", expected.ad));
                }
                expected.ad
            }
            _ => None,
        };
        let mut check = BodyCheck::new(step, chosen);
        let checked = check.feed(&self.site.content, &reply.body).and_then(|()| check.finish());
        match checked {
            Ok(()) => Ok(reply.body.len()),
            Err(error) => wrong(format!("{path}: {error}")),
        }
    }

    /// Waits until the server closes the connection, without another byte.
    pub(super) fn expect_close(&mut self) -> Checked<()> {
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

/// A request over HTTP/1.1 on a connection that stays open.
pub(super) fn step(operation: Operation, file: FileId) -> Step {
    Step { operation, file, single: false, first: false, last: false }
}

pub(super) fn request(step: &Step) -> Vec<u8> {
    let mut bytes = Vec::new();
    step.write(HOST, &mut bytes);
    bytes
}

pub(super) fn get(target: &Target) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_get(target, HOST, &mut bytes);
    bytes
}
