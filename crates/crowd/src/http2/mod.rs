//! HTTP/2: each request in flight has a stream of its own.

mod memory_stream;
mod ready_slots;
mod session;
mod template;

use std::sync::Arc;

use klatch_record::RequestParts;

use crate::channel::ClientEndpoint;
use crate::compared_body::ComparedBody;
use crate::http_command::{HttpError, HttpServer};
use crate::http_connection::{End, HttpConnection, Part, Request};
use crate::http2::session::{Event, Session};
use crate::http2::template::Template;
use crate::urls::Urls;

/// The name of the protocol in ALPN.
pub(crate) const ALPN: &[u8] = b"h2";

/// A connection of HTTP/2.
pub(crate) struct Http2 {
    /// The request of each URL.
    templates: Arc<[Template]>,
    /// Most requests in flight.
    streams: usize,
    /// `None` before the first request.
    session: Option<Box<Session>>,
    /// The reply of each slot of the session.
    replies: Vec<Reply>,
    /// A reply has arrived.
    has_replied: bool,
}

struct Reply {
    request: Request,
    /// 0 before the head has arrived.
    status: u16,
    body: ComparedBody,
}

impl Http2 {
    /// # Errors
    /// Method and path of a URL for which there is no request in HTTP/2.
    pub(crate) fn new(
        urls: &Urls,
        parts: &RequestParts,
        server: &ClientEndpoint,
        streams: u32,
    ) -> Result<Http2, (String, http::Error)> {
        let template = |url| {
            let (method, path) = urls.method_and_path(url);
            Template::new(method, path, parts, server).map_err(|error| (urls.name(url).to_owned(), error))
        };
        let templates = (0..urls.count()).map(template).collect::<Result<_, _>>()?;
        Ok(Http2::of(templates, streams as usize))
    }

    fn of(templates: Arc<[Template]>, streams: usize) -> Http2 {
        Http2 { templates, streams, session: None, replies: Vec::new(), has_replied: false }
    }

    fn session(&mut self) -> &mut Session {
        let Http2 { templates, streams, session, .. } = self;
        session.get_or_insert_with(|| Box::new(Session::new(templates.clone(), *streams)))
    }
}

impl HttpConnection for Http2 {
    fn anew(&self) -> Http2 {
        Http2::of(self.templates.clone(), self.streams)
    }

    fn ask(
        &self,
        server: &HttpServer,
        url: usize,
        _is_head: bool,
        body_bytes_max: usize,
    ) -> Result<(u16, Vec<u8>), HttpError> {
        let mut session = Session::new(self.templates.clone(), self.streams);
        session.send(url);
        server.in_time(|connection| {
            let (mut out, mut received, mut status, mut body) = (Vec::new(), Vec::new(), 0, Vec::new());
            loop {
                while session.has_more() {
                    session.flush(&mut out);
                    connection.write(&out)?;
                    out.clear();
                }
                received.clear();
                let read = connection.read(&mut received);
                if connection.application_protocol().is_some_and(|chosen| chosen.as_deref() != Some(ALPN)) {
                    return Err(HttpError::NotChosen);
                }
                if read? == 0 {
                    return Err(HttpError::Ended);
                }
                session.receive(&received);
                while let Some((_, event)) = session.next() {
                    match event {
                        Event::Status(number) => status = number,
                        Event::Data(data) if body.len() + data.len() > body_bytes_max => {
                            return Err(HttpError::TooLong(body_bytes_max));
                        }
                        Event::Data(data) => body.extend_from_slice(&data),
                        Event::Broken(detail) => return Err(HttpError::Broken(detail)),
                        Event::Complete if session.streams_allowed() < self.streams => {
                            let (allowed, wanted) = (session.streams_allowed(), self.streams);
                            return Err(HttpError::Streams { allowed, wanted });
                        }
                        Event::Complete => return Ok((status, body)),
                    }
                }
                if let Some(detail) = session.take_failure() {
                    return Err(HttpError::Broken(detail));
                }
                if session.is_over() {
                    return Err(HttpError::Ended);
                }
            }
        })
    }

    fn send(&mut self, request: Request, _: &mut Vec<u8>) {
        let slot = self.session().send(request.url);
        match self.replies.get_mut(slot) {
            Some(reply) => {
                (reply.request, reply.status) = (request, 0);
                reply.body.clear();
            }
            None => self.replies.push(Reply { request, status: 0, body: ComparedBody::default() }),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some(session) = &mut self.session {
            session.flush(out);
        }
    }

    fn has_more(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_more())
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some(session) = &mut self.session {
            session.close();
            session.flush(out);
        }
    }

    fn next(&mut self, input: &mut &[u8], urls: &Urls, _: impl FnOnce() -> Option<Request>) -> Part {
        let streams = self.streams;
        // A server that speaks before it was spoken to.
        self.session();
        let Http2 { session: Some(session), replies, has_replied, .. } = self else {
            return Part::Incomplete;
        };
        if !input.is_empty() {
            session.receive(input);
            *input = &[];
        }
        while let Some((slot, event)) = session.next() {
            let Reply { request, status, body } = &mut replies[slot];
            match event {
                Event::Status(number) => *status = number,
                Event::Data(data) => body.feed(&data, urls, request.url),
                Event::Complete => {
                    *has_replied = true;
                    return Part::Complete(*request, body.fault(urls, request.url, *status));
                }
                Event::Broken(detail) => {
                    *has_replied = true;
                    return Part::Complete(*request, Some(format!("{}: {detail}", urls.name(request.url))));
                }
            }
        }
        if let Some(detail) = session.take_failure() {
            return Part::NoHttp(detail);
        }
        let allowed = session.streams_allowed();
        if allowed < streams && session.go_away().is_none() {
            return Part::NoHttp(HttpError::Streams { allowed, wanted: streams }.to_string());
        }
        Part::Incomplete
    }

    fn may_send(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.go_away().is_none())
    }

    fn is_closing(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_over())
    }

    fn on_end(&mut self, _: &Urls, awaited: Option<Request>) -> End {
        let go_away = self.session.as_ref().and_then(|session| session.go_away());
        let error = go_away.and_then(|go_away| go_away.error());
        let is_announced = self.is_closing() && self.has_replied;
        let is_begun = |reply: &&Reply| Some(reply.request) == awaited && reply.status != 0;
        let begun = self.replies.iter().find(is_begun).map(|reply| reply.body.length());
        *self = self.anew();
        match (error, begun) {
            (Some(code), _) => End::Instead(format!("the server ended the connection with the error {code}")),
            (None, Some(length)) if !is_announced => {
                End::Cut(format!("the connection was closed after {length} bytes of the body"))
            }
            (None, _) if is_announced => End::Announced,
            (None, _) => End::Instead("the server closed the connection instead of a reply".to_owned()),
        }
    }
}
