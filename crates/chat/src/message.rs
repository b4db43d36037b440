//! A line → prefix, command and parameters, all borrowed from the line.

use std::ops::Deref;

/// The most parameters that a message has.
pub const PARAMS_MAX: usize = 15;

/// A message, as it stands in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who it comes from, without the colon.
    pub prefix: Option<&'a [u8]>,
    /// The command or numeric, in the spelling of the sender; never empty.
    pub command: &'a [u8],
    /// The parameters, the last one without its colon.
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
    /// Takes a line (without its ending) apart. `None`: it has no command.
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

    /// The parameter number `index` (from 0), unless it is missing or empty.
    pub fn param(&self, index: usize) -> Option<&'a [u8]> {
        self.params.get(index).copied().filter(|param| !param.is_empty())
    }

    /// The nick in the prefix (all of it, when it is not of the form `nick!user@host`).
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
