//! The reply to a request for a URL, as its bytes arrive. A reply that is as the first one is compared, and nothing of it is kept.

use klatch_exchange::web::{BodyLength, BodyPiece, BodyReader, Parsed, parse_response};

use crate::protocol::shown_up_to;
use crate::urls::{Seen, Urls};

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
    /// Bytes so far.
    length: usize,
    /// The first of them that is not that of the first body.
    differs_at: Option<usize>,
}

/// The result of looking for the next part of a reply.
pub(crate) enum Part {
    /// More bytes are needed.
    Incomplete,
    /// The reply is complete; with what is wrong with it, if anything is.
    Complete(Option<String>),
    /// The bytes are no reply at all.
    NoHttp(String),
}

/// How a connection ended for the reply that was awaited.
pub(crate) enum End {
    /// No byte of a reply was missing: before one, or after the last.
    Between,
    /// The end was that of the body.
    Complete(Option<String>),
    /// Within a reply.
    Cut(String),
}

pub(crate) struct UrlReply {
    state: State,
    /// The body from its first difference on, as far as it is kept. Empty if there is none.
    rest: Vec<u8>,
}

impl UrlReply {
    pub(crate) fn new() -> UrlReply {
        UrlReply { state: State::Head, rest: Vec::new() }
    }

    /// Whether the last reply of the connection is complete.
    pub(crate) fn is_closing(&self) -> bool {
        matches!(self.state, State::Closing)
    }

    /// Takes the next part of the reply of a URL from the front of `input`.
    pub(crate) fn next(&mut self, input: &mut &[u8], urls: &Urls, index: usize) -> Part {
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
                        let length = if urls.url(index).is_head { BodyLength::Fixed(0) } else { head.body };
                        let (reader, keep_alive) = (BodyReader::new(length), head.keep_alive);
                        let status = head.status;
                        self.state =
                            State::Body(Body { reader, status, keep_alive, length: 0, differs_at: None });
                    }
                    Err(error) => {
                        let line = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
                        let shown = shown_up_to(line, LINE_SHOWN_MAX);
                        return Part::NoHttp(format!("the server answered no HTTP ({error}): {shown}"));
                    }
                },
                State::Body(body) => match body.reader.next(input) {
                    Ok(BodyPiece::Data(data)) => {
                        body.feed(data, &urls.url(index).body, urls.kept_bytes_max(), &mut self.rest);
                    }
                    Ok(BodyPiece::NeedMore) => return Part::Incomplete,
                    Ok(BodyPiece::End) => return Part::Complete(self.complete(urls, index)),
                    Err(error) => return Part::NoHttp(format!("the server sent a wrong body: {error}")),
                },
            }
        }
    }

    /// The reply is complete. Returns what is wrong with it.
    fn complete(&mut self, urls: &Urls, index: usize) -> Option<String> {
        let State::Body(body) = std::mem::replace(&mut self.state, State::Head) else { return None };
        if !body.keep_alive {
            self.state = State::Closing;
        }
        let is_short = body.length < urls.url(index).body.len();
        let differs_at = body.differs_at.or(is_short.then_some(body.length));
        let seen = Seen { status: body.status, length: body.length, differs_at, rest: &self.rest };
        let fault = urls.fault(index, &seen);
        self.rest.clear();
        fault
    }

    /// The server has closed the connection, and a new one follows.
    pub(crate) fn on_end(&mut self, urls: &Urls, index: usize) -> End {
        let end = match &self.state {
            State::Head | State::Closing => End::Between,
            State::Body(body) if body.reader.may_end_with_connection() => {
                End::Complete(self.complete(urls, index))
            }
            State::Body(body) => {
                let of = match body.reader {
                    BodyReader::Fixed(left) => format!(" of {}", body.length as u64 + left),
                    _ => String::new(),
                };
                End::Cut(format!("the connection was closed after {}{of} bytes of the body", body.length))
            }
        };
        *self = UrlReply::new();
        end
    }
}

impl Body {
    /// Compares the next bytes with those of the first body.
    fn feed(&mut self, data: &[u8], first: &[u8], kept_bytes_max: usize, rest: &mut Vec<u8>) {
        let begin = self.length;
        self.length += data.len();
        if self.differs_at.is_none() {
            if first.get(begin..self.length) == Some(data) {
                return;
            }
            let expected = first.get(begin..).unwrap_or_default();
            let common = data.iter().zip(expected).take_while(|(byte, other)| byte == other).count();
            self.differs_at = Some(begin + common);
            rest.extend_from_slice(&data[common..][..(data.len() - common).min(kept_bytes_max)]);
        } else {
            rest.extend_from_slice(&data[..data.len().min(kept_bytes_max - rest.len())]);
        }
    }
}
