//! Responses that are taken as a whole, for workloads whose bodies are short.

use std::borrow::Cow;

use super::body_piece::BodyPiece;
use super::request::Parsed;
use super::response::{BodyLength, BodyReader, ResponseError, ResponseHead, parse_response};

/// A response with its whole body.
#[derive(Debug)]
pub struct WholeResponse<'a> {
    /// The head of the response.
    pub head: ResponseHead<'a>,
    /// The body without transfer coding.
    pub body: Cow<'a, [u8]>,
    /// Bytes of head and body as they were sent.
    pub bytes: usize,
}

/// Parses the first response of `input`; `None` if it is incomplete.
///
/// # Errors
/// The bytes are no response, or its body ends with the connection only.
pub fn parse_whole_response(input: &[u8]) -> Result<Option<WholeResponse<'_>>, ResponseError> {
    let (head, head_bytes) = match parse_response(input)? {
        Parsed::Partial => return Ok(None),
        Parsed::Complete { head, bytes } => (head, bytes),
    };
    let rest = &input[head_bytes..];
    match head.body {
        BodyLength::UntilClose => Err(ResponseError::Length),
        BodyLength::Fixed(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let body = rest.get(..length).map(Cow::Borrowed);
            Ok(body.map(|body| WholeResponse { head, body, bytes: head_bytes + length }))
        }
        BodyLength::Chunked => {
            let (mut reader, mut left, mut body) = (BodyReader::new(head.body), rest, Vec::new());
            loop {
                match reader.next(&mut left)? {
                    BodyPiece::Data(data) => body.extend_from_slice(data),
                    BodyPiece::NeedMore => return Ok(None),
                    BodyPiece::End => break,
                }
            }
            let bytes = input.len() - left.len();
            Ok(Some(WholeResponse { head, body: Cow::Owned(body), bytes }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(input: &[u8]) -> (u16, Vec<u8>, usize) {
        let response = parse_whole_response(input).unwrap().unwrap();
        (response.head.status, response.body.into_owned(), response.bytes)
    }

    #[test]
    fn a_body_is_complete_at_its_length_or_at_its_last_chunk() {
        let fixed = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked =
            b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        for (input, status) in [(&fixed[..], 200), (&chunked[..], 404)] {
            for cut in 0..input.len() {
                assert!(parse_whole_response(&input[..cut]).unwrap().is_none(), "{cut} bytes");
            }
            let two = [input, b"HTTP"].concat();
            assert_eq!(complete(&two), (status, b"hello".to_vec(), input.len()));
        }
        assert_eq!(parse_whole_response(b"HTTP/1.1 200 OK\r\n\r\nhello").unwrap_err(), ResponseError::Length);
    }
}
