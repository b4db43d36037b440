//! Redis publish/subscribe over RESP3, where a subscribed connection may publish too. A room is a channel. Redis also
//! delivers a message to its speaker. The server pays for that delivery, and the crowd does not count it.
//!
//! Requests of workload `rr` are the command `ECHO`, over RESP2.

use klatch_record::Login;

use crate::protocol::{Credentials, Protocol, ServerEvent, Speaker, UserId, decimal, line};
use crate::requests::{Greeting, Reply, RequestProtocol};

/// Deepest nesting of RESP values in the answers that Redis sends here.
const DEPTH_MAX: u32 = 8;

/// First bytes of the RESP values that are neither a push nor an error.
const OTHER_VALUES: &[u8] = b"+:,_#($=*~%|";

/// One user on a Redis server.
pub(crate) struct Redis {
    channel: Box<[u8]>,
    login: Credentials,
}

/// The user of a password alone.
const USUAL_USER: &str = "default";

impl Protocol for Redis {
    type Terms = Credentials;

    fn new(id: UserId, login: &Credentials) -> Redis {
        Redis { channel: format!("klatch-{}", id.room).into_bytes().into(), login: login.clone() }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        match self.login.as_deref() {
            None => command(out, &[b"HELLO", b"3"]),
            Some(login) => {
                let [user, password] = user_and_password(login);
                command(out, &[b"HELLO", b"3", b"AUTH", user, password]);
            }
        }
        command(out, &[b"SUBSCRIBE", &self.channel]);
    }

    fn write_message(&mut self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"*3\r\n");
        bulk(out, b"PUBLISH");
        bulk(out, &self.channel);
        out.extend_from_slice(format!("${size}\r\n").as_bytes());
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    fn write_quit(&self, out: &mut Vec<u8>) {
        command(out, &[b"QUIT"]);
    }

    fn parse<'a>(&mut self, input: &'a [u8], _: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)> {
        let length = value_length(input, DEPTH_MAX)?;
        let value = &input[..length];
        let event = match value[0] {
            b'>' => self.push(value),
            kind if OTHER_VALUES.contains(&kind) => ServerEvent::Ignored,
            // An error, or a line of another protocol.
            _ => ServerEvent::Refused(line(value).map_or(value, |(line, _)| line)),
        };
        Some((length, event))
    }

    fn echoes(&self) -> bool {
        true
    }
}

impl Redis {
    /// Parses `>3 "message" channel text`, or the confirmation of a subscription.
    fn push<'a>(&self, value: &'a [u8]) -> ServerEvent<'a> {
        let items = || -> Option<[&'a [u8]; 3]> {
            let (_, head) = line(value)?;
            let (kind, after_kind) = bulk_of(&value[head..])?;
            let (channel, after_channel) = bulk_of(&value[head + after_kind..])?;
            Some([kind, channel, &value[head + after_kind + after_channel..]])
        };
        match items() {
            Some([b"message", channel, text]) if *channel == *self.channel => bulk_of(text)
                .map_or(ServerEvent::Ignored, |(text, _)| ServerEvent::Message(Speaker::Unknown, text)),
            Some([b"subscribe", ..]) => ServerEvent::Joined,
            _ => ServerEvent::Ignored,
        }
    }
}

/// One connection that sends the command `ECHO`.
pub(crate) struct RedisEcho {
    login: Credentials,
    is_open: bool,
}

impl RequestProtocol for RedisEcho {
    fn new(login: &Credentials) -> RedisEcho {
        RedisEcho { login: login.clone(), is_open: login.is_none() }
    }

    fn write_hello(&self, out: &mut Vec<u8>) {
        if let Some(login) = self.login.as_deref() {
            let [user, password] = user_and_password(login);
            command(out, &[b"AUTH", user, password]);
        }
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn parse_greeting<'a>(&mut self, input: &'a [u8], _: &mut Vec<u8>) -> Option<(usize, Greeting<'a>)> {
        let (answer, taken) = line(input)?;
        self.is_open = answer == b"+OK";
        Some((taken, if self.is_open { Greeting::Open } else { Greeting::Refused(answer) }))
    }

    fn write_request(out: &mut Vec<u8>, size: usize, payload: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"*2\r\n$4\r\nECHO\r\n");
        out.extend_from_slice(format!("${size}\r\n").as_bytes());
        payload(out);
        out.extend_from_slice(b"\r\n");
    }

    fn parse_reply(_: usize, input: &[u8]) -> Option<(usize, Reply<'_>)> {
        let (head, taken) = line(input)?;
        let Some(size) = head.strip_prefix(b"$").and_then(decimal) else {
            return Some((taken, Reply::Refused(head)));
        };
        let payload = input.get(taken..taken + size)?;
        (input.len() >= taken + size + 2).then_some((taken + size + 2, Reply::Payload(payload)))
    }
}

fn user_and_password(login: &Login) -> [&[u8]; 2] {
    let [user, password] = [&login.user, &login.password].map(|word| word.as_deref());
    [user.unwrap_or(USUAL_USER).as_bytes(), password.unwrap_or_default().as_bytes()]
}

fn command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    words.iter().for_each(|word| bulk(out, word));
}

fn bulk(out: &mut Vec<u8>, word: &[u8]) {
    out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
    out.extend_from_slice(word);
    out.extend_from_slice(b"\r\n");
}

/// A bulk string's bytes, and its whole length with header and line end.
fn bulk_of(input: &[u8]) -> Option<(&[u8], usize)> {
    let (head, taken) = line(input)?;
    let size = decimal(head.strip_prefix(b"$")?)?;
    Some((input.get(taken..taken + size)?, taken + size + 2))
}

/// The length of the first RESP3 value in bytes; `None` if it is incomplete.
fn value_length(input: &[u8], depth: u32) -> Option<usize> {
    let (head, mut taken) = line(input)?;
    let (&kind, number) = head.split_first()?;
    let number = decimal(number).unwrap_or(0);
    let values = match kind {
        b'$' | b'!' | b'=' => {
            let whole = taken + if head == b"$-1" { 0 } else { number + 2 };
            return (input.len() >= whole).then_some(whole);
        }
        b'*' | b'>' | b'~' => number,
        b'%' => 2 * number,
        _ => 0,
    };
    for _ in 0..values {
        taken += value_length(&input[taken..], depth.checked_sub(1)?)?;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::tests::{incomplete_replies_wait, request};

    fn redis() -> Redis {
        Redis::new(UserId { room: 12, user: 3, users: 20 }, &None)
    }

    #[test]
    fn a_login_comes_with_the_first_command() {
        for (user, said) in [(Some("alice"), "$5\r\nalice"), (None, "$7\r\ndefault")] {
            let login = Login { user: user.map(str::to_owned), password: Some("pass word".into()) };
            let mut out = Vec::new();
            Redis::new(UserId { room: 1, user: 0, users: 2 }, &Some(login.into())).write_handshake(&mut out);
            let hello =
                format!("*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n{said}\r\n$9\r\npass word\r\n");
            assert!(out.starts_with(hello.as_bytes()), "{}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn an_echo_is_a_bulk_string() {
        assert_eq!(request::<RedisEcho>(), b"*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n");
        incomplete_replies_wait::<RedisEcho>(b"$5\r\nhello\r\n");
        assert_eq!(RedisEcho::parse_reply(5, b"-ERR no\r\n"), Some((9, Reply::Refused(b"-ERR no"))));
    }

    #[test]
    fn a_connection_is_open_when_the_server_has_taken_its_login() {
        let mut out = Vec::new();
        let anybody = RedisEcho::new(&None);
        anybody.write_hello(&mut out);
        assert!(anybody.is_open() && out.is_empty());
        let alice = Login { user: Some("alice".into()), password: Some("pass word".into()) };
        let mut alice = RedisEcho::new(&Some(alice.into()));
        alice.write_hello(&mut out);
        assert_eq!(out, b"*3\r\n$4\r\nAUTH\r\n$5\r\nalice\r\n$9\r\npass word\r\n");
        assert_eq!(alice.parse_greeting(b"+OK\r", &mut out), None);
        assert!(!alice.is_open());
        let refusal = b"-WRONGPASS no\r\n";
        let refused = Greeting::Refused(&refusal[..refusal.len() - 2]);
        assert_eq!(alice.parse_greeting(refusal, &mut out), Some((refusal.len(), refused)));
        assert!(!alice.is_open());
        assert_eq!(alice.parse_greeting(b"+OK\r\n$5", &mut out), Some((5, Greeting::Open)));
        assert!(alice.is_open());
    }

    #[test]
    fn a_published_message_is_parsed() {
        let mut out = Vec::new();
        redis().write_message(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        assert_eq!(out, b"*3\r\n$7\r\nPUBLISH\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n");
        let push = b">3\r\n$7\r\nmessage\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n:1\r\n";
        let parsed = redis().parse(push, &mut out);
        assert_eq!(parsed, Some((push.len() - 4, ServerEvent::Message(Speaker::Unknown, b"hello"))));
    }

    #[test]
    fn an_incomplete_value_waits() {
        let push = b">3\r\n$7\r\nmessage\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n";
        for cut in 0..push.len() {
            assert_eq!(redis().parse(&push[..cut], &mut Vec::new()), None, "{cut} bytes");
        }
    }

    #[test]
    fn server_answers_are_parsed() {
        let parse = |bytes: &'static [u8]| redis().parse(bytes, &mut Vec::new());
        let hello = b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*0\r\n";
        assert_eq!(parse(hello), Some((hello.len(), ServerEvent::Ignored)));
        let subscribed = b">3\r\n$9\r\nsubscribe\r\n$9\r\nklatch-12\r\n:1\r\n";
        assert_eq!(parse(subscribed), Some((subscribed.len(), ServerEvent::Joined)));
        assert_eq!(parse(b":19\r\n"), Some((5, ServerEvent::Ignored)));
        assert_eq!(parse(b"-ERR no\r\n"), Some((9, ServerEvent::Refused(b"-ERR no"))));
        assert_eq!(parse(b"$-1\r\n"), Some((5, ServerEvent::Ignored)));
    }
}
