//! Frames against tungstenite, as the peer on either side.

use std::io::{Cursor, Read, Write};

use klatch_protocol::websocket::{Decoder, Event, Opcode, Role, write_frame};
use proptest::prelude::*;
use tungstenite::protocol::{Role as PeerRole, WebSocket};
use tungstenite::{Error, Message};

/// A connection whose input is given and whose output is kept.
struct Wire {
    input: Cursor<Vec<u8>>,
    output: Vec<u8>,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn peer(role: PeerRole, input: Vec<u8>) -> WebSocket<Wire> {
    WebSocket::from_raw_socket(Wire { input: Cursor::new(input), output: Vec::new() }, role, None)
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let text = "\\PC{0,200}".prop_map(Message::text);
    let binary = proptest::collection::vec(any::<u8>(), 0..70_000).prop_map(Message::binary);
    let ping = proptest::collection::vec(any::<u8>(), 0..=125).prop_map(|bytes| Message::Ping(bytes.into()));
    proptest::collection::vec(prop_oneof![4 => text, 1 => binary, 1 => ping], 0..8)
}

proptest! {
    #[test]
    fn what_tungstenite_sends_is_decoded(messages in messages(), from_client in any::<bool>()) {
        let (theirs, ours) =
            if from_client { (PeerRole::Client, Role::Server) } else { (PeerRole::Server, Role::Client) };
        let mut sender = peer(theirs, Vec::new());
        for message in &messages {
            sender.send(message.clone()).unwrap();
        }
        let bytes = &sender.get_ref().output[..];
        let mut decoder = Decoder::new(ours, 1 << 20);
        let (mut used, mut received) = (0, Vec::new());
        while let Some((length, event)) = decoder.decode(&bytes[used..]).unwrap() {
            received.push(match event {
                Event::Message { is_text: true, payload } => Message::text(std::str::from_utf8(payload).unwrap()),
                Event::Message { is_text: false, payload } => Message::binary(payload.to_vec()),
                Event::Ping(payload) => Message::Ping(payload.to_vec().into()),
                other => panic!("{other:?}"),
            });
            used += length;
        }
        prop_assert_eq!(used, bytes.len());
        prop_assert_eq!(received, messages);
    }

    #[test]
    fn tungstenite_reads_what_is_written(messages in messages(), mask in proptest::option::of(any::<[u8; 4]>())) {
        let mut bytes = Vec::new();
        for message in &messages {
            let opcode = match message {
                Message::Text(_) => Opcode::Text,
                Message::Ping(_) => Opcode::Ping,
                _ => Opcode::Binary,
            };
            write_frame(&mut bytes, opcode, mask, &message.clone().into_data());
        }
        let mut receiver = peer(if mask.is_some() { PeerRole::Server } else { PeerRole::Client }, bytes);
        for message in messages {
            prop_assert_eq!(receiver.read().unwrap(), message);
        }
        prop_assert!(matches!(receiver.read(), Err(Error::Protocol(_) | Error::Io(_) | Error::ConnectionClosed)));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600), server in any::<bool>()) {
        let mut decoder = Decoder::new(if server { Role::Server } else { Role::Client }, 300);
        let mut used = 0;
        while let Ok(Some((length, event))) = decoder.decode(&bytes[used..]) {
            prop_assert!(length > 0);
            if let Event::Message { payload, .. } = event {
                prop_assert!(payload.len() <= 300);
            }
            used += length;
        }
        prop_assert!(used <= bytes.len());
    }
}
