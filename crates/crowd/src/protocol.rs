//! The crowd's interface to a wire protocol. Each protocol is a module of its own.

use std::sync::Arc;

use klatch_record::Login;

/// Identifies a user. Nick, channel and topic are derived from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserId {
    pub(crate) room: u32,
    pub(crate) user: u32,
    pub(crate) users: u32,
}

/// What a user says of itself before it joins. Shared: with a hundred thousand users, a copy for each would cost memory.
pub(crate) type Credentials = Option<Arc<Login>>;

/// The sender of a message, as the protocol reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker<'a> {
    /// A user of this room, by number.
    Member(u32),
    /// A client outside the crowd, by nick.
    Stranger(&'a [u8]),
    /// The protocol does not name the sender; the message text does.
    Unknown,
}

/// One event that a server sent to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEvent<'a> {
    /// The user has joined its room.
    Joined,
    /// A message to the room, and its text.
    Message(Speaker<'a>, &'a [u8]),
    /// The nick of a client outside the crowd that is in the room.
    Stranger(&'a [u8]),
    /// A user of this room, by number, has left it. Only IRC reports this.
    Left(u32),
    /// The server refused a request; the text is its answer.
    Refused(&'a [u8]),
    /// The server announced that it will close the connection.
    Closing(&'a [u8]),
    /// A line that the crowd does not need.
    Ignored,
}

/// One user's side of a protocol, without any I/O: bytes in, bytes and events out.
pub(crate) trait Protocol: Send + 'static {
    /// What all users of a crowd have in common.
    type Terms: Clone + Default + Send + Sync + 'static;
    /// The state of a user that is not connected yet.
    fn new(id: UserId, terms: &Self::Terms) -> Self;
    /// Appends what a user sends after connecting: registration, and subscription where it needs no answer first.
    fn write_handshake(&self, out: &mut Vec<u8>);
    /// Appends a message to the room; `text` appends its text of `size` bytes.
    fn write_message(&mut self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>));
    /// Appends what a user sends before closing.
    fn write_quit(&self, out: &mut Vec<u8>);
    /// Parses the first complete unit of `input`. Returns its length in bytes and its event, or `None` if it is incomplete.
    /// Appends replies that the protocol requires, such as a PONG, to `out`.
    fn parse<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, ServerEvent<'a>)>;
    /// Whether the server also delivers a message to its speaker. The crowd expects such deliveries and does not count them.
    fn echoes(&self) -> bool {
        false
    }
    /// Whether the server takes one more message now.
    fn may_send(&self) -> bool {
        true
    }
    /// Handshakes of messages that are not complete, in both directions.
    fn open_handshakes(&self) -> usize {
        0
    }
}

/// The parts before and after the first `at`.
pub(crate) fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, bytes)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

/// The first line without its CRLF, and its length in bytes including the line end.
pub(crate) fn line(input: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr::memchr(b'\n', input)?;
    Some((input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]), end + 1))
}

/// Most characters of what a server sent that a message shows.
const SHOWN_MAX: usize = 200;

/// What a server sent, for a message: only its beginning.
pub(crate) fn shown(bytes: &[u8]) -> String {
    shown_up_to(bytes, SHOWN_MAX)
}

/// The same with at most `most` characters.
pub(crate) fn shown_up_to(bytes: &[u8], most: usize) -> String {
    // A character has four bytes at most.
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * most)]);
    printable(beginning.chars().take(most).collect())
}

/// A message with something that a server sent in it, without characters that control a terminal.
pub(crate) fn printable(text: String) -> String {
    klatch_record::printable_line(&text).into_owned()
}

/// Parses a decimal number of at most nine digits.
pub(crate) fn decimal(digits: &[u8]) -> Option<usize> {
    let next = |number: usize, digit: &u8| {
        let value = usize::from(digit.wrapping_sub(b'0'));
        (value < 10).then_some(number * 10 + value)
    };
    (1..10).contains(&digits.len()).then(|| digits.iter().try_fold(0, next))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_sent_cannot_control_a_terminal_or_fill_it() {
        assert_eq!(shown(b"-ERR 'no' \xc3\xa9"), "-ERR 'no' \u{e9}");
        assert_eq!(shown(b"\x1b[2Jgone\r\n\0\xc2\x9b"), "\\u001b[2Jgone\\u000d\\u000a\\u0000\\u009b");
        assert_eq!(shown(&[b'x'; 9999]).len(), SHOWN_MAX);
        assert_eq!(shown_up_to("\u{10348}".repeat(9).as_bytes(), 3).chars().count(), 3);
    }
}
