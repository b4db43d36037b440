//! Nicks and channels: which are valid, and which are the same.

/// The longest nick, bytes.
pub const NICK_MAX: usize = 30;
/// The longest channel, bytes, the `#` included.
pub const CHANNEL_MAX: usize = 50;

/// Letters, digits, ``[]\`_^{|}-``, beginning with none of digit and `-`.
pub fn valid_nick(name: &[u8]) -> bool {
    let first = |byte: u8| byte.is_ascii_alphabetic() || b"[]\\`_^{|}".contains(&byte);
    match name {
        [head, tail @ ..] if name.len() <= NICK_MAX => {
            first(*head) && tail.iter().all(|&byte| first(byte) || byte.is_ascii_digit() || byte == b'-')
        }
        _ => false,
    }
}

/// `#` and at least one byte more, none of them a space, comma, colon or control byte.
pub fn valid_channel(name: &[u8]) -> bool {
    let fits = |&byte: &u8| byte > b' ' && byte != 127 && byte != b',' && byte != b':';
    (2..=CHANNEL_MAX).contains(&name.len()) && name[0] == b'#' && name.iter().all(fits)
}

/// The form of a name that all its spellings share (casemapping `rfc1459`).
pub fn fold(name: &[u8]) -> Vec<u8> {
    name.iter().map(|&byte| fold_byte(byte)).collect()
}

/// Whether two names are spellings of the same.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a == b || a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| fold_byte(a) == fold_byte(b))
}

fn fold_byte(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' | b'[' | b'\\' | b']' => byte + 32,
        b'~' => b'^',
        _ => byte,
    }
}
