//! A line that a server sent.

use std::fmt;

use klatch_protocol::chat::message::Message;
use klatch_protocol::chat::names::same;

/// A line without its line end.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<u8>);

impl Line {
    pub(crate) fn message(&self) -> Option<Message<'_>> {
        Message::parse(&self.0)
    }

    pub(crate) fn is(&self, command: &str) -> bool {
        self.message().is_some_and(|message| message.command.eq_ignore_ascii_case(command.as_bytes()))
    }

    /// Whether this is a `command` from the user `nick`.
    pub(crate) fn is_from(&self, nick: &str, command: &str) -> bool {
        self.is(command) && self.nick().is_some_and(|from| same(from, nick.as_bytes()))
    }

    /// The nick in the prefix.
    pub(crate) fn nick(&self) -> Option<&[u8]> {
        self.message()?.nick()
    }

    /// Parameter number `index`, from 0.
    pub(crate) fn param(&self, index: usize) -> Option<&[u8]> {
        self.message()?.param(index)
    }

    /// Whether parameter number `index` is this room or nick, compared as IRC does.
    pub(crate) fn names(&self, index: usize, name: &str) -> bool {
        self.param(index).is_some_and(|param| same(param, name.as_bytes()))
    }

    /// The code of a numeric reply.
    pub(crate) fn numeric(&self) -> Option<u16> {
        let message = self.message()?;
        let digits = message.command.len() == 3 && message.command.iter().all(u8::is_ascii_digit);
        digits.then(|| message.command.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
    }

    /// Whether this is a numeric that refuses something. 422, a missing message of the day, is not.
    pub(crate) fn is_error(&self) -> bool {
        self.numeric().is_some_and(|number| (400..600).contains(&number) && number != 422)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 100;
        let text = String::from_utf8_lossy(&self.0);
        let shown: String = text.chars().take(SHOWN).collect();
        let end = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
        write!(f, "`{}{end}`", klatch_record::printable_line(&shown))
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
