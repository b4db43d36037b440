//! Checks the parsers and writers against `vectors/*.json`.

use crate::chat::shared::{unescape, vectors};
use klatch_protocol::chat::frame::{Event, Framer};
use klatch_protocol::chat::message::Message;
use klatch_protocol::chat::names;
use klatch_protocol::chat::text::Header;
use serde_json::Value;

fn read(file: &str) -> Value {
    let text = std::fs::read_to_string(vectors(file)).expect(file);
    serde_json::from_str(&text).expect(file)
}

fn cases(value: &Value) -> &[Value] {
    let cases = value.as_array().expect("an array");
    assert!(!cases.is_empty());
    cases
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

#[test]
fn parse_vectors() {
    for case in cases(&read("parse.json")["lines"]) {
        let line = text(&case["line"]);
        let message = Message::parse(line.as_bytes());
        if case["error"] == "no_command" {
            assert_eq!(message, None, "{line}");
            continue;
        }
        let message = message.expect(line);
        assert_eq!(message.prefix, case["prefix"].as_str().map(str::as_bytes), "{line}");
        assert_eq!(message.command, text(&case["command"]).as_bytes(), "{line}");
        let params: Vec<_> =
            case["params"].as_array().expect("params").iter().map(|param| text(param).as_bytes()).collect();
        assert_eq!(&message.params[..], params, "{line}");
    }
}

/// An [`Event`] with its own copy of the text.
#[derive(Debug, PartialEq)]
enum OwnedEvent {
    Line(Vec<u8>),
    TooLong,
    Nul,
}

fn frame<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<OwnedEvent> {
    let mut framer = Framer::default();
    let mut events = Vec::new();
    for mut chunk in chunks {
        while let Some(event) = framer.next(&mut chunk) {
            events.push(match event {
                Event::Line(line) => OwnedEvent::Line(line.to_vec()),
                Event::TooLong => OwnedEvent::TooLong,
                Event::Nul => OwnedEvent::Nul,
            });
        }
    }
    events
}

#[test]
fn framing_vectors() {
    for case in cases(&read("framing.json")["cases"]) {
        let name = text(&case["name"]);
        let chunks: Vec<_> = cases(&case["chunks"]).iter().map(|chunk| unescape(text(chunk))).collect();
        let expected: Vec<_> = case["events"]
            .as_array()
            .expect("events")
            .iter()
            .map(|event| match event["line"].as_str() {
                Some(line) => OwnedEvent::Line(unescape(line)),
                None if event["too_long"] == true => OwnedEvent::TooLong,
                None => OwnedEvent::Nul,
            })
            .collect();
        assert_eq!(frame(chunks.iter().map(Vec::as_slice)), expected, "{name}");
        let all = chunks.concat();
        assert_eq!(frame([&all[..]]), expected, "{name}, all at once");
        assert_eq!(frame(all.chunks(1)), expected, "{name}, byte by byte");
    }
}

#[test]
fn name_vectors() {
    let vectors = read("names.json");
    for case in cases(&vectors["nicks"]) {
        assert_eq!(names::valid_nick(text(&case["name"]).as_bytes()), case["valid"] == true, "{case}");
    }
    for case in cases(&vectors["channels"]) {
        assert_eq!(names::valid_channel(text(&case["name"]).as_bytes()), case["valid"] == true, "{case}");
    }
    for case in cases(&vectors["folds"]) {
        let (a, b) = (text(&case["a"]).as_bytes(), text(&case["b"]).as_bytes());
        let same = case["same"] == true;
        assert_eq!(names::same(a, b), same, "{case}");
        assert_eq!(names::fold(a) == names::fold(b), same, "{case}");
    }
}

#[test]
fn text_vectors() {
    let vectors = read("text.json");
    let number = |value: &Value| value.as_u64().expect("a number");
    let room = |case: &Value| number(&case["room"]).try_into().expect("a room");
    for case in cases(&vectors["good"]) {
        let header = Header {
            user: number(&case["user"]).try_into().expect("a user"),
            sequence: number(&case["sequence"]).try_into().expect("a sequence number"),
            time_ns: number(&case["time_ns"]),
        };
        let text = text(&case["text"]);
        let mut written = Vec::new();
        header.write(room(case), number(&case["size"]) as usize, &mut written);
        assert_eq!(String::from_utf8_lossy(&written), text);
        assert_eq!(Header::read(room(case), text.as_bytes()), Some(header), "{text}");
    }
    for case in cases(&vectors["bad"]) {
        assert_eq!(Header::read(room(case), text(&case["text"]).as_bytes()), None, "{case}");
    }
}
