//! Writes the heads of replies, for the server.

use std::sync::Arc;

use super::status::Status;
use super::text::push_decimal;

/// Bytes that no head of a reply exceeds.
pub(super) const REPLY_HEAD_BYTES_MAX: usize = 256;

/// The head of a reply.
pub(super) struct ReplyHead<'a> {
    pub(super) status: Status,
    pub(super) body_bytes: usize,
    pub(super) keep_alive: bool,
    /// The value of the header Set-Cookie.
    pub(super) cookie: Option<&'a [u8]>,
}

impl ReplyHead<'_> {
    /// Appends the head. It has no date, because the server has no clock (RFC 9110, section 6.6.1).
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        push_decimal(out, self.status.code().into());
        out.push(b' ');
        out.extend_from_slice(self.status.reason().as_bytes());
        out.extend_from_slice(b"\r\nServer: klatch\r\nContent-Type: ");
        let is_ok = self.status == Status::Ok;
        out.extend_from_slice(if is_ok { b"text/html" } else { b"text/plain" });
        out.extend_from_slice(b"\r\nContent-Length: ");
        push_decimal(out, self.body_bytes as u64);
        if let Some(cookie) = self.cookie {
            out.extend_from_slice(b"\r\nSet-Cookie: ");
            out.extend_from_slice(cookie);
        }
        // HTTP/1.0 closes and HTTP/1.1 keeps open without this header. With it one cached reply suits both.
        out.extend_from_slice(if self.keep_alive {
            b"\r\nConnection: keep-alive\r\n\r\n"
        } else {
            b"\r\nConnection: close\r\n\r\n"
        });
    }
}

/// A whole reply that refuses a request, with its status as a short text.
pub(super) fn refusal(status: Status, keep_alive: bool, allow: Option<&str>) -> Arc<[u8]> {
    let body = format!("{} {}\n", status.code(), status.reason());
    let mut reply = Vec::with_capacity(REPLY_HEAD_BYTES_MAX);
    ReplyHead { status, body_bytes: body.len(), keep_alive, cookie: None }.write(&mut reply);
    if let Some(methods) = allow {
        let end = reply.len() - 2;
        reply.splice(end..end, format!("Allow: {methods}\r\n").into_bytes());
    }
    reply.extend_from_slice(body.as_bytes());
    reply.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::request::Parsed;
    use crate::web::response::{BodyLength, parse_response};

    #[test]
    fn the_crowd_parses_what_the_server_writes() {
        for (keep_alive, cookie) in [(true, None), (false, Some(&b"my_cookie=10000"[..]))] {
            let mut reply = Vec::new();
            ReplyHead { status: Status::Ok, body_bytes: 921_600, keep_alive, cookie }.write(&mut reply);
            assert!(reply.len() < REPLY_HEAD_BYTES_MAX - 100);
            let Ok(Parsed::Complete { head, bytes }) = parse_response(&reply) else { panic!("no response") };
            assert_eq!(
                (head.status, head.body, head.keep_alive),
                (200, BodyLength::Fixed(921_600), keep_alive)
            );
            assert_eq!((head.set_cookie("my_cookie"), bytes), (cookie, reply.len()));
        }
    }

    #[test]
    fn a_refusal_states_its_status_and_what_is_allowed() {
        let reply = refusal(Status::MethodNotAllowed, true, Some("GET"));
        assert_eq!(
            String::from_utf8_lossy(&reply),
            "HTTP/1.1 405 Method Not Allowed\r\nServer: klatch\r\nContent-Type: text/plain\r\nContent-Length: 23\r\n\
             Connection: keep-alive\r\nAllow: GET\r\n\r\n405 Method Not Allowed\n"
        );
    }
}
