//! Builds the lines that the server sends, and truncates them to the size limit.

use std::sync::Arc;

use crate::chat::frame::CONTENT_MAX;

/// Joins `parts` to a line, truncates it to the size limit and appends CR LF.
pub(crate) fn line(parts: &[&[u8]]) -> Arc<[u8]> {
    let mut bytes = parts.concat();
    end(&mut bytes);
    bytes.into()
}

/// Truncates the line to the size limit and appends CR LF.
pub(crate) fn end(bytes: &mut Vec<u8>) {
    bytes.truncate(cut(bytes, CONTENT_MAX).len());
    bytes.extend_from_slice(b"\r\n");
}

/// Returns at most `max` bytes from the front, without splitting a UTF-8 character.
pub(crate) fn cut(bytes: &[u8], max: usize) -> &[u8] {
    if bytes.len() <= max {
        return bytes;
    }
    // A UTF-8 character has at most 3 continuation bytes. With more of them the text is not UTF-8; cut anywhere.
    let starts_character = |&at: &usize| bytes[at] & 0xC0 != 0x80;
    let at = (max.saturating_sub(3)..=max).rev().find(starts_character).unwrap_or(max);
    &bytes[..at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_never_splits_a_character() {
        assert_eq!(cut("aü".as_bytes(), 3), "aü".as_bytes());
        assert_eq!(cut("aü".as_bytes(), 2), b"a");
        assert_eq!(cut("😀😀".as_bytes(), 7), "😀".as_bytes());
        assert_eq!(cut(b"\x80\x80\x80\x80\x80\x80", 4), b"\x80\x80\x80\x80");
        assert_eq!(cut("ü".as_bytes(), 1), b"");
    }

    #[test]
    fn line_is_truncated_to_512_bytes() {
        assert_eq!(&line(&[b"A ", b"b"])[..], b"A b\r\n");
        assert_eq!(line(&[&[b'x'; 510]]).len(), 512);
        assert_eq!(line(&[&[b'x'; 600]]).len(), 512);
    }
}
