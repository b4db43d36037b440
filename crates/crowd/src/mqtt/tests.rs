use klatch_record::{Login, MqttSettings};

use super::*;

const ID: UserId = UserId { room: 12, user: 3, users: 20 };

pub(super) fn terms(version: MqttVersion, qos: u8) -> MqttTerms {
    MqttTerms { version, qos, ..MqttTerms::default() }
}

/// A user whose connection the broker has accepted.
fn connected(version: MqttVersion, qos: u8) -> Mqtt {
    Mqtt { connected: true, ..Mqtt::new(ID, &terms(version, qos)) }
}

fn mqtt() -> Mqtt {
    connected(MqttVersion::V5, 0)
}

/// What a user that has sent its handshake is refused with.
fn refusal(version: MqttVersion, answer: &'static [u8]) -> String {
    let mut user = Mqtt::new(ID, &terms(version, 0));
    match user.parse(answer, &mut Vec::new()) {
        Some((_, ServerEvent::Refused(said))) => String::from_utf8_lossy(said).into_owned(),
        other => panic!("{other:?}"),
    }
}

/// What a connected user makes of one packet, and what it answers.
fn heard<'a>(user: &mut Mqtt, packet: &'a [u8]) -> (ServerEvent<'a>, Vec<u8>) {
    let mut out = Vec::new();
    let (taken, event) = user.parse(packet, &mut out).unwrap();
    assert_eq!(taken, packet.len());
    (event, out)
}

/// Whether it is a refusal with these words.
fn refuses(event: ServerEvent<'_>, words: &str) -> bool {
    matches!(event, ServerEvent::Refused(said) if String::from_utf8_lossy(said).contains(words))
}

#[test]
fn a_refusal_has_its_reason_in_words() {
    use MqttVersion::{V5, V311};
    for (version, answer, words) in [
        (V311, &b"\x20\x02\x00\x01"[..], "unacceptable protocol version"),
        (V311, b"\x20\x02\x00\x02", "client identifier rejected"),
        (V311, b"\x20\x02\x00\x03", "server unavailable"),
        (V311, b"\x20\x02\x00\x04", "bad user name or password"),
        (V311, b"\x20\x02\x00\x05", "not authorized"),
        (V5, b"\x20\x02\x00\x05", "not authorized"),
        (V5, b"\x20\x02\x00\x00", "speaks MQTT 3.1.1, but not at first"),
        (V5, b"\x20\x03\x00\x84\x00", "unsupported protocol version"),
        (V5, b"\x20\x03\x00\x85\x00", "client identifier not valid"),
        (V5, b"\x20\x03\x00\x86\x00", "bad user name or password"),
        (V5, b"\x20\x03\x00\x87\x00", "not authorized"),
        (V5, b"\x20\x03\x00\x89\x00", "server busy"),
        (V5, b"\x20\x03\x00\x8a\x00", "banned"),
        (V5, b"\x20\x03\x00\x00\x05", "malformed properties"),
    ] {
        let said = refusal(version, answer);
        assert!(said.contains(words), "{}: {said}", answer.escape_ascii());
    }
    let closing = mqtt().parse(b"\xe0\x02\x8e\x00", &mut Vec::new());
    assert!(
        matches!(closing, Some((4, ServerEvent::Closing(said))) if said.ends_with(b"took over the session"))
    );
}

#[test]
fn a_login_follows_the_client() {
    let login = |user: Option<&str>| {
        let login = Login { user: user.map(str::to_owned), password: Some("pw".into()) };
        Some(Arc::new(login))
    };
    let written = |version, user| {
        let (mut out, terms) = (Vec::new(), MqttTerms { login: login(user), ..terms(version, 0) });
        Mqtt::new(ID, &terms).write_connect(&mut out);
        out
    };
    let connect = b"\x10\x23\x00\x04MQTT\x05\xc2\x00\x00\x00\x00\x0bklatchr12u3\x00\x05alice\x00\x02pw";
    assert_eq!(written(MqttVersion::V5, Some("alice")), connect);
    let connect = b"\x10\x1c\x00\x04MQTT\x05\x42\x00\x00\x00\x00\x0bklatchr12u3\x00\x02pw";
    assert_eq!(written(MqttVersion::V5, None), connect);
    let connect = b"\x10\x1d\x00\x04MQTT\x04\xc2\x00\x00\x00\x0bklatchr12u3\x00\x00\x00\x02pw";
    assert_eq!(written(MqttVersion::V311, None), connect, "a password needs a user in 3.1.1");
}

#[test]
fn a_server_that_is_no_broker_is_quoted_at_once() {
    let said = |answer| refusal(MqttVersion::V5, answer);
    assert_eq!(said(b"HTTP/1.1 400 Bad Request\r\nContent-Le"), "HTTP/1.1 400 Bad Request");
    assert_eq!(said(b"SSH-2.0-OpenSSH_9.2\r\n"), "SSH-2.0-OpenSSH_9.2");
}

#[test]
fn a_published_message_is_parsed() {
    for version in [MqttVersion::V5, MqttVersion::V311] {
        for qos in 0..=2 {
            for size in [5, 127, 128, 400] {
                let (mut out, text) = (Vec::new(), vec![b'x'; size]);
                connected(version, qos).write_message(&mut out, size, |out| out.extend_from_slice(&text));
                let (event, _) = heard(&mut connected(version, qos), &out);
                assert_eq!(event, ServerEvent::Message(Speaker::Unknown, &text), "{version:?}, QoS {qos}");
                for cut in 0..out.len() {
                    let (mut user, mut answer) = (connected(version, qos), Vec::new());
                    assert_eq!(user.parse(&out[..cut], &mut answer), None, "{cut} of {} bytes", out.len());
                    assert!(answer.is_empty());
                }
            }
        }
    }
}

#[test]
fn packets_follow_the_standard() {
    let handshake = |version, qos| {
        let mut out = Vec::new();
        Mqtt::new(ID, &terms(version, qos)).write_handshake(&mut out);
        out
    };
    let connect = b"\x10\x18\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x0bklatchr12u3";
    let subscribe = b"\x82\x0f\x00\x01\x00\x00\x09klatch/12";
    assert_eq!(handshake(MqttVersion::V5, 0), [&connect[..], subscribe, b"\x04"].concat());
    assert_eq!(handshake(MqttVersion::V5, 2), [&connect[..], subscribe, b"\x06"].concat());
    let connect = b"\x10\x17\x00\x04MQTT\x04\x02\x00\x00\x00\x0bklatchr12u3";
    let subscribe = b"\x82\x0e\x00\x01\x00\x09klatch/12";
    assert_eq!(handshake(MqttVersion::V311, 1), [&connect[..], subscribe, b"\x01"].concat());
    let publish = |version, qos| {
        let mut out = Vec::new();
        connected(version, qos).write_message(&mut out, 2, |out| out.extend_from_slice(b"hi"));
        out
    };
    assert_eq!(publish(MqttVersion::V5, 0), b"\x30\x0e\x00\x09klatch/12\x00hi");
    assert_eq!(publish(MqttVersion::V5, 1), b"\x32\x10\x00\x09klatch/12\x00\x01\x00hi");
    assert_eq!(publish(MqttVersion::V311, 0), b"\x30\x0d\x00\x09klatch/12hi");
    assert_eq!(publish(MqttVersion::V311, 2), b"\x34\x0f\x00\x09klatch/12\x00\x01hi");
}

#[test]
fn a_user_joins_with_the_quality_of_service_that_it_asked_for() {
    let joined = |qos, suback: &'static [u8]| heard(&mut connected(MqttVersion::V5, qos), suback).0;
    assert_eq!(heard(&mut mqtt(), b"\x20\x03\x00\x00\x00").0, ServerEvent::Ignored);
    assert_eq!(joined(0, b"\x90\x04\x00\x01\x00\x00"), ServerEvent::Joined);
    assert_eq!(joined(2, b"\x90\x04\x00\x01\x00\x02"), ServerEvent::Joined);
    assert!(refuses(joined(2, b"\x90\x04\x00\x01\x00\x01"), "another quality of service"));
    assert!(refuses(joined(0, b"\x90\x04\x00\x01\x00\x87"), "not authorized"));
    let of_3_1_1 = heard(&mut connected(MqttVersion::V311, 0), b"\x90\x03\x00\x01\x80").0;
    assert!(refuses(of_3_1_1, "unspecified error"));
    let mut user = Mqtt::new(ID, &terms(MqttVersion::V311, 1));
    assert_eq!(heard(&mut user, b"\x20\x02\x00\x00").0, ServerEvent::Ignored);
    assert_eq!(heard(&mut user, b"\x90\x03\x00\x01\x01").0, ServerEvent::Joined);
    assert!(matches!(heard(&mut mqtt(), b"\xe0\x00").0, ServerEvent::Closing(_)));
}

#[test]
fn a_broker_limits_what_is_in_flight() {
    let in_flight = |connack: &'static [u8]| {
        let mut user = Mqtt::new(ID, &terms(MqttVersion::V5, 1));
        let (event, _) = heard(&mut user, connack);
        assert_eq!(event, ServerEvent::Ignored, "{}", connack.escape_ascii());
        let mut count = 0_u32;
        while user.may_send() {
            user.write_message(&mut Vec::new(), 0, |_| {});
            count += 1;
        }
        count
    };
    // A receive maximum of 3 alone, among properties of all forms, and none.
    assert_eq!(in_flight(b"\x20\x06\x00\x00\x03\x21\x00\x03"), 3);
    assert_eq!(
        in_flight(
            b"\x20\x2b\x00\x00\x28\x11\x00\x00\x00\x01\x12\x00\x02id\x13\x00\x0a\x1f\x00\x00\x22\x00\x0a\x24\x01\x25\x00\
              \x26\x00\x01a\x00\x01b\x27\x00\x01\x00\x00\x28\x01\x21\x00\x03"
        ),
        3
    );
    assert_eq!(in_flight(b"\x20\x03\x00\x00\x00"), 65_535);
    // A maximum of 1.
    let lower = heard(&mut Mqtt::new(ID, &terms(MqttVersion::V5, 2)), b"\x20\x05\x00\x00\x02\x24\x01").0;
    assert!(refuses(lower, "lower quality of service"));
    for wrong in [
        &b"\x20\x06\x00\x00\x03\x21\x00\x00"[..],
        b"\x20\x05\x00\x00\x02\x24\x02",
        b"\x20\x04\x00\x00\x01\x99",
    ] {
        let event = heard(&mut Mqtt::new(ID, &terms(MqttVersion::V5, 1)), wrong).0;
        assert!(refuses(event, "malformed properties"), "{}", wrong.escape_ascii());
    }
    assert_eq!(connected(MqttVersion::V311, 1).handshakes.unwrap().in_flight_max, IN_FLIGHT_MAX);
}

#[test]
fn a_message_of_qos_1_is_acknowledged_in_both_directions() {
    let mut user = connected(MqttVersion::V5, 1);
    let (event, out) = heard(&mut user, b"\x32\x10\x00\x09klatch/12\x12\x34\x00hi");
    assert_eq!((event, &out[..]), (ServerEvent::Message(Speaker::Unknown, b"hi"), &b"\x40\x02\x12\x34"[..]));
    // Again, with the flag of a duplicate: what it is to the crowd, the text tells.
    let (event, out) = heard(&mut user, b"\x3a\x10\x00\x09klatch/12\x12\x34\x00hi");
    assert_eq!((event, &out[..]), (ServerEvent::Message(Speaker::Unknown, b"hi"), &b"\x40\x02\x12\x34"[..]));
    assert_eq!(user.open_handshakes(), 0);
    for _ in 0..3 {
        user.write_message(&mut Vec::new(), 0, |_| {});
    }
    assert_eq!(user.open_handshakes(), 3);
    // Success; no matching subscribers; and with properties.
    for answer in [&b"\x40\x02\x00\x02"[..], b"\x40\x03\x00\x01\x10", b"\x40\x04\x00\x03\x00\x00"] {
        assert_eq!(heard(&mut user, answer), (ServerEvent::Ignored, Vec::new()));
    }
    assert_eq!(user.open_handshakes(), 0);
    assert!(refuses(heard(&mut user, b"\x40\x02\x00\x01").0, "is not in flight"));
    user.write_message(&mut Vec::new(), 0, |_| {});
    assert!(refuses(heard(&mut user, b"\x40\x04\x00\x04\x97\x00").0, "quota exceeded"));
    assert!(refuses(heard(&mut mqtt(), b"\x40\x02\x00\x01").0, "needs no acknowledgement"));
}

#[test]
fn a_message_of_qos_2_is_delivered_once() {
    let mut user = connected(MqttVersion::V311, 2);
    let (event, out) = heard(&mut user, b"\x34\x0f\x00\x09klatch/12\x00\x07hi");
    assert_eq!((event, &out[..]), (ServerEvent::Message(Speaker::Unknown, b"hi"), &b"\x50\x02\x00\x07"[..]));
    let (event, out) = heard(&mut user, b"\x3c\x0f\x00\x09klatch/12\x00\x07hi");
    assert_eq!((event, &out[..]), (ServerEvent::Ignored, &b"\x50\x02\x00\x07"[..]), "it is held");
    assert_eq!(user.open_handshakes(), 1);
    for _ in 0..2 {
        assert_eq!(
            heard(&mut user, b"\x62\x02\x00\x07"),
            (ServerEvent::Ignored, b"\x70\x02\x00\x07".to_vec())
        );
        assert_eq!(user.open_handshakes(), 0);
    }
    let (event, _) = heard(&mut user, b"\x34\x0f\x00\x09klatch/12\x00\x07ho");
    assert_eq!(event, ServerEvent::Message(Speaker::Unknown, b"ho"), "another message");
    heard(&mut user, b"\x62\x02\x00\x07");
    user.write_message(&mut Vec::new(), 0, |_| {});
    assert_eq!(heard(&mut user, b"\x50\x02\x00\x01"), (ServerEvent::Ignored, b"\x62\x02\x00\x01".to_vec()));
    assert!(refuses(heard(&mut user, b"\x40\x02\x00\x01").0, "is not in flight"));
    assert_eq!(heard(&mut user, b"\x70\x02\x00\x01"), (ServerEvent::Ignored, Vec::new()));
    assert_eq!(user.open_handshakes(), 0);
}

#[test]
fn a_message_with_a_lower_quality_of_service_is_that_of_a_client_outside_the_crowd() {
    let at_0 = b"\x30\x0e\x00\x09klatch/12\x00hi";
    let at_1 = b"\x32\x10\x00\x09klatch/12\x00\x01\x00hi";
    let stranger = ServerEvent::Message(Speaker::Stranger(b"a client of lower QoS"), b"hi");
    for qos in [1, 2] {
        assert_eq!(heard(&mut connected(MqttVersion::V5, qos), at_0), (stranger, Vec::new()), "{qos}");
    }
    let mut user = connected(MqttVersion::V5, 2);
    assert_eq!(heard(&mut user, at_1), (stranger, b"\x40\x02\x00\x01".to_vec()));
    assert_eq!(user.open_handshakes(), 0);
    assert!(refuses(heard(&mut mqtt(), at_1).0, "a higher quality of service"));
}

#[test]
fn client_identifiers_are_those_of_one_crowd_and_every_broker_takes_them() {
    let chat = ChatWorkload::default();
    let id = |chat: &ChatWorkload, user| {
        let mqtt = Mqtt::new(user, &MqttTerms::new(chat, &None));
        String::from_utf8(mqtt.client.into()).unwrap()
    };
    let largest = UserId { room: 65_535, user: 9_999, users: 10_000 };
    let (one, other) = (id(&chat, largest), id(&chat, largest));
    assert_eq!((one.len(), one.chars().all(|letter| letter.is_ascii_alphanumeric())), (23, true), "{one}");
    assert!(one.starts_with("klatch") && one.ends_with("r65535u9999") && one != other, "{one} and {other}");
    let mqtt = MqttSettings { client_id: Some("lab/".to_owned()), ..MqttSettings::default() };
    assert_eq!(id(&ChatWorkload { mqtt, ..chat }, ID), "lab/r12u3");
}
