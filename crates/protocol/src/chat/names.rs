//! Validity and case folding of nicks and channel names.

/// The longest valid nick, in bytes.
pub const NICK_MAX: usize = 30;
/// The longest valid channel name in bytes, including the `#`.
pub const CHANNEL_MAX: usize = 50;

/// Accepts letters, digits and ``[]\`_^{|}-``; the first byte must be neither a digit nor `-`.
pub fn valid_nick(name: &[u8]) -> bool {
    let first = |byte: u8| byte.is_ascii_alphabetic() || b"[]\\`_^{|}".contains(&byte);
    match name {
        [head, tail @ ..] if name.len() <= NICK_MAX => {
            first(*head) && tail.iter().all(|&byte| first(byte) || byte.is_ascii_digit() || byte == b'-')
        }
        _ => false,
    }
}

/// Accepts `#` and at least one more byte; spaces, commas, colons and control bytes are not allowed.
pub fn valid_channel(name: &[u8]) -> bool {
    let fits = |&byte: &u8| byte > b' ' && byte != 127 && byte != b',' && byte != b':';
    (2..=CHANNEL_MAX).contains(&name.len()) && name[0] == b'#' && name.iter().all(fits)
}

/// Converts a name to the lower case of the casemapping `rfc1459`; equal names have equal results.
pub fn fold(name: &[u8]) -> Vec<u8> {
    name.iter().map(|&byte| fold_byte(byte)).collect()
}

/// Compares two names under the casemapping `rfc1459`, without allocating.
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
