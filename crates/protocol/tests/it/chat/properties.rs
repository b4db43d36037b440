//! Properties of the parsers and writers for random input.

use klatch_protocol::chat::frame::{CONTENT_MAX, Event, Framer};
use klatch_protocol::chat::message::{Message, PARAMS_MAX};
use klatch_protocol::chat::text::{Header, ROOM_MAX, SIZE_MAX, SIZE_MIN, USER_MAX};
use klatch_protocol::chat::{names, write};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Generates bytes that form lines, some longer than the limit.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => vec(select(b"PING :x\xff".to_vec()), 0..40),
        6 => select(vec![b"\r\n".to_vec(), b"\n".to_vec(), b"\r".to_vec()]),
        2 => (500_usize..530).prop_map(|length| vec![b'a'; length]),
        1 => Just(vec![0]),
    ];
    vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// Represents `TooLong` by `None`, and `Nul` by an empty line, which a framer never returns.
fn events<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<Option<Vec<u8>>> {
    let mut framer = Framer::default();
    let mut events = Vec::new();
    for mut chunk in chunks {
        while let Some(event) = framer.next(&mut chunk) {
            events.push(match event {
                Event::Line(line) => {
                    assert!((1..=CONTENT_MAX).contains(&line.len()));
                    Some(line.to_vec())
                }
                Event::TooLong => None,
                Event::Nul => Some(Vec::new()),
            });
        }
        assert!(chunk.is_empty());
    }
    events
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    "[^ :\r\n\0][^ \r\n\0]{0,20}".prop_map(String::into_bytes)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    "[^\r\n\0]{0,60}".prop_map(String::into_bytes)
}

fn params(line: &[u8]) -> Vec<Vec<u8>> {
    let content = line.strip_suffix(b"\r\n").expect("an end");
    Message::parse(content).expect("a command").params.iter().map(|param| param.to_vec()).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(bytes in stream(), sizes in vec(1_usize..600, 1..20)) {
        let mut chunks = Vec::new();
        let mut rest = &bytes[..];
        for size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at(rest.len().min(*size));
            chunks.push(chunk);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(events(chunks.into_iter()), events([&bytes[..]].into_iter()));
    }

    #[test]
    fn any_line_can_be_parsed(line in vec(any::<u8>(), 0..600), spaced in "[ :a]{0,60}") {
        for line in [&line[..], spaced.as_bytes()] {
            if let Some(message) = Message::parse(line) {
                prop_assert!(!message.command.is_empty());
                prop_assert!(message.params.len() <= PARAMS_MAX);
            }
        }
    }

    #[test]
    fn a_composed_line_parses_to_its_parts(
        prefix in proptest::option::of(word()), command in word(), mut middle in vec(word(), 0..PARAMS_MAX), last in text(),
    ) {
        let mut line = prefix.iter().flat_map(|prefix| [b":", &prefix[..], b" "].concat()).collect::<Vec<_>>();
        line.extend(&command);
        for param in &middle {
            line.extend([b" ", &param[..]].concat());
        }
        line.extend([b" :", &last[..]].concat());
        let message = Message::parse(&line).expect("a command");
        prop_assert_eq!(message.prefix, prefix.as_deref());
        prop_assert_eq!(message.command, command);
        middle.push(last);
        prop_assert_eq!(&message.params[..], middle);
    }

    #[test]
    fn client_lines_parse_to_their_arguments(word in word(), text in text()) {
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut line = Vec::new();
            write(&mut line);
            line
        };
        prop_assert_eq!(params(&written(&|out| write::nick(out, &word))), [&word[..]]);
        prop_assert_eq!(params(&written(&|out| write::user(out, &word, &text))), [&word[..], b"0", b"*", &text]);
        prop_assert_eq!(params(&written(&|out| write::join(out, &word))), [&word[..]]);
        prop_assert_eq!(params(&written(&|out| write::privmsg(out, &word, &text))), [&word[..], &text]);
        prop_assert_eq!(params(&written(&|out| write::pong(out, &text))), [&text[..]]);
        prop_assert!(params(&written(&write::quit)).is_empty());
    }

    #[test]
    fn folding_is_idempotent_and_decides_equality(a in vec(any::<u8>(), 0..60), b in "[A-Z\\[\\]\\\\~a-z{}|^]{0,8}", c in "[A-Z\\[\\]\\\\~a-z{}|^]{0,8}") {
        let folded = names::fold(&a);
        prop_assert_eq!(names::fold(&folded), &folded[..]);
        prop_assert!(names::same(&a, &folded));
        prop_assert_eq!(names::valid_nick(&a) && !names::valid_nick(&folded), false);
        prop_assert_eq!(names::valid_channel(&a), names::valid_channel(&folded));
        let (b, c) = (b.as_bytes(), c.as_bytes());
        prop_assert_eq!(names::same(b, c), names::fold(b) == names::fold(c));
    }

    #[test]
    fn random_text_is_rejected(text in vec(any::<u8>(), 0..=SIZE_MAX + 1), hex in "[0-9a-f ]{0,60}") {
        prop_assert_eq!(Header::read(1, &text), None);
        prop_assert_eq!(Header::read(1, hex.as_bytes()), None);
    }

    #[test]
    fn a_text_round_trips_and_any_changed_byte_is_detected(
        room in 1..=ROOM_MAX, user in 0..=USER_MAX, sequence in any::<u32>(), time_ns in 0..1_u64 << 48,
        size in SIZE_MIN..=SIZE_MAX, at in any::<proptest::sample::Index>(), flip in 1_u8..=255,
    ) {
        let header = Header { user, sequence, time_ns };
        let mut text = Vec::new();
        header.write(room, size, &mut text);
        prop_assert_eq!(text.len(), size);
        prop_assert_eq!(Header::read(room, &text), Some(header));
        text[at.index(size)] ^= flip;
        prop_assert_eq!(Header::read(room, &text), None);
    }
}
