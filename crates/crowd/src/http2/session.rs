//! The client's side of one connection of HTTP/2 as bytes in and bytes out: the library `h2` on a stream in memory. Nothing runs by itself:
//! the library works while it is polled.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Error, Reason, RecvStream};

use crate::http2::memory_stream::MemoryStream;
use crate::http2::ready_slots::ReadySlots;
use crate::http2::template::Template;
use crate::link::OUT_MAX;
use crate::protocol::shown_up_to;

/// Bytes of a body that a server may send before it is told to go on. What arrives is taken at once, so these cost no memory.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
/// The same of all bodies of a connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Most bytes of the head of a reply, as HTTP/2 counts them.
const HEAD_BYTES_MAX: u32 = 16 << 10;
/// How a server that speaks an older version answers.
const OLDER: &[u8] = b"HTTP/1";
/// Most characters of its answer that a message shows.
const SHOWN_MAX: usize = 80;

/// Something new about a request.
pub(crate) enum Event {
    /// The status of its reply.
    Status(u16),
    /// A part of the body.
    Data(Bytes),
    /// The reply is complete, and its slot free.
    Complete,
    /// There is no complete reply, as the words say. Its slot is free.
    Broken(String),
}

/// How the server ended the connection.
#[derive(Clone, Copy)]
pub(crate) struct GoAway(Reason);

impl GoAway {
    /// The code, if it is that of an error.
    pub(crate) fn error(self) -> Option<String> {
        (self.0 != Reason::NO_ERROR).then(|| format!("{:?}", self.0))
    }
}

/// A place for a request and its reply.
struct Slot {
    stream: Stream,
    waker: Waker,
}

enum Stream {
    /// There is none, or none yet.
    None,
    /// The head of the reply is missing.
    Head(ResponseFuture),
    Body(RecvStream),
    /// The whole body was taken.
    Ended,
}

pub(crate) struct Session {
    wire: MemoryStream,
    connection: Connection<MemoryStream, Bytes>,
    /// `None` once the session is to end.
    sender: Option<SendRequest<Bytes>>,
    templates: Arc<[Template]>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    ready: Arc<ReadySlots>,
    /// Slot and template of each request that is not sent yet.
    waiting: VecDeque<(usize, usize)>,
    /// Streams whose replies are not complete.
    open: usize,
    /// The slot whose events are taken.
    at: Option<usize>,
    /// Something was received.
    has_begun: bool,
    /// The library is to be polled before output is complete.
    is_stale: bool,
    go_away: Option<GoAway>,
    /// The server violates the protocol, or speaks another one.
    failure: Option<String>,
}

impl Session {
    /// A session with at most so many requests at a time, whose first bytes are to be sent.
    pub(crate) fn new(templates: Arc<[Template]>, streams: usize) -> Session {
        let wire = MemoryStream::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(HEAD_BYTES_MAX)
            // Until the server has said how many there may be.
            .initial_max_send_streams(streams);
        let handshake = pin!(builder.handshake::<_, Bytes>(wire.clone()));
        let Poll::Ready(Ok((sender, connection))) = handshake.poll(&mut nobody()) else {
            unreachable!("the preface fits into an empty output")
        };
        Session {
            wire,
            connection,
            sender: Some(sender),
            templates,
            slots: Vec::new(),
            free: Vec::new(),
            ready: ReadySlots::new(streams),
            waiting: VecDeque::new(),
            open: 0,
            at: None,
            has_begun: false,
            is_stale: true,
            go_away: None,
            failure: None,
        }
    }

    /// Takes a request. Returns its slot.
    pub(crate) fn send(&mut self, template: usize) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            let waker = self.ready.waker(self.slots.len());
            self.slots.push(Slot { stream: Stream::None, waker });
            self.slots.len() - 1
        });
        self.waiting.push_back((slot, template));
        self.is_stale = true;
        slot
    }

    /// Appends to `out` what is to be sent, as far as there is room.
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) {
        if out.len() >= OUT_MAX || !self.is_stale {
            return;
        }
        let mut begun = self.begin_waiting();
        self.poll();
        // Streams that ended have made room.
        while begun && !self.waiting.is_empty() {
            begun = self.begin_waiting();
            self.poll();
        }
        self.is_stale = self.wire.take_output(out);
    }

    /// Whether [`Session::flush`] has something to append as soon as there is room.
    pub(crate) fn has_more(&self) -> bool {
        self.is_stale
    }

    /// Gives the library the requests that wait, as far as the server allows streams. Returns whether there were any.
    fn begin_waiting(&mut self) -> bool {
        let mut begun = false;
        while let (Some(&(slot, template)), Some(sender)) = (self.waiting.front(), &mut self.sender) {
            match sender.poll_ready(&mut nobody()) {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => {
                    self.note(&error);
                    break;
                }
                Poll::Ready(Ok(())) => {}
            }
            let Template { head, body } = &self.templates[template];
            let sent = sender.send_request(head.clone(), body.is_none());
            self.waiting.pop_front();
            let sent = sent.and_then(|(reply, mut stream)| {
                // The library keeps what the server does not take yet.
                body.iter().try_for_each(|body| stream.send_data(body.clone(), true))?;
                Ok(reply)
            });
            match sent {
                Ok(reply) => {
                    self.slots[slot].stream = Stream::Head(reply);
                    // The library gets to know whom to wake.
                    self.ready.add(slot);
                    (self.open, begun) = (self.open + 1, true);
                }
                Err(error) => self.note(&error),
            }
        }
        begun
    }

    /// Lets the library work.
    fn poll(&mut self) {
        if let Poll::Ready(Err(error)) = Pin::new(&mut self.connection).poll(&mut nobody()) {
            self.note(&error);
        }
    }

    /// Takes bytes from the server.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        if !std::mem::replace(&mut self.has_begun, true) && bytes.starts_with(OLDER) {
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let shown = shown_up_to(line.trim_ascii_end(), SHOWN_MAX);
            self.failure = Some(format!("the server answered no HTTP/2: {shown}"));
            return;
        }
        self.wire.receive(bytes);
        self.poll();
        self.is_stale = true;
        if let Some(Poll::Ready(Err(error))) =
            self.sender.as_mut().map(|sender| sender.poll_ready(&mut nobody()))
        {
            self.note(&error);
        }
    }

    /// Notes why the connection can take no more requests.
    #[cold]
    fn note(&mut self, error: &Error) {
        if error.is_go_away() && error.is_remote() {
            let reason = error.reason().unwrap_or(Reason::NO_ERROR);
            self.go_away = self.go_away.or(Some(GoAway(reason)));
        } else {
            self.failure.get_or_insert_with(|| match error.reason() {
                Some(reason) => format!("the server violates HTTP/2: {reason:?}"),
                None => format!("HTTP/2 cannot go on: {error}"),
            });
        }
    }

    /// Takes the next thing that is new, with its slot.
    pub(crate) fn next(&mut self) -> Option<(usize, Event)> {
        loop {
            let slot = match self.at.take() {
                Some(slot) => slot,
                None => self.ready.take()?,
            };
            if let Some(event) = self.next_of(slot) {
                match event {
                    Event::Complete | Event::Broken(_) => self.release(slot),
                    Event::Status(_) | Event::Data(_) => self.at = Some(slot),
                }
                return Some((slot, event));
            }
        }
    }

    /// The next event of a slot; `None` if there is none yet, or the request is to be sent on another connection.
    fn next_of(&mut self, slot: usize) -> Option<Event> {
        let Slot { stream, waker } = &mut self.slots[slot];
        let context = &mut Context::from_waker(waker);
        let error = match stream {
            Stream::None => return None,
            Stream::Head(reply) => match Pin::new(reply).poll(context) {
                Poll::Pending => return None,
                Poll::Ready(Ok(reply)) => {
                    let status = reply.status().as_u16();
                    *stream = Stream::Body(reply.into_body());
                    return Some(Event::Status(status));
                }
                Poll::Ready(Err(error)) => error,
            },
            Stream::Ended => return Some(Event::Complete),
            Stream::Body(body) => match body.poll_data(context) {
                Poll::Pending => return None,
                // Trailers may follow, of which nothing is checked.
                Poll::Ready(None) => return Some(Event::Complete),
                Poll::Ready(Some(Ok(data))) => {
                    if body.is_end_stream() {
                        // That gives back its window as well.
                        *stream = Stream::Ended;
                    } else {
                        // It fails only for more bytes than there were.
                        let _ = body.flow_control().release_capacity(data.len());
                    }
                    return Some(Event::Data(data));
                }
                Poll::Ready(Some(Err(error))) => error,
            },
        };
        if error.is_reset() {
            let who =
                if error.is_remote() { "the server reset the stream" } else { "the server violates HTTP/2" };
            return Some(Event::Broken(format!("{who}: {:?}", error.reason().unwrap_or(Reason::NO_ERROR))));
        }
        self.note(&error);
        self.release(slot);
        None
    }

    fn release(&mut self, slot: usize) {
        self.slots[slot].stream = Stream::None;
        self.free.push(slot);
        self.open -= 1;
        // What the library has to say about it may be due.
        self.is_stale = true;
    }

    /// Ends the session in order; [`Session::flush`] appends what is sent for that.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        self.waiting.clear();
        for slot in &mut self.slots {
            slot.stream = Stream::None;
        }
        self.is_stale = true;
    }

    /// How the server ended the connection; `None` if it has not.
    pub(crate) fn go_away(&self) -> Option<GoAway> {
        self.go_away
    }

    /// Whether the server has ended the connection, and no reply is missing that it did not refuse.
    pub(crate) fn is_over(&self) -> bool {
        self.go_away.is_some() && self.open == 0
    }

    /// Why the server cannot be understood, in words, once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Streams that the server allows at a time, as far as it has said so.
    pub(crate) fn streams_allowed(&self) -> usize {
        self.connection.max_concurrent_send_streams()
    }
}

/// The context of a caller who looks again anyway.
fn nobody() -> Context<'static> {
    Context::from_waker(Waker::noop())
}
