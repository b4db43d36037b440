//! The parts of packets that both versions of MQTT share.

pub(super) const CONNECT: u8 = 0x10;
pub(super) const CONNACK: u8 = 0x20;
pub(super) const PUBLISH: u8 = 0x30;
pub(super) const PUBACK: u8 = 0x40;
pub(super) const PUBREC: u8 = 0x50;
/// With the flags that the standard requires.
pub(super) const PUBREL: u8 = 0x62;
pub(super) const PUBCOMP: u8 = 0x70;
/// With the flags that the standard requires.
pub(super) const SUBSCRIBE: u8 = 0x82;
pub(super) const SUBACK: u8 = 0x90;
pub(super) const DISCONNECT: u8 = 0xe0;
/// The bits of the first byte that name the packet.
pub(super) const KIND: u8 = 0xf0;
/// Place of the quality of service in the first byte of a PUBLISH.
pub(super) const QOS_SHIFT: u8 = 1;

const RECEIVE_MAXIMUM: u8 = 0x21;
const MAXIMUM_QOS: u8 = 0x24;

pub(super) fn packet(out: &mut Vec<u8>, kind: u8, body: &[u8]) {
    out.push(kind);
    push_length(out, body.len());
    out.extend_from_slice(body);
}

/// Appends a packet of an identifier alone, which in MQTT 5 means success.
pub(super) fn answer(out: &mut Vec<u8>, kind: u8, id: u16) {
    let [high, low] = id.to_be_bytes();
    out.extend_from_slice(&[kind, 2, high, low]);
}

pub(super) fn string(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes(), text].concat()
}

/// Appends a length as seven bits a byte, lowest first. The eighth bit is set when more bytes follow.
pub(super) fn push_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Parses a length. Returns it and the number of its bytes.
pub(super) fn take_length(input: &[u8]) -> Option<(usize, usize)> {
    let mut length = 0;
    for (place, &byte) in input.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((length, place + 1));
        }
    }
    None
}

/// Takes a number of two bytes from the front of `input`.
pub(super) fn take_u16(input: &mut &[u8]) -> Option<u16> {
    let (number, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(u16::from_be_bytes(*number))
}

/// Takes a text, or other bytes, with its length from the front of `input`.
pub(super) fn take_string<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (number, rest) = input.split_first_chunk()?;
    let (text, rest) = rest.split_at_checked(u16::from_be_bytes(*number).into())?;
    *input = rest;
    Some(text)
}

/// Takes properties with their length from the front of `input`.
pub(super) fn take_properties<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, digits) = take_length(input)?;
    let (properties, rest) = input.get(digits..)?.split_at_checked(length)?;
    *input = rest;
    Some(properties)
}

/// What the properties of a CONNACK limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Messages of the client in flight under QoS 1 and 2.
    pub(super) receive_maximum: u16,
    /// Highest quality of service.
    pub(super) qos: u8,
}

impl Limits {
    /// Those of a broker that names none.
    pub(super) const NONE: Limits = Limits { receive_maximum: u16::MAX, qos: 2 };

    /// Parses the properties of a CONNACK; `None` if they are not as the standard has them.
    pub(super) fn parse(mut properties: &[u8]) -> Option<Limits> {
        let mut limits = Limits::NONE;
        while let Some((&name, rest)) = properties.split_first() {
            properties = rest;
            match name {
                RECEIVE_MAXIMUM => {
                    limits.receive_maximum = take_u16(&mut properties).filter(|maximum| *maximum > 0)?;
                }
                MAXIMUM_QOS => {
                    limits.qos = *properties.first().filter(|qos| **qos < 2)?;
                    properties = &properties[1..];
                }
                // Retained messages, wildcards, identifiers of subscriptions, shared subscriptions.
                0x25 | 0x28 | 0x29 | 0x2a => properties = properties.get(1..)?,
                // Keep-alive, topic aliases.
                0x13 | 0x22 => properties = properties.get(2..)?,
                // End of the session, largest packet.
                0x11 | 0x27 => properties = properties.get(4..)?,
                // Client, authentication and its data, information for responses, another server, reason.
                0x12 | 0x15 | 0x16 | 0x1a | 0x1c | 0x1f => drop(take_string(&mut properties)?),
                // A name and a value of the broker's own.
                0x26 => drop((take_string(&mut properties)?, take_string(&mut properties)?)),
                _ => return None,
            }
        }
        Some(limits)
    }
}
