//! MQTT 5 at QoS 0. A room is a topic; the subscription option `no local` keeps a message from its speaker.

use crate::protocol::{Protocol, ServerEvent, Speaker, UserId};

const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;
const DISCONNECT: u8 = 0xe0;

const CLEAN_START: u8 = 0x02;
const NO_LOCAL: u8 = 0x04;
/// Reason codes from here on are failures.
const FAILURES: u8 = 0x80;

/// One user on an MQTT broker.
pub(crate) struct Mqtt {
    client: Box<[u8]>,
    topic: Box<[u8]>,
}

impl Protocol for Mqtt {
    fn new(id: UserId) -> Mqtt {
        Mqtt {
            client: format!("r{}u{}", id.room, id.user).into_bytes().into(),
            topic: format!("klatch/{}", id.room).into_bytes().into(),
        }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        // Version 5, no keep-alive, no properties.
        let connect = [&string(b"MQTT")[..], &[5, CLEAN_START, 0, 0, 0], &string(&self.client)].concat();
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
        let (size, digits) = take_length(rest)?;
        let body = rest.get(digits..digits + size)?;
        let failed = |code: Option<&u8>| code.is_none_or(|code| *code >= FAILURES);
        let event = match kind & 0xf0 {
            PUBLISH => self.message(body),
            CONNACK if failed(body.get(1)) => ServerEvent::Refused(b"the broker refused the connection"),
            SUBACK if failed(body.last()) => ServerEvent::Refused(b"the broker refused the subscription"),
            SUBACK => ServerEvent::Joined,
            DISCONNECT => ServerEvent::Closing(b"the broker ended the connection"),
            _ => ServerEvent::Ignored,
        };
        Some((1 + digits + size, event))
    }
}

impl Mqtt {
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
    use super::*;

    fn mqtt() -> Mqtt {
        Mqtt::new(UserId { room: 12, user: 3, users: 20 })
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
