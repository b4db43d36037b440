//! Redis publish/subscribe over RESP3: a connection that subscribes may publish too. A room is a channel. Redis delivers a
//! message to its speaker as well, which costs the server one more delivery a message; it is not counted.

use crate::protocol::{News, Protocol, Seat, Speaker, decimal, line};

/// RESP values nest no deeper than this in what Redis answers here.
const DEPTH_MAX: u32 = 8;

/// One user on a Redis server.
pub(crate) struct Redis {
    channel: Box<[u8]>,
}

impl Protocol for Redis {
    const ECHOES: bool = true;

    fn new(seat: Seat) -> Redis {
        Redis { channel: format!("klatch-{}", seat.room).into_bytes().into() }
    }

    fn hello(&self, out: &mut Vec<u8>) {
        command(out, &[b"HELLO", b"3"]);
        command(out, &[b"SUBSCRIBE", &self.channel]);
    }

    fn say(&self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"*3\r\n");
        bulk(out, b"PUBLISH");
        bulk(out, &self.channel);
        out.extend_from_slice(format!("${size}\r\n").as_bytes());
        text(out);
        out.extend_from_slice(b"\r\n");
    }

    fn bye(&self, out: &mut Vec<u8>) {
        command(out, &[b"QUIT"]);
    }

    fn hear<'a>(&mut self, input: &'a [u8], _: &mut Vec<u8>) -> Option<(usize, News<'a>)> {
        let length = value_length(input, DEPTH_MAX)?;
        let value = &input[..length];
        let news = match value[0] {
            b'>' => self.push(value),
            b'-' | b'!' => News::Refused(line(value).map_or(value, |(line, _)| line)),
            _ => News::Nothing,
        };
        Some((length, news))
    }
}

impl Redis {
    /// `>3 "message" channel text`, or the word that the subscription stands.
    fn push<'a>(&self, value: &'a [u8]) -> News<'a> {
        let items = || -> Option<[&'a [u8]; 3]> {
            let (_, head) = line(value)?;
            let (kind, after_kind) = bulk_of(&value[head..])?;
            let (channel, after_channel) = bulk_of(&value[head + after_kind..])?;
            Some([kind, channel, &value[head + after_kind + after_channel..]])
        };
        match items() {
            Some([b"message", channel, text]) if *channel == *self.channel => {
                bulk_of(text).map_or(News::Nothing, |(text, _)| News::Said(Speaker::Untold, text))
            }
            Some([b"subscribe", ..]) => News::Joined,
            _ => News::Nothing,
        }
    }
}

fn command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    words.iter().for_each(|word| bulk(out, word));
}

fn bulk(out: &mut Vec<u8>, word: &[u8]) {
    out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
    out.extend_from_slice(word);
    out.extend_from_slice(b"\r\n");
}

/// A bulk string's bytes, and how many it has with its head and end.
fn bulk_of(input: &[u8]) -> Option<(&[u8], usize)> {
    let (head, taken) = line(input)?;
    let size = decimal(head.strip_prefix(b"$")?)?;
    Some((input.get(taken..taken + size)?, taken + size + 2))
}

/// How many bytes the first RESP3 value has; `None` if it is not all there.
fn value_length(input: &[u8], depth: u32) -> Option<usize> {
    let (head, mut taken) = line(input)?;
    let (&kind, number) = head.split_first()?;
    let number = decimal(number).unwrap_or(0);
    let values = match kind {
        b'$' | b'!' | b'=' => {
            let whole = taken + if head == b"$-1" { 0 } else { number + 2 };
            return (input.len() >= whole).then_some(whole);
        }
        b'*' | b'>' | b'~' => number,
        b'%' => 2 * number,
        _ => 0,
    };
    for _ in 0..values {
        taken += value_length(&input[taken..], depth.checked_sub(1)?)?;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redis() -> Redis {
        Redis::new(Seat { room: 12, user: 3, users: 20 })
    }

    #[test]
    fn a_message_is_published_and_heard() {
        let mut out = Vec::new();
        redis().say(&mut out, 5, |out| out.extend_from_slice(b"hello"));
        assert_eq!(out, b"*3\r\n$7\r\nPUBLISH\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n");
        let push = b">3\r\n$7\r\nmessage\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n:1\r\n";
        let heard = redis().hear(push, &mut out);
        assert_eq!(heard, Some((push.len() - 4, News::Said(Speaker::Untold, b"hello"))));
    }

    #[test]
    fn half_a_value_waits() {
        let push = b">3\r\n$7\r\nmessage\r\n$9\r\nklatch-12\r\n$5\r\nhello\r\n";
        for cut in 0..push.len() {
            assert_eq!(redis().hear(&push[..cut], &mut Vec::new()), None, "{cut} bytes");
        }
    }

    #[test]
    fn the_answers_of_a_server_are_understood() {
        let hear = |bytes: &'static [u8]| redis().hear(bytes, &mut Vec::new());
        let hello = b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*0\r\n";
        assert_eq!(hear(hello), Some((hello.len(), News::Nothing)));
        let subscribed = b">3\r\n$9\r\nsubscribe\r\n$9\r\nklatch-12\r\n:1\r\n";
        assert_eq!(hear(subscribed), Some((subscribed.len(), News::Joined)));
        assert_eq!(hear(b":19\r\n"), Some((5, News::Nothing)));
        assert_eq!(hear(b"-ERR no\r\n"), Some((9, News::Refused(b"-ERR no"))));
        assert_eq!(hear(b"$-1\r\n"), Some((5, News::Nothing)));
    }
}
