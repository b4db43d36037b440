//! MQTT 5 at QoS 0. A room is a topic; the subscription option `no local` keeps a message from its speaker.

use crate::protocol::{Credentials, Protocol, ServerEvent, Speaker, UserId, line};

const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;
const DISCONNECT: u8 = 0xe0;

const CLEAN_START: u8 = 0x02;
const HAS_PASSWORD: u8 = 0x40;
const HAS_USER: u8 = 0x80;
const NO_LOCAL: u8 = 0x04;
const REFUSED_CONNECTION: &[u8] = b"the broker refused the connection";
const REFUSED_SUBSCRIPTION: &[u8] = b"the broker refused the subscription";
/// Reason codes from here on are failures.
const FAILURES: u8 = 0x80;

/// One user on an MQTT broker.
pub(crate) struct Mqtt {
    client: Box<[u8]>,
    topic: Box<[u8]>,
    login: Credentials,
    /// The broker has accepted the connection.
    connected: bool,
}

impl Protocol for Mqtt {
    fn new(id: UserId, login: &Credentials) -> Mqtt {
        Mqtt {
            client: format!("r{}u{}", id.room, id.user).into_bytes().into(),
            topic: format!("klatch/{}", id.room).into_bytes().into(),
            login: login.clone(),
            connected: false,
        }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        // Version 5, no keep-alive, no properties.
        let login = self.login.as_deref();
        let user = login.and_then(|login| login.user.as_ref()).map(|user| (HAS_USER, user));
        let password =
            login.and_then(|login| login.password.as_ref()).map(|password| (HAS_PASSWORD, password));
        let flags = user.iter().chain(&password).fold(CLEAN_START, |flags, (flag, _)| flags | flag);
        let mut connect = [&string(b"MQTT")[..], &[5, flags, 0, 0, 0], &string(&self.client)].concat();
        connect.extend(user.iter().chain(&password).flat_map(|(_, text)| string(text.as_bytes())));
        packet(out, CONNECT, &connect);
        // Packet number 1, no properties.
        let subscribe = [&[0, 1, 0][..], &string(&self.topic), &[NO_LOCAL]].concat();
        packet(out, SUBSCRIBE, &subscribe);
    }

    fn write_message(&self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.push(PUBLISH);
        push_length(out, 2 + self.topic.len() + 1 + size);
        out.extend_from_slice(&(self.topic.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.topic);
        out.push(0);
        text(out);
    }

    fn write_quit(&self, out: &mut Vec<u8>) {
        packet(out, DISCONNECT, &[]);
    }

    fn parse<'a>(&mut self, input: &'a [u8], _: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)> {
        let (&kind, rest) = input.split_first()?;
        // A broker begins with its answer to the connection. Whatever else comes is of another protocol, with lengths of its own.
        if !self.connected && kind != CONNACK {
            let (said, taken) = line(input)?;
            return Some((taken, ServerEvent::Refused(said)));
        }
        let (size, digits) = take_length(rest)?;
        let body = rest.get(digits..digits + size)?;
        let failed = |code: Option<&u8>| code.is_none_or(|code| *code >= FAILURES);
        let event = match kind & 0xf0 {
            PUBLISH => self.message(body),
            CONNACK => self.on_connack(body),
            SUBACK if failed(body.last()) => ServerEvent::Refused(reason(body.last(), REFUSED_SUBSCRIPTION)),
            SUBACK => ServerEvent::Joined,
            DISCONNECT => ServerEvent::Closing(reason(body.first(), b"the broker ended the connection")),
            _ => ServerEvent::Ignored,
        };
        Some((1 + digits + size, event))
    }
}

impl Mqtt {
    /// Parses the flags, the reason and the properties of a CONNACK. One of version 3.1.1 has no properties.
    fn on_connack<'a>(&mut self, body: &[u8]) -> ServerEvent<'a> {
        self.connected = true;
        match body {
            [_, code] => ServerEvent::Refused(match code {
                0 | 1 => b"the broker speaks MQTT 3.1.1 only; the crowd needs MQTT 5",
                2 => b"MQTT 3.1.1: the broker refused the client identifier",
                3 => b"MQTT 3.1.1: the broker is not available",
                4 => b"MQTT 3.1.1: the broker refused the user name or password",
                5 => b"MQTT 3.1.1: the client is not authorized",
                _ => REFUSED_CONNECTION,
            }),
            [_, code, ..] if *code < FAILURES => ServerEvent::Ignored,
            _ => ServerEvent::Refused(reason(body.get(1), REFUSED_CONNECTION)),
        }
    }

    /// Parses topic, properties and text. At QoS 0 there is no packet number.
    fn message<'a>(&self, body: &'a [u8]) -> ServerEvent<'a> {
        let parts = || -> Option<(&'a [u8], &'a [u8])> {
            let length = usize::from(u16::from_be_bytes([*body.first()?, *body.get(1)?]));
            let (topic, rest) = (body.get(2..2 + length)?, body.get(2 + length..)?);
            let (properties, digits) = take_length(rest)?;
            Some((topic, rest.get(digits + properties..)?))
        };
        match parts() {
            Some((topic, text)) if *topic == *self.topic => ServerEvent::Message(Speaker::Unknown, text),
            _ => ServerEvent::Ignored,
        }
    }
}

/// The name of a reason code in the standard, after what the broker did; only that if the code has no name here.
fn reason(code: Option<&u8>, otherwise: &'static [u8]) -> &'static [u8] {
    match code {
        Some(0x81) => b"the broker refused: malformed packet",
        Some(0x82) => b"the broker refused: protocol error",
        Some(0x84) => b"the broker refused: unsupported protocol version; the crowd needs MQTT 5",
        Some(0x85) => b"the broker refused: client identifier not valid",
        Some(0x86) => b"the broker refused: bad user name or password",
        Some(0x87) => b"the broker refused: not authorized",
        Some(0x88) => b"the broker refused: server unavailable",
        Some(0x89) => b"the broker refused: server busy",
        Some(0x8a) => b"the broker refused: banned",
        Some(0x8b) => b"the broker ended the connection: server shutting down",
        Some(0x8c) => b"the broker refused: bad authentication method",
        Some(0x8d) => b"the broker ended the connection: keep-alive time-out",
        Some(0x8e) => b"the broker ended the connection: another client took over the session",
        Some(0x8f) => b"the broker refused: topic filter invalid",
        Some(0x95) => b"the broker refused: packet too large",
        Some(0x96) => b"the broker refused: message rate too high",
        Some(0x97) => b"the broker refused: quota exceeded",
        Some(0x9f) => b"the broker refused: connection rate exceeded",
        _ => otherwise,
    }
}

fn packet(out: &mut Vec<u8>, kind: u8, body: &[u8]) {
    out.push(kind);
    push_length(out, body.len());
    out.extend_from_slice(body);
}

fn string(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes(), text].concat()
}

/// Appends a length as seven bits a byte, lowest first. The eighth bit is set when more bytes follow.
fn push_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Parses a length. Returns it and the number of its bytes.
fn take_length(input: &[u8]) -> Option<(usize, usize)> {
    let mut length = 0;
    for (place, &byte) in input.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((length, place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use klatch_record::Login;

    use super::*;

    /// A user whose connection the broker has accepted.
    fn mqtt() -> Mqtt {
        Mqtt { connected: true, ..Mqtt::new(UserId { room: 12, user: 3, users: 20 }, &None) }
    }

    /// What a user who has sent its handshake is refused with.
    fn refusal(answer: &'static [u8]) -> String {
        let mut user = Mqtt { connected: false, ..mqtt() };
        match user.parse(answer, &mut Vec::new()) {
            Some((_, ServerEvent::Refused(said))) => String::from_utf8_lossy(said).into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_refusal_has_its_reason_in_words() {
        assert_eq!(refusal(b"\x20\x02\x00\x01"), "the broker speaks MQTT 3.1.1 only; the crowd needs MQTT 5");
        assert!(
            refusal(b"\x20\x02\x00\x00").contains("3.1.1 only"),
            "it takes what follows for another version"
        );
        assert!(refusal(b"\x20\x02\x00\x05").contains("not authorized"));
        assert!(refusal(b"\x20\x03\x00\x84\x00").contains("unsupported protocol version"));
        assert!(refusal(b"\x20\x03\x00\x86\x00").contains("user name or password"));
        let mut user = mqtt();
        let closing = user.parse(b"\xe0\x02\x8e\x00", &mut Vec::new());
        assert!(
            matches!(closing, Some((4, ServerEvent::Closing(said))) if said.ends_with(b"took over the session"))
        );
    }

    #[test]
    fn a_login_follows_the_client() {
        let login = Login { user: Some("alice".into()), password: Some("pw".into()) };
        let mut out = Vec::new();
        Mqtt::new(UserId { room: 12, user: 3, users: 20 }, &Some(login.into())).write_handshake(&mut out);
        let connect = b"\x10\x1d\x00\x04MQTT\x05\xc2\x00\x00\x00\x00\x05r12u3\x00\x05alice\x00\x02pw";
        assert_eq!(out[..connect.len()], connect[..]);
    }

    #[test]
    fn a_server_that_is_no_broker_is_quoted_at_once() {
        assert_eq!(refusal(b"HTTP/1.1 400 Bad Request\r\nContent-Le"), "HTTP/1.1 400 Bad Request");
        assert_eq!(refusal(b"SSH-2.0-OpenSSH_9.2\r\n"), "SSH-2.0-OpenSSH_9.2");
    }

    #[test]
    fn a_published_message_is_parsed() {
        for size in [5, 127, 128, 400] {
            let (mut out, text) = (Vec::new(), vec![b'x'; size]);
            mqtt().write_message(&mut out, size, |out| out.extend_from_slice(&text));
            assert_eq!(
                mqtt().parse(&out, &mut Vec::new()),
                Some((out.len(), ServerEvent::Message(Speaker::Unknown, &text)))
            );
            for cut in 0..out.len() {
                assert_eq!(mqtt().parse(&out[..cut], &mut Vec::new()), None, "{cut} of {} bytes", out.len());
            }
        }
    }

    #[test]
    fn packets_follow_the_standard() {
        let mut out = Vec::new();
        mqtt().write_handshake(&mut out);
        let connect = b"\x10\x12\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x05r12u3";
        let subscribe = b"\x82\x0f\x00\x01\x00\x00\x09klatch/12\x04";
        assert_eq!(out, [&connect[..], subscribe].concat());
        let parse = |bytes: &'static [u8]| mqtt().parse(bytes, &mut Vec::new()).map(|(_, event)| event);
        assert_eq!(parse(b"\x20\x03\x00\x00\x00"), Some(ServerEvent::Ignored));
        assert_eq!(parse(b"\x90\x04\x00\x01\x00\x00"), Some(ServerEvent::Joined));
        assert!(matches!(parse(b"\x20\x03\x00\x87\x00"), Some(ServerEvent::Refused(_))));
        assert!(matches!(parse(b"\x90\x04\x00\x01\x00\x87"), Some(ServerEvent::Refused(_))));
        assert!(matches!(parse(b"\xe0\x00"), Some(ServerEvent::Closing(_))));
    }
}
