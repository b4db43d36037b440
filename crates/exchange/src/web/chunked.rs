//! Decodes the transfer coding `chunked` (RFC 9112, section 7.1) piece by piece. Data is returned in place.

use std::fmt;

use super::body_piece::BodyPiece;

/// Most hexadecimal digits of a chunk's size.
const SIZE_DIGITS_MAX: u32 = 15;
/// Most bytes of all chunk extensions and trailers together.
const IGNORED_BYTES_MAX: u32 = 8 * 1024;

/// The rule that a chunked body breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkedError {
    /// A chunk's size is no hexadecimal number of 1 to 15 digits.
    Size,
    /// A line or a chunk does not end with CR LF.
    LineEnd,
    /// Chunk extensions and trailers exceed 8 KiB.
    TooMuchIgnored,
}

impl fmt::Display for ChunkedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChunkedError::Size => "a chunk's size is no hexadecimal number of 1 to 15 digits",
            ChunkedError::LineEnd => "a line or a chunk of the body does not end with CR LF",
            ChunkedError::TooMuchIgnored => "chunk extensions and trailers exceed 8 KiB",
        })
    }
}

impl std::error::Error for ChunkedError {}

/// The state between two pieces of a chunked body.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkedDecoder {
    state: State,
    /// Bytes of extensions and trailers so far.
    ignored_bytes: u32,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A chunk's size, of which `digits` have been read.
    Size { value: u64, digits: u32 },
    /// The extensions of a chunk.
    Extension { size: u64 },
    /// The LF after a chunk's size and extensions.
    SizeLf { size: u64 },
    /// The data of a chunk, of which so many bytes are missing.
    Data { left: u64 },
    /// The CR after the data of a chunk.
    DataCr,
    /// The LF after the data of a chunk.
    DataLf,
    /// The first byte of a trailer, or the CR of the empty line.
    TrailerStart,
    /// The rest of a trailer.
    Trailer,
    /// The LF after a trailer.
    TrailerLf,
    /// The LF of the empty line.
    LastLf,
    /// The response after this one.
    Done,
}

impl Default for State {
    fn default() -> Self {
        State::Size { value: 0, digits: 0 }
    }
}

impl ChunkedDecoder {
    /// Takes the next piece from the front of `input`. After an error the connection is of no use.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<BodyPiece<'a>, ChunkedError> {
        loop {
            match self.state {
                State::Done => return Ok(BodyPiece::End),
                State::Data { left } if !input.is_empty() => {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                    let left = left - count as u64;
                    self.state = if left == 0 { State::DataCr } else { State::Data { left } };
                    return Ok(BodyPiece::Data(input.split_off(..count).expect("there are so many bytes")));
                }
                _ => match input.split_off_first() {
                    Some(&byte) => self.state = self.after(byte)?,
                    None => return Ok(BodyPiece::NeedMore),
                },
            }
        }
    }

    /// The state after a byte that is no data.
    fn after(&mut self, byte: u8) -> Result<State, ChunkedError> {
        match (self.state, byte) {
            (State::Size { value, digits }, byte) if byte.is_ascii_hexdigit() => {
                if digits == SIZE_DIGITS_MAX {
                    return Err(ChunkedError::Size);
                }
                let digit = (byte as char).to_digit(16).unwrap_or(0);
                Ok(State::Size { value: value << 4 | u64::from(digit), digits: digits + 1 })
            }
            (State::Size { digits: 0, .. }, _) => Err(ChunkedError::Size),
            (State::Size { value: size, .. } | State::Extension { size }, b'\r') => {
                Ok(State::SizeLf { size })
            }
            (State::Size { value: size, .. }, b';' | b' ' | b'\t') => self.ignore(State::Extension { size }),
            (State::Size { .. }, _) => Err(ChunkedError::Size),
            (State::Extension { .. } | State::TrailerStart | State::Trailer, b'\n') => {
                Err(ChunkedError::LineEnd)
            }
            (State::Extension { size }, _) => self.ignore(State::Extension { size }),
            (State::SizeLf { size: 0 }, b'\n') => Ok(State::TrailerStart),
            (State::SizeLf { size }, b'\n') => Ok(State::Data { left: size }),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::default()),
            (State::TrailerStart, b'\r') => Ok(State::LastLf),
            (State::Trailer, b'\r') => Ok(State::TrailerLf),
            (State::TrailerStart | State::Trailer, _) => self.ignore(State::Trailer),
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            (State::LastLf, b'\n') => Ok(State::Done),
            _ => Err(ChunkedError::LineEnd),
        }
    }

    fn ignore(&mut self, next: State) -> Result<State, ChunkedError> {
        self.ignored_bytes += 1;
        if self.ignored_bytes > IGNORED_BYTES_MAX { Err(ChunkedError::TooMuchIgnored) } else { Ok(next) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes pieces of `size` bytes. Returns the data and the bytes after the body, once it is complete.
    fn decode(bytes: &[u8], size: usize) -> Result<(Vec<u8>, Option<Vec<u8>>), ChunkedError> {
        let (mut decoder, mut data) = (ChunkedDecoder::default(), Vec::new());
        for (number, mut input) in bytes.chunks(size).enumerate() {
            loop {
                match decoder.next(&mut input)? {
                    BodyPiece::Data(piece) => data.extend_from_slice(piece),
                    BodyPiece::NeedMore => break,
                    BodyPiece::End => {
                        let rest = bytes[number * size..][..size.min(bytes.len() - number * size)].len()
                            - input.len();
                        return Ok((data, Some(bytes[number * size + rest..].to_vec())));
                    }
                }
            }
        }
        Ok((data, None))
    }

    #[test]
    fn bodies_decode_in_pieces_of_any_size() {
        let body = b"5\r\nhello\r\n00a;name=\"x\"\r\n, world, 2\r\n1 \r\n!\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\nHTTP";
        for size in 1..=body.len() {
            let expected = (b"hello, world, 2!".to_vec(), Some(b"HTTP".to_vec()));
            assert_eq!(decode(body, size), Ok(expected), "{size}");
        }
        assert_eq!(decode(b"0\r\n\r\n", 9), Ok((vec![], Some(vec![]))));
    }

    #[test]
    fn a_body_without_its_last_byte_is_not_complete() {
        let body = b"5\r\nhello\r\n0\r\na: b\r\n\r\n";
        for length in 0..body.len() {
            let (data, rest) = decode(&body[..length], 99).unwrap();
            assert!(b"hello".starts_with(&data[..]) && rest.is_none(), "{length}");
        }
    }

    #[test]
    fn broken_rules_are_named() {
        let long = format!("1;{}", "x".repeat(IGNORED_BYTES_MAX as usize));
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(2049));
        for (body, error) in [
            ("\r\n", ChunkedError::Size),
            ("x\r\n", ChunkedError::Size),
            ("-1\r\n", ChunkedError::Size),
            ("5x\r\n", ChunkedError::Size),
            ("5\n", ChunkedError::Size),
            ("1000000000000000\r\n", ChunkedError::Size),
            ("5\rx", ChunkedError::LineEnd),
            ("5;a\nhello", ChunkedError::LineEnd),
            ("5\r\nhello5", ChunkedError::LineEnd),
            ("5\r\nhello\r5", ChunkedError::LineEnd),
            ("5\r\nhello\n", ChunkedError::LineEnd),
            ("0\r\n\n", ChunkedError::LineEnd),
            ("0\r\n\rx", ChunkedError::LineEnd),
            ("0\r\na: b\n", ChunkedError::LineEnd),
            (&long, ChunkedError::TooMuchIgnored),
            (&trailers, ChunkedError::TooMuchIgnored),
        ] {
            assert_eq!(decode(body.as_bytes(), 7), Err(error), "{body:.40}");
        }
        assert!(decode(b"fffffffffffffff\r\nx", 7).is_ok(), "a huge chunk needs no memory");
    }

    proptest! {
        #[test]
        fn encoded_bodies_decode(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..9),
            rest in proptest::collection::vec(any::<u8>(), 0..9),
            size in 1_usize..50,
        ) {
            let mut encoded = Vec::new();
            for chunk in &chunks {
                encoded.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                encoded.extend_from_slice(chunk);
                encoded.extend_from_slice(b"\r\n");
            }
            encoded.extend_from_slice(b"0\r\n\r\n");
            encoded.extend_from_slice(&rest);
            prop_assert_eq!(decode(&encoded, size), Ok((chunks.concat(), Some(rest))));
        }

        /// Bytes that are mostly of chunked bodies, so that deep states are reached.
        #[test]
        fn any_bytes_decode_alike_in_pieces_of_any_size(bytes in "[0-3a;\r\n\n]{0,60}|(\\PC{0,9}\r\n){0,9}", size in 1_usize..9) {
            prop_assert_eq!(decode(bytes.as_bytes(), size), decode(bytes.as_bytes(), usize::MAX >> 1));
        }
    }
}
