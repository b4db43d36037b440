//! Parses a line into prefix, command and parameters, all borrowed from the line.

use std::ops::Deref;

/// The largest number of parameters in one message (RFC 1459).
pub const PARAMS_MAX: usize = 15;

/// A line of IRC, split into prefix, command and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The sender, without the leading colon.
    pub prefix: Option<&'a [u8]>,
    /// The command or numeric in the letter case of the sender; never empty.
    pub command: &'a [u8],
    /// The parameters; a trailing one is stored without its colon.
    pub params: Params<'a>,
}

/// Up to [`PARAMS_MAX`] parameters; a slice of byte slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Params<'a> {
    items: [&'a [u8]; PARAMS_MAX],
    count: usize,
}

impl<'a> Deref for Params<'a> {
    type Target = [&'a [u8]];

    fn deref(&self) -> &[&'a [u8]] {
        &self.items[..self.count]
    }
}

impl<'a> Message<'a> {
    /// Parses a line without its line ending. Returns `None` if it has no command.
    pub fn parse(line: &'a [u8]) -> Option<Message<'a>> {
        let mut rest = skip_spaces(line);
        let mut prefix = None;
        if let Some(after) = rest.strip_prefix(b":") {
            let (word, after) = split_word(after);
            prefix = Some(word);
            rest = skip_spaces(after);
        }
        let (command, mut rest) = split_word(rest);
        if command.is_empty() {
            return None;
        }
        let mut params = Params::default();
        loop {
            rest = skip_spaces(rest);
            if rest.is_empty() {
                break;
            }
            let trailing = rest.strip_prefix(b":");
            let last = trailing.is_some() || params.count == PARAMS_MAX - 1;
            let (word, after) = if last { (trailing.unwrap_or(rest), &[][..]) } else { split_word(rest) };
            params.items[params.count] = word;
            params.count += 1;
            if last {
                break;
            }
            rest = after;
        }
        Some(Message { prefix, command, params })
    }

    /// Returns parameter `index`, counted from 0, unless it is missing or empty.
    pub fn param(&self, index: usize) -> Option<&'a [u8]> {
        self.params.get(index).copied().filter(|param| !param.is_empty())
    }

    /// Returns the nick in the prefix, or the whole prefix if it does not have the form `nick!user@host`.
    pub fn nick(&self) -> Option<&'a [u8]> {
        let prefix = self.prefix?;
        let end = prefix.iter().position(|&byte| byte == b'!').unwrap_or(prefix.len());
        Some(&prefix[..end])
    }
}

fn skip_spaces(bytes: &[u8]) -> &[u8] {
    let spaces = bytes.iter().take_while(|&&byte| byte == b' ').count();
    &bytes[spaces..]
}

fn split_word(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|&byte| byte == b' ').unwrap_or(bytes.len()))
}
