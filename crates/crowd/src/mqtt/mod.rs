//! MQTT 5, and 3.1.1 for brokers that refuse 5. A room is a topic. Under MQTT 5 the subscription option `no local` keeps a message from its
//! speaker; 3.1.1 has no such option.

mod handshakes;
mod negotiate;
mod packet;
mod reason;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use handshakes::Handshakes;
use klatch_record::{ChatWorkload, MqttVersion};
pub(crate) use negotiate::negotiate;
use packet::{
    CONNACK, CONNECT, DISCONNECT, KIND, Limits, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, QOS_SHIFT, SUBACK,
    SUBSCRIBE, answer, packet, push_length, string, take_length, take_properties, take_string, take_u16,
};
use reason::{failed, reason, return_code};

use crate::protocol::{Credentials, Protocol, ServerEvent, Speaker, UserId, line};

const CLEAN_START: u8 = 0x02;
const HAS_PASSWORD: u8 = 0x40;
const HAS_USER: u8 = 0x80;
const NO_LOCAL: u8 = 0x04;
/// Messages of a user in flight under MQTT 3.1.1, in which a broker names no limit: the number that widely used clients have.
const IN_FLIGHT_MAX: u16 = 20;
/// Characters that make client identifiers of a crowd unlike those of others. With the longest numbers of a room and a user, they have 23
/// characters, which every broker takes.
const TOKEN_CHARACTERS: u32 = 6;
/// The room of gates, whose lines are repeated.
const GATE_ROOM: u32 = 0;

/// In place of the nick of a client that publishes with a lower quality of service than the crowd.
const LOWER_QOS: &[u8] = b"a client of lower QoS";

/// What the users of a crowd have in common on a broker.
#[derive(Clone, Debug)]
pub(crate) struct MqttTerms {
    pub(crate) login: Credentials,
    pub(crate) version: MqttVersion,
    /// Quality of service, 0..=2.
    pub(crate) qos: u8,
    /// Beginning of client identifiers.
    pub(crate) client_id: Arc<str>,
}

impl Default for MqttTerms {
    fn default() -> MqttTerms {
        MqttTerms { login: None, version: MqttVersion::V5, qos: 0, client_id: "klatch".into() }
    }
}

impl MqttTerms {
    /// Those of the users of a workload. Its client identifiers are unlike those of any other crowd, unless the user chose them.
    pub(crate) fn new(chat: &ChatWorkload, login: &Credentials) -> MqttTerms {
        let client_id = chat.mqtt.client_id.as_deref().map_or_else(own_client_id, Into::into);
        let (login, qos) = (login.clone(), chat.mqtt.qos as u8);
        MqttTerms { login, version: MqttVersion::V5, qos, client_id }
    }
}

/// A beginning of client identifiers that no other crowd has.
fn own_client_id() -> Arc<str> {
    let mut number = RandomState::new().build_hasher().finish();
    let mut text = "klatch".to_owned();
    for _ in 0..TOKEN_CHARACTERS {
        text.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
    }
    text.into()
}

/// One user on an MQTT broker.
pub(crate) struct Mqtt {
    client: Box<[u8]>,
    topic: Box<[u8]>,
    login: Credentials,
    version: MqttVersion,
    /// Quality of service, 0..=2.
    qos: u8,
    /// The broker has accepted the connection.
    connected: bool,
    /// `None` under QoS 0.
    handshakes: Option<Box<Handshakes>>,
}

impl Protocol for Mqtt {
    type Terms = MqttTerms;

    fn new(id: UserId, terms: &MqttTerms) -> Mqtt {
        let qos = if id.room == GATE_ROOM { 0 } else { terms.qos };
        Mqtt {
            client: format!("{}r{}u{}", terms.client_id, id.room, id.user).into_bytes().into(),
            topic: format!("klatch/{}", id.room).into_bytes().into(),
            login: terms.login.clone(),
            version: terms.version,
            qos,
            connected: false,
            handshakes: (qos > 0).then(|| Box::new(Handshakes::new(qos, IN_FLIGHT_MAX))),
        }
    }

    fn write_handshake(&self, out: &mut Vec<u8>) {
        self.write_connect(out);
        // Packet number 1, no properties.
        let (properties, options) = match self.version {
            MqttVersion::V5 => (&[0][..], NO_LOCAL | self.qos),
            MqttVersion::V311 => (&[][..], self.qos),
        };
        packet(out, SUBSCRIBE, &[&[0, 1], properties, &string(&self.topic), &[options]].concat());
    }

    fn write_message(&mut self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        let is_5 = self.version == MqttVersion::V5;
        let id = self.handshakes.as_mut().map(|handshakes| handshakes.begin());
        out.push(PUBLISH | self.qos << QOS_SHIFT);
        push_length(out, 2 + self.topic.len() + 2 * usize::from(id.is_some()) + usize::from(is_5) + size);
        out.extend_from_slice(&(self.topic.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.topic);
        if let Some(id) = id {
            out.extend_from_slice(&id.to_be_bytes());
        }
        if is_5 {
            out.push(0);
        }
        text(out);
    }

    fn write_quit(&self, out: &mut Vec<u8>) {
        packet(out, DISCONNECT, &[]);
    }

    fn parse<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)> {
        let (&kind, rest) = input.split_first()?;
        // A broker begins with its answer to the connection. Whatever else comes is of another protocol, with lengths of its own.
        if !self.connected && kind != CONNACK {
            let (said, taken) = line(input)?;
            return Some((taken, ServerEvent::Refused(said)));
        }
        let (size, digits) = take_length(rest)?;
        let body = rest.get(digits..digits + size)?;
        let event = match kind & KIND {
            PUBLISH => self.on_publish(kind, body, out),
            PUBACK | PUBREC | PUBCOMP => self.on_answer(kind & KIND, body, out),
            // Its lower bits are flags.
            0x60 => self.on_release(body, out),
            CONNACK => self.on_connack(body),
            SUBACK => self.on_suback(body),
            DISCONNECT => ServerEvent::Closing(reason(body.first(), b"the broker ended the connection")),
            _ => ServerEvent::Ignored,
        };
        Some((1 + digits + size, event))
    }

    fn echoes(&self) -> bool {
        self.version == MqttVersion::V311
    }

    fn may_send(&self) -> bool {
        self.handshakes.as_ref().is_none_or(|handshakes| handshakes.may_send())
    }

    fn open_handshakes(&self) -> usize {
        self.handshakes.as_ref().map_or(0, |handshakes| handshakes.open())
    }
}

impl Mqtt {
    /// Appends a CONNECT without a keep-alive and without properties.
    fn write_connect(&self, out: &mut Vec<u8>) {
        let login = self.login.as_deref();
        let user = login.and_then(|login| login.user.as_deref());
        let password = login.and_then(|login| login.password.as_deref());
        // In MQTT 3.1.1 a password needs the name of a user.
        let is_nameless = self.version == MqttVersion::V311 && password.is_some();
        let user = user.or(is_nameless.then_some(""));
        let parts = [(HAS_USER, user), (HAS_PASSWORD, password)];
        let given = || parts.into_iter().filter_map(|(flag, text)| Some((flag, text?)));
        let flags = given().fold(CLEAN_START, |flags, (flag, _)| flags | flag);
        let (level, properties): (u8, &[u8]) = match self.version {
            MqttVersion::V5 => (5, &[0]),
            MqttVersion::V311 => (4, &[]),
        };
        let head = [level, flags, 0, 0];
        let mut connect = [&string(b"MQTT"), &head[..], properties, &string(&self.client)].concat();
        connect.extend(given().flat_map(|(_, text)| string(text.as_bytes())));
        packet(out, CONNECT, &connect);
    }

    /// Parses the flags, the code and the properties of a CONNACK. One of version 3.1.1 has no properties.
    fn on_connack<'a>(&mut self, body: &[u8]) -> ServerEvent<'a> {
        self.connected = true;
        match (self.version, body) {
            (MqttVersion::V311, [_, 0]) => ServerEvent::Ignored,
            (_, [_, 0]) => ServerEvent::Refused(b"the broker speaks MQTT 3.1.1, but not at first"),
            (_, [_, code]) => ServerEvent::Refused(return_code(*code)),
            (MqttVersion::V5, [_, code, properties @ ..]) if !failed(Some(code)) => {
                self.on_limits(properties)
            }
            _ => ServerEvent::Refused(reason(body.get(1), b"the broker refused the connection")),
        }
    }

    /// Takes what the properties of a CONNACK limit.
    fn on_limits<'a>(&mut self, mut properties: &[u8]) -> ServerEvent<'a> {
        let limits = take_properties(&mut properties).and_then(Limits::parse);
        let Some(Limits { receive_maximum, qos }) = limits else {
            return ServerEvent::Refused(b"the broker's answer to the connection has malformed properties");
        };
        if qos < self.qos {
            return ServerEvent::Refused(b"the broker offers a lower quality of service than was asked for");
        }
        if let Some(handshakes) = &mut self.handshakes {
            handshakes.in_flight_max = receive_maximum;
        }
        ServerEvent::Ignored
    }

    /// The last byte of a SUBACK is the quality of service that the broker grants, or its refusal.
    fn on_suback<'a>(&self, body: &[u8]) -> ServerEvent<'a> {
        match body.last() {
            Some(granted) if *granted == self.qos => ServerEvent::Joined,
            code if failed(code) => {
                ServerEvent::Refused(reason(code, b"the broker refused the subscription"))
            }
            _ => ServerEvent::Refused(b"the broker grants another quality of service than was asked for"),
        }
    }

    /// Parses a message, and answers it as its quality of service requires.
    fn on_publish<'a>(&mut self, kind: u8, mut body: &'a [u8], out: &mut Vec<u8>) -> ServerEvent<'a> {
        let qos = kind >> QOS_SHIFT & 3;
        if qos > self.qos {
            return ServerEvent::Refused(
                b"a message came with a higher quality of service than was asked for",
            );
        }
        let Some(topic) = take_string(&mut body) else { return ServerEvent::Ignored };
        let mut is_new = true;
        if let Some(handshakes) = self.handshakes.as_mut().filter(|_| qos > 0) {
            let Some(id) = take_u16(&mut body) else { return ServerEvent::Ignored };
            if qos == 2 {
                is_new = handshakes.hold(id);
            }
            answer(out, if qos == 2 { PUBREC } else { PUBACK }, id);
        }
        if self.version == MqttVersion::V5 && take_properties(&mut body).is_none() {
            return ServerEvent::Ignored;
        }
        // A broker delivers with the quality of the publisher if that is lower, and the crowd publishes with its own.
        let speaker = if qos == self.qos { Speaker::Unknown } else { Speaker::Stranger(LOWER_QOS) };
        match is_new && *topic == *self.topic {
            true => ServerEvent::Message(speaker, body),
            false => ServerEvent::Ignored,
        }
    }

    /// The broker answers a message of this user.
    fn on_answer<'a>(&mut self, kind: u8, mut body: &[u8], out: &mut Vec<u8>) -> ServerEvent<'a> {
        let (Some(id), Some(handshakes)) = (take_u16(&mut body), &mut self.handshakes) else {
            return ServerEvent::Refused(b"the broker acknowledged a message that needs no acknowledgement");
        };
        // Absent for success, and in MQTT 3.1.1.
        let code = body.first();
        if code.is_some() && failed(code) {
            return ServerEvent::Refused(reason(code, b"the broker refused the message"));
        }
        if !handshakes.on_answer(kind, id) {
            return ServerEvent::Refused(b"the broker acknowledged a message that is not in flight");
        }
        if kind == PUBREC {
            answer(out, PUBREL, id);
        }
        ServerEvent::Ignored
    }

    /// The broker releases a message of QoS 2. It may do so again if it has not seen the answer.
    fn on_release<'a>(&mut self, mut body: &[u8], out: &mut Vec<u8>) -> ServerEvent<'a> {
        if let (Some(id), Some(handshakes)) = (take_u16(&mut body), &mut self.handshakes) {
            handshakes.release(id);
            answer(out, PUBCOMP, id);
        }
        ServerEvent::Ignored
    }
}
