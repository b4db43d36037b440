//! What the crowd needs of a wire protocol. One file per protocol stands beside this one.

/// A user's place: it tells every name that the user needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) room: u32,
    pub(crate) user: u32,
    pub(crate) users: u32,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker<'a> {
    /// A user of this room, by number.
    Member(u32),
    /// Somebody else, by nick.
    Stranger(&'a [u8]),
    /// The protocol does not tell: only the text does.
    Untold,
}

/// One thing that a server told a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News<'a> {
    /// The user is in the room.
    Joined,
    /// Somebody said something in the room.
    Said(Speaker<'a>, &'a [u8]),
    /// Somebody who is not of the crowd is in the room.
    Stranger(&'a [u8]),
    /// The server refused something.
    Refused(&'a [u8]),
    /// The server says that it closes the connection.
    Closing(&'a [u8]),
    /// Nothing that matters.
    Nothing,
}

/// One user's side of a protocol, without any I/O: bytes in, bytes and news out.
pub(crate) trait Protocol: Send + 'static {
    /// Whether the server also delivers a message to its speaker. Such deliveries are expected, and never counted.
    const ECHOES: bool = false;
    /// A user that is not connected yet.
    fn new(seat: Seat) -> Self;
    /// Appends what a user says first.
    fn hello(&self, out: &mut Vec<u8>);
    /// Appends a message to the room; `text` appends its text of `size` bytes.
    fn say(&self, out: &mut Vec<u8>, size: usize, text: impl FnOnce(&mut Vec<u8>));
    /// Appends what a user says last.
    fn bye(&self, out: &mut Vec<u8>);
    /// Takes the first whole unit of `input`: how many bytes it has, and its news. `None` if there is no whole one.
    /// Answers that the protocol demands are appended to `out`.
    fn hear<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Option<(usize, News<'a>)>;
}

/// What stands before `at`, and what behind it.
pub(crate) fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(at, bytes)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

/// The first line, without its CRLF, and how many bytes it has with it.
pub(crate) fn line(input: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr::memchr(b'\n', input)?;
    Some((input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]), end + 1))
}

/// A decimal number of at most nine digits.
pub(crate) fn decimal(digits: &[u8]) -> Option<usize> {
    let next = |number: usize, digit: &u8| {
        let value = usize::from(digit.wrapping_sub(b'0'));
        (value < 10).then_some(number * 10 + value)
    };
    (1..10).contains(&digits.len()).then(|| digits.iter().try_fold(0, next))?
}
