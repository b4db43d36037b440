//! The frames and keys of `vectors/websocket.json`.

use klatch_protocol::websocket::{Decoder, Event, Role, accept_value};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Vectors {
    largest_bytes: usize,
    accept: Vec<(String, String)>,
    frames: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    role: String,
    bytes: String,
    events: Vec<Value>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../../../../vectors/websocket.json")).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn as_json(event: Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Message { is_text: true, payload } => json!({"text": std::str::from_utf8(payload).unwrap()}),
        Event::Message { is_text: false, payload } => json!({"binary": hex(payload)}),
        Event::Ping(payload) => json!({"ping": hex(payload)}),
        Event::Pong(payload) => json!({"pong": hex(payload)}),
        Event::Close { code, reason } => json!({"close": code, "reason": reason}),
        Event::Nothing => return None,
    })
}

/// What a decoder makes of bytes that arrive in pieces of this size.
fn events(role: Role, largest_bytes: usize, bytes: &[u8], piece: usize) -> Vec<Value> {
    let mut decoder = Decoder::new(role, largest_bytes);
    let (mut pending, mut events) = (Vec::new(), Vec::new());
    for chunk in bytes.chunks(piece) {
        pending.extend_from_slice(chunk);
        loop {
            match decoder.decode(&pending) {
                Ok(Some((used, event))) => {
                    events.extend(as_json(event));
                    pending.drain(..used);
                }
                Ok(None) => break,
                Err(error) => {
                    events.push(json!({"error": error.code}));
                    return events;
                }
            }
        }
    }
    events
}

#[test]
fn frames_are_decoded_as_the_vectors_say_in_pieces_of_any_size() {
    let vectors = vectors();
    for case in &vectors.frames {
        let role = if case.role == "server" { Role::Server } else { Role::Client };
        let bytes = unhex(&case.bytes);
        for piece in [1, 2, 3, 7, bytes.len()] {
            let got = events(role, vectors.largest_bytes, &bytes, piece);
            assert_eq!(got, case.events, "{} in pieces of {piece}", case.name);
        }
    }
}

#[test]
fn keys_have_their_accept_values() {
    for (key, value) in vectors().accept {
        assert_eq!(accept_value(&key), value);
    }
}
