//! NATS, its client protocol as text over TCP. A room is a subject; `echo: false` keeps a message from its speaker.

use crate::protocol::{News, Protocol, Seat, Speaker, decimal, line, split};

/// One user on a NATS server.
pub(crate) struct Nats {
    subject: Box<[u8]>,
}

impl Protocol for Nats {
    fn new(seat: Seat) -> Nats {
        Nats { subject: format!("klatch.{}", seat.room).into_bytes().into() }
    }

    fn hello(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            br#"CONNECT {"verbose":false,"pedantic":false,"echo":false,"lang":"klatch","version":"1"}"#,
        );
        out.extend_from_slice(b"\r\nSUB ");
        out.extend_from_slice(&self.subject);
        // The answer to the ping says that the subscription stands.
        out.extend_from_slice(b" 1\r\nPING\r\n");
    }

    fn say(&self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"PUB ");
        out.extend_from_slice(&self.subject);
        out.extend_from_slice(format!(" {size}\r\n").as_bytes());
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    /// The protocol has no word for it: the connection is closed.
    fn bye(&self, _: &mut Vec<u8>) {}

    fn hear<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, News<'a>)> {
        let (head, taken) = line(input)?;
        let (word, rest) = split(head, b' ').unwrap_or((head, b""));
        match word {
            b"MSG" => {
                // MSG <subject> <subscription> [reply-to] <bytes>
                let size = rest.rsplit(|&byte| byte == b' ').next().and_then(decimal).unwrap_or(0);
                let text = input.get(taken..taken + size + 2)?;
                let ours = split(rest, b' ').is_some_and(|(subject, _)| *subject == *self.subject);
                let news = if ours { News::Said(Speaker::Untold, &text[..size]) } else { News::Nothing };
                Some((taken + size + 2, news))
            }
            b"PING" => {
                out.extend_from_slice(b"PONG\r\n");
                Some((taken, News::Nothing))
            }
            b"PONG" => Some((taken, News::Joined)),
            b"-ERR" => Some((taken, News::Refused(head))),
            _ => Some((taken, News::Nothing)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nats() -> Nats {
        Nats::new(Seat { room: 12, user: 3, users: 20 })
    }

    #[test]
    fn a_message_is_published_and_heard() {
        let mut out = Vec::new();
        nats().say(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        assert_eq!(out, b"PUB klatch.12 5\r\nhello\r\n");
        let message = b"MSG klatch.12 1 5\r\nhello\r\nPING\r\n";
        let heard = nats().hear(message, &mut out);
        assert_eq!(heard, Some((message.len() - 6, News::Said(Speaker::Untold, b"hello"))));
        for cut in 0..message.len() - 6 {
            assert_eq!(nats().hear(&message[..cut], &mut Vec::new()), None, "{cut} bytes");
        }
    }

    #[test]
    fn the_other_words_of_a_server_are_understood() {
        let mut out = Vec::new();
        let mut hear = |bytes: &'static [u8]| nats().hear(bytes, &mut out);
        assert_eq!(hear(b"INFO {\"server_id\":\"x\"}\r\n"), Some((24, News::Nothing)));
        assert_eq!(hear(b"PONG\r\n"), Some((6, News::Joined)));
        assert_eq!(hear(b"-ERR 'No'\r\n"), Some((11, News::Refused(b"-ERR 'No'"))));
        assert_eq!(hear(b"PING\r\n"), Some((6, News::Nothing)));
        assert_eq!(out, b"PONG\r\n");
    }
}
