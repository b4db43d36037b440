//! Which version of MQTT a broker speaks: one connection asks for 5 before the run.

use std::io::ErrorKind;

use klatch_record::MqttVersion;

use super::packet::{CONNACK, DISCONNECT, packet, take_length};
use super::{Mqtt, MqttTerms, reason};
use crate::protocol::{Protocol, UserId};
use crate::timed_connection::TimedConnection;

/// Bytes of a CONNACK at most.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Asks a broker for MQTT 5 as this user would. It is 3.1.1 if the broker refuses that version, answers in the other one, or closes the
/// connection without an answer. Any other answer, and any other failure, is for the users to meet.
pub(crate) fn negotiate(
    first: UserId,
    terms: &MqttTerms,
    connect: impl FnOnce() -> std::io::Result<TimedConnection>,
) -> MqttVersion {
    let user = Mqtt::new(first, terms);
    let mut connect_packet = Vec::new();
    user.write_connect(&mut connect_packet);
    let ask = || {
        let mut connection = connect()?;
        connection.write(&connect_packet)?;
        let mut answer = Vec::new();
        let version = loop {
            match version_in(&answer) {
                Some(version) => break version,
                None if answer.len() > ANSWER_BYTES_MAX => break MqttVersion::V5,
                None => {}
            }
            if connection.read(&mut answer)? == 0 {
                break closed(&answer);
            }
        };
        let mut quit = Vec::new();
        packet(&mut quit, DISCONNECT, &[]);
        // The broker may have closed the connection.
        let _ = connection.write(&quit);
        Ok::<_, std::io::Error>(version)
    };
    ask().unwrap_or_else(|error| match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => MqttVersion::V311,
        _ => MqttVersion::V5,
    })
}

/// The version of a broker that closed the connection after these bytes.
fn closed(answer: &[u8]) -> MqttVersion {
    if answer.is_empty() { MqttVersion::V311 } else { MqttVersion::V5 }
}

/// The version that an answer is in; `None` if it is not complete.
fn version_in(answer: &[u8]) -> Option<MqttVersion> {
    let (&kind, rest) = answer.split_first()?;
    if kind != CONNACK {
        return Some(MqttVersion::V5);
    }
    let (length, digits) = take_length(rest)?;
    let body = rest.get(digits..digits + length)?;
    Some(match body {
        // Without properties, which 5 has even if there are none.
        [_, _] => MqttVersion::V311,
        [_, code, ..] if reason::is_of_version(*code) => MqttVersion::V311,
        _ => MqttVersion::V5,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    use klatch_record::{Connecting, ProtocolName};

    use super::*;
    use crate::addresses::Addresses;
    use crate::channel::ClientEndpoint;

    /// The version that is spoken with a broker that answers this and closes the connection, and what it was asked.
    fn version_after(answer: &'static [u8]) -> (MqttVersion, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let broker = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 2];
            stream.read_exact(&mut head).unwrap();
            let mut asked = vec![0; head[1].into()];
            stream.read_exact(&mut asked).unwrap();
            stream.write_all(answer).unwrap();
            asked
        });
        let limit = Duration::from_secs(60);
        let server = ClientEndpoint::plain(ProtocolName::Mqtt, "127.0.0.1", address.port());
        let addresses = Addresses::new(vec![address], &Connecting::default());
        let first = UserId { room: 1, user: 0, users: 2 };
        let version = negotiate(first, &MqttTerms::default(), || {
            TimedConnection::open(&server, &addresses, limit, limit)
        });
        (version, broker.join().unwrap())
    }

    #[test]
    fn a_broker_that_refuses_version_5_is_spoken_to_in_3_1_1() {
        for answer in [
            // The return code of 3.1.1, the reason code of 5, what a broker of 3.1.1 takes for its own version, and no answer.
            &b"\x20\x02\x00\x01"[..],
            b"\x20\x03\x00\x84\x00",
            b"\x20\x02\x00\x00",
            b"",
        ] {
            let (version, asked) = version_after(answer);
            assert_eq!(version, MqttVersion::V311, "{}", answer.escape_ascii());
            assert!(asked.starts_with(b"\x00\x04MQTT\x05"), "{}", asked.escape_ascii());
        }
    }

    #[test]
    fn any_other_answer_is_for_the_users() {
        for answer in [
            // Accepted; refused for another reason; another protocol; closed within the answer.
            &b"\x20\x03\x00\x00\x00"[..],
            b"\x20\x03\x00\x87\x00",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"\x20\x03\x00",
        ] {
            assert_eq!(version_after(answer).0, MqttVersion::V5, "{}", answer.escape_ascii());
        }
        let none = UserId { room: 1, user: 0, users: 2 };
        let refused = || Err(std::io::ErrorKind::ConnectionRefused.into());
        assert_eq!(negotiate(none, &MqttTerms::default(), refused), MqttVersion::V5);
    }
}
