//! One connection to a [`Site`]: finds the requests in the received bytes, and replies in their order.

use std::net::IpAddr;
use std::sync::Arc;

use klatch_protocol::service::{Flow, Outbox, Service, Visit};

use super::reply::refusal;
use super::request::{HEAD_BYTES_MAX, Parsed, has_empty_line, parse_request};
use super::site::{Request, Site};
use super::status::Status;

/// One connection to a [`Site`].
pub struct SiteVisit<O> {
    site: Arc<Site>,
    outbox: O,
    from: IpAddr,
    /// The beginning of a request that is not complete; at most a head and a body.
    pending: Vec<u8>,
    /// What must be there before `pending` is parsed again.
    missing: Missing,
    /// Number of the incomplete request in `pending`.
    incomplete: u64,
    /// The last reply is in the outbox; further requests are ignored.
    closing: bool,
    /// The last reply was that to a request after which the connection closes.
    served_last: bool,
}

/// What an incomplete request lacks.
#[derive(Clone, Copy)]
enum Missing {
    /// The empty line after the head.
    EmptyLine,
    /// A request of so many bytes.
    Bytes(usize),
}

/// The result of looking for a request.
enum Next {
    /// It has so many bytes and was served.
    Served(usize),
    Incomplete(Missing),
    /// It was served, and its client sends no other.
    Last,
    /// It was refused, and what follows cannot be found.
    Close,
}

impl<O: Outbox + Send + Sync + 'static> Service<O> for Site {
    type Visit = SiteVisit<O>;

    const REPLIES_ONLY: bool = true;
    /// A few requests of a pipeline; one has about 150 bytes.
    const READ_BYTES: usize = 4 * 1024;

    fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> SiteVisit<O> {
        let site = Arc::clone(self);
        SiteVisit {
            site,
            outbox,
            from,
            pending: Vec::new(),
            missing: Missing::EmptyLine,
            incomplete: 0,
            closing: false,
            served_last: false,
        }
    }

    /// There is none: after a part of a reply, a client would take it for the rest of that reply.
    fn closing_message(_: &[u8]) -> Arc<[u8]> {
        Arc::default()
    }
}

impl<O: Outbox> SiteVisit<O> {
    /// Serves the requests in `input`. Returns the bytes that they have.
    fn serve(&mut self, input: &[u8]) -> usize {
        let mut used = 0;
        while used < input.len() {
            match self.serve_first(&input[used..]) {
                Next::Served(bytes) => used += bytes,
                Next::Incomplete(missing) => {
                    self.missing = missing;
                    break;
                }
                next @ (Next::Last | Next::Close) => {
                    self.served_last = matches!(next, Next::Last);
                    self.closing = true;
                    return input.len();
                }
            }
        }
        used
    }

    fn serve_first(&self, input: &[u8]) -> Next {
        let (head, head_bytes) = match parse_request(input) {
            Ok(Parsed::Complete { head, bytes }) => (head, bytes),
            Ok(Parsed::Partial) => return Next::Incomplete(Missing::EmptyLine),
            Err(status) => {
                self.outbox.send(&refusal(status, false, None));
                return Next::Close;
            }
        };
        let bytes = head_bytes + head.body_bytes;
        let Some(body) = input.get(head_bytes..bytes) else {
            return Next::Incomplete(Missing::Bytes(bytes));
        };
        self.site.reply(&Request { head, body, from: self.from }, &self.outbox);
        if head.keep_alive { Next::Served(bytes) } else { Next::Last }
    }

    /// Whether parsing `pending` is worthwhile, of which the first `seen` bytes were there before.
    fn may_be_complete(&self, seen: usize) -> bool {
        match self.missing {
            Missing::EmptyLine => self.pending.len() > HEAD_BYTES_MAX || has_empty_line(&self.pending, seen),
            Missing::Bytes(bytes) => self.pending.len() >= bytes,
        }
    }
}

impl<O: Outbox + Send + Sync + 'static> Visit for SiteVisit<O> {
    fn feed(&mut self, bytes: &[u8]) -> Flow {
        if self.closing {
            return Flow::Close;
        }
        // Almost every request arrives in one piece and needs no copy.
        if self.pending.is_empty() {
            let used = self.serve(bytes);
            if used < bytes.len() {
                self.pending.extend_from_slice(&bytes[used..]);
                self.incomplete += 1;
            }
        } else {
            let seen = self.pending.len();
            self.pending.extend_from_slice(bytes);
            if self.may_be_complete(seen) {
                let mut pending = std::mem::take(&mut self.pending);
                let used = self.serve(&pending);
                if used < pending.len() {
                    pending.drain(..used);
                    self.pending = pending;
                    self.incomplete += u64::from(used > 0);
                }
            }
        }
        if self.closing { Flow::Close } else { Flow::Continue }
    }

    /// Refuses a request of which a part was received; a connection without one just closes.
    fn close(&mut self, _: &[u8]) {
        if !self.pending.is_empty() && !self.closing {
            self.outbox.send(&refusal(Status::RequestTimeout, false, None));
        }
        self.closing = true;
    }

    fn hang_up(&mut self, _: &[u8]) {
        self.closing = true;
    }

    /// A client sends nothing after its last request. One whose request was refused may be in the middle of it.
    fn may_send_more(&self) -> bool {
        !self.served_last
    }

    /// A line may connect long before it sends its first request.
    fn registered(&self) -> bool {
        true
    }

    fn incomplete_request(&self) -> Option<u64> {
        (!self.pending.is_empty() && !self.closing).then_some(self.incomplete)
    }
}

#[cfg(test)]
#[path = "site_visit_tests.rs"]
mod tests;
