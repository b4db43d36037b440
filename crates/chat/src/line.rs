//! Lines that the server sends, and what makes them fit.

use std::sync::Arc;

use crate::frame::CONTENT_MAX;

/// A line from its parts, cut if it is too long.
pub(crate) fn line(parts: &[&[u8]]) -> Arc<[u8]> {
    let mut bytes = parts.concat();
    end(&mut bytes);
    bytes.into()
}

/// Cuts the line if it is too long, and ends it.
pub(crate) fn end(bytes: &mut Vec<u8>) {
    bytes.truncate(cut(bytes, CONTENT_MAX).len());
    bytes.extend_from_slice(b"\r\n");
}

/// At most `max` bytes from the front, not ending inside a UTF-8 character.
pub(crate) fn cut(bytes: &[u8], max: usize) -> &[u8] {
    if bytes.len() <= max {
        return bytes;
    }
    // A character has at most 3 bytes after its first; more of that kind are not UTF-8, and any place is as good.
    let starts_character = |&at: &usize| bytes[at] & 0xC0 != 0x80;
    let at = (max.saturating_sub(3)..=max).rev().find(starts_character).unwrap_or(max);
    &bytes[..at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters_only() {
        assert_eq!(cut("aü".as_bytes(), 3), "aü".as_bytes());
        assert_eq!(cut("aü".as_bytes(), 2), b"a");
        assert_eq!(cut("😀😀".as_bytes(), 7), "😀".as_bytes());
        assert_eq!(cut(b"\x80\x80\x80\x80\x80\x80", 4), b"\x80\x80\x80\x80");
        assert_eq!(cut("ü".as_bytes(), 1), b"");
    }

    #[test]
    fn a_line_has_at_most_512_bytes() {
        assert_eq!(&line(&[b"A ", b"b"])[..], b"A b\r\n");
        assert_eq!(line(&[&[b'x'; 510]]).len(), 512);
        assert_eq!(line(&[&[b'x'; 600]]).len(), 512);
    }
}
