//! One line of workload `web`: its request in flight, and the check of the reply.

use klatch_exchange::web::{
    AdChoice, BodyCheck, BodyError, BodyPiece, BodyReader, DifferenceKind, FIRST_USER, LineScript, Operation,
    Parsed, ResponseHead, Step, parse_response,
};
use klatch_record::FaultKind;

use crate::link::Link;
use crate::protocol::shown_up_to;
use crate::site::{HOST, Site, joining_step};

/// Most characters of the first line of something that is no HTTP that a message shows.
const LINE_SHOWN_MAX: usize = 80;

/// What is wrong with a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyFault {
    pub(crate) kind: FaultKind,
    pub(crate) detail: String,
}

/// The result of looking for the next part of a reply.
pub(crate) enum ReplyPart {
    /// More bytes are needed.
    Incomplete,
    Complete(Option<ReplyFault>),
    /// No request is in flight.
    Unexpected,
    /// The bytes are no reply at all.
    NoHttp(String),
}

/// The progress of a line.
pub(crate) enum State {
    /// The next request may be sent.
    Idle,
    /// The head of the reply is missing.
    Head,
    /// A part of the body is missing.
    Body { reader: BodyReader, check: Box<BodyCheck>, fault: Option<ReplyFault>, keep_alive: bool },
    /// The server is to close the connection.
    Closing,
}

pub(crate) struct Line {
    pub(crate) number: u32,
    pub(crate) link: Link,
    pub(crate) script: LineScript,
    /// The request in flight, or the last one.
    pub(crate) step: Step,
    pub(crate) state: State,
    /// The intended send time of the request in flight, ns.
    pub(crate) meant_ns: u64,
    /// Number of requests sent so far.
    pub(crate) sent: u32,
    /// Number of right replies.
    pub(crate) verified: u64,
    /// Bytes of all replies.
    pub(crate) bytes: u64,
    /// When the line had its last reply, ns.
    pub(crate) last_ns: u64,
    pub(crate) done: bool,
}

impl Line {
    pub(crate) fn new(number: u32, script: LineScript) -> Line {
        Line {
            number,
            link: Link::default(),
            script,
            step: joining_step(),
            state: State::Idle,
            meant_ns: 0,
            sent: 0,
            verified: 0,
            bytes: 0,
            last_ns: 0,
            done: false,
        }
    }

    /// Appends a request to the output.
    pub(crate) fn request(&mut self, step: Step) {
        step.write(HOST, &mut self.link.out);
        self.step = step;
        self.state = State::Head;
    }

    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self.state, State::Head | State::Body { .. })
    }

    /// What the line received from the gate to its last reply, kbit/s.
    pub(crate) fn kbit_per_s(&self, gate_ns: u64) -> u64 {
        let elapsed_ns = self.last_ns.saturating_sub(gate_ns);
        if elapsed_ns == 0 { 0 } else { (self.bytes as f64 * 8e6 / elapsed_ns as f64) as u64 }
    }

    /// Takes the next part of a reply from the front of `input`.
    pub(crate) fn on_part(&mut self, input: &mut &[u8], site: &Site) -> ReplyPart {
        match &mut self.state {
            State::Idle | State::Closing => ReplyPart::Unexpected,
            State::Head => match parse_response(input) {
                Ok(Parsed::Partial) => ReplyPart::Incomplete,
                Ok(Parsed::Complete { head, bytes }) => {
                    self.start_body(&head, site);
                    *input = &input[bytes..];
                    // A body without bytes is complete.
                    self.on_part(input, site)
                }
                Err(error) => {
                    let line = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    let shown = shown_up_to(line, LINE_SHOWN_MAX);
                    ReplyPart::NoHttp(format!("the server answered no HTTP ({error}): {shown}"))
                }
            },
            State::Body { reader, check, fault, keep_alive } => loop {
                match reader.next(input) {
                    Ok(BodyPiece::Data(data)) => {
                        if fault.is_none() {
                            *fault = check.feed(&site.content, data).err().map(body_fault);
                        }
                    }
                    Ok(BodyPiece::NeedMore) => return ReplyPart::Incomplete,
                    Ok(BodyPiece::End) => {
                        let fault = fault.take().or_else(|| check.finish().err().map(body_fault));
                        let keep_alive = *keep_alive;
                        return ReplyPart::Complete(self.complete(fault, keep_alive));
                    }
                    Err(error) => return ReplyPart::NoHttp(format!("the server sent a wrong body: {error}")),
                }
            },
        }
    }

    fn start_body(&mut self, head: &ResponseHead<'_>, site: &Site) {
        let (ad, fault) = match self.step.operation {
            Operation::Ad { user, last_ad } => {
                let choice = site.ads.choose(user, last_ad);
                (choice.ad, wrong_cookie(head, &choice))
            }
            _ => (None, None),
        };
        let fault = match head.status {
            200 => fault,
            status => Some(wrong(format!("status {status} instead of 200"))),
        };
        let fault = fault.or_else(|| self.wrong_post_cookie(head));
        let check = Box::new(BodyCheck::new(&self.step, ad));
        let keep_alive = head.keep_alive;
        self.state = State::Body { reader: BodyReader::new(head.body), check, fault, keep_alive };
    }

    fn wrong_post_cookie(&self, head: &ResponseHead<'_>) -> Option<ReplyFault> {
        let Operation::Post { sequence, .. } = self.step.operation else { return None };
        let expected = format!("my_cookie={}", u64::from(sequence) + u64::from(FIRST_USER));
        let cookie = head.set_cookie("my_cookie");
        let is_right = cookie
            .is_some_and(|cookie| cookie.split(|byte| *byte == b';').next() == Some(expected.as_bytes()));
        (!is_right).then(|| wrong(format!("the cookie of the POST is not {expected}")))
    }

    /// The reply is complete. The connection stays open, or the server closes it.
    fn complete(&mut self, fault: Option<ReplyFault>, keep_alive: bool) -> Option<ReplyFault> {
        let stays_open = keep_alive && !self.step.last;
        self.state = if stays_open { State::Idle } else { State::Closing };
        let ignored = !keep_alive && !self.step.last;
        fault.or_else(|| {
            ignored.then(|| wrong("the server closes a connection that is to be kept open".to_owned()))
        })
    }

    /// The server has closed the connection. Returns what is wrong with that.
    pub(crate) fn on_end(&mut self, is_over: bool) -> Option<ReplyFault> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Closing => None,
            State::Idle if is_over => None,
            State::Idle => Some(wrong("the server closed a connection that is to be kept open".to_owned())),
            State::Head => Some(wrong(
                "the server closed a connection that is to be kept open, instead of a reply".to_owned(),
            )),
            State::Body { reader, check, fault, .. } => {
                let fault = fault.or_else(|| check.finish().err().map(body_fault));
                let cut = || wrong("the connection was closed within a reply".to_owned());
                fault.or_else(|| (!reader.may_end_with_connection()).then(cut))
            }
        }
    }
}

fn wrong(detail: String) -> ReplyFault {
    ReplyFault { kind: FaultKind::Wrong, detail }
}

fn wrong_cookie(head: &ResponseHead<'_>, choice: &AdChoice) -> Option<ReplyFault> {
    let actual = head.set_cookie("found_cookie").and_then(AdChoice::parse_cookie);
    let shown = || actual.as_ref().map_or("no cookie".to_owned(), |actual| format!("{actual:?}"));
    (actual.as_ref() != Some(choice)).then(|| wrong(format!("wrong ad: {} instead of {choice:?}", shown())))
}

/// A wrong body, named by what is wrong with it.
fn body_fault(error: BodyError) -> ReplyFault {
    let (kind, name) = match &error {
        BodyError::Content(difference) => match difference.kind {
            DifferenceKind::Identity => (FaultKind::Wrong, "wrong file"),
            DifferenceKind::StaleTag => (FaultKind::Wrong, "stale tag"),
            DifferenceKind::Tag => (FaultKind::Corrupted, "altered tag"),
            DifferenceKind::Text => (FaultKind::Corrupted, "altered byte"),
            DifferenceKind::Surplus => (FaultKind::Wrong, "long body"),
        },
        BodyError::Frame { .. } | BodyError::FrameEnd => (FaultKind::Corrupted, "altered frame"),
        BodyError::Short { .. } => (FaultKind::Wrong, "short body"),
    };
    ReplyFault { kind, detail: format!("{name}: {error}") }
}
