//! NATS, its client protocol as text over TCP. A room is a subject; `echo: false` suppresses delivery to the speaker.

use klatch_record::Login;

use crate::protocol::{Credentials, Protocol, ServerEvent, Speaker, UserId, decimal, line, split};

/// One user on a NATS server.
pub(crate) struct Nats {
    subject: Box<[u8]>,
    login: Credentials,
}

impl Protocol for Nats {
    type Terms = Credentials;

    fn new(id: UserId, login: &Credentials) -> Nats {
        Nats { subject: format!("klatch.{}", id.room).into_bytes().into(), login: login.clone() }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            br#"CONNECT {"verbose":false,"pedantic":false,"echo":false,"lang":"klatch","version":"1""#,
        );
        // A password alone is a token.
        let fields = match self.login.as_deref() {
            None => [("", &None), ("", &None)],
            Some(Login { user: None, password }) => [("auth_token", password), ("", &None)],
            Some(Login { user, password }) => [("user", user), ("pass", password)],
        };
        for (name, value) in fields {
            if let Some(value) = value {
                let json = serde_json::Value::from(value.as_str());
                out.extend_from_slice(format!(r#","{name}":{json}"#).as_bytes());
            }
        }
        out.extend_from_slice(b"}\r\nSUB ");
        out.extend_from_slice(&self.subject);
        // The server answers the ping after it has made the subscription.
        out.extend_from_slice(b" 1\r\nPING\r\n");
    }

    fn write_message(&mut self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"PUB ");
        out.extend_from_slice(&self.subject);
        out.extend_from_slice(format!(" {size}\r\n").as_bytes());
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    /// The protocol has no such command: the connection is closed.
    fn write_quit(&self, _: &mut Vec<u8>) {}

    fn parse<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)> {
        let (head, taken) = line(input)?;
        let (word, rest) = split(head, b' ').unwrap_or((head, b""));
        match word {
            b"MSG" => {
                // MSG <subject> <subscription> [reply-to] <bytes>
                let size = rest.rsplit(|&byte| byte == b' ').next().and_then(decimal).unwrap_or(0);
                let text = input.get(taken..taken + size + 2)?;
                let ours = split(rest, b' ').is_some_and(|(subject, _)| *subject == *self.subject);
                let event = if ours {
                    ServerEvent::Message(Speaker::Unknown, &text[..size])
                } else {
                    ServerEvent::Ignored
                };
                Some((taken + size + 2, event))
            }
            b"PING" => {
                out.extend_from_slice(b"PONG\r\n");
                Some((taken, ServerEvent::Ignored))
            }
            b"PONG" => Some((taken, ServerEvent::Joined)),
            b"-ERR" => Some((taken, ServerEvent::Refused(head))),
            // Such as HTTP/1.1 or SSH-2.0: a command of NATS is a word.
            word if word != b"+OK" && !word.iter().all(u8::is_ascii_alphabetic) => {
                Some((taken, ServerEvent::Refused(head)))
            }
            _ => Some((taken, ServerEvent::Ignored)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nats() -> Nats {
        Nats::new(UserId { room: 12, user: 3, users: 20 }, &None)
    }

    #[test]
    fn a_login_is_part_of_the_first_command() {
        for (user, said) in [(Some("a\"b"), r#","user":"a\"b","pass":"p"}"#), (None, r#","auth_token":"p"}"#)]
        {
            let login = Login { user: user.map(str::to_owned), password: Some("p".into()) };
            let mut out = Vec::new();
            Nats::new(UserId { room: 1, user: 0, users: 2 }, &Some(login.into())).write_handshake(&mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains(&format!(r#""version":"1"{said}"#)), "{text}");
        }
    }

    #[test]
    fn a_published_message_is_parsed() {
        let mut out = Vec::new();
        nats().write_message(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        assert_eq!(out, b"PUB klatch.12 5\r\nhello\r\n");
        let message = b"MSG klatch.12 1 5\r\nhello\r\nPING\r\n";
        let parsed = nats().parse(message, &mut out);
        assert_eq!(parsed, Some((message.len() - 6, ServerEvent::Message(Speaker::Unknown, b"hello"))));
        for cut in 0..message.len() - 6 {
            assert_eq!(nats().parse(&message[..cut], &mut Vec::new()), None, "{cut} bytes");
        }
    }

    #[test]
    fn other_server_commands_are_parsed() {
        let mut out = Vec::new();
        let mut parse = |bytes: &'static [u8]| nats().parse(bytes, &mut out);
        assert_eq!(parse(b"INFO {\"server_id\":\"x\"}\r\n"), Some((24, ServerEvent::Ignored)));
        assert_eq!(parse(b"PONG\r\n"), Some((6, ServerEvent::Joined)));
        assert_eq!(parse(b"-ERR 'No'\r\n"), Some((11, ServerEvent::Refused(b"-ERR 'No'"))));
        assert_eq!(parse(b"+OK\r\n"), Some((5, ServerEvent::Ignored)));
        let http = b"HTTP/1.1 400 Bad Request\r\n";
        assert_eq!(parse(http), Some((http.len(), ServerEvent::Refused(&http[..http.len() - 2]))));
        assert_eq!(parse(b"PING\r\n"), Some((6, ServerEvent::Ignored)));
        assert_eq!(out, b"PONG\r\n");
    }
}
