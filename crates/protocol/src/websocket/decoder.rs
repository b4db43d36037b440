//! Decodes the frames that one side receives, strictly.

use crate::websocket::frame::{Head, Opcode, apply_mask};

/// The side that decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Receives frames without a mask.
    Client,
    /// Receives frames with a mask.
    Server,
}

/// What a frame completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A message, whose fragments are put together.
    Message {
        /// Whether it is a text; then it is valid UTF-8.
        is_text: bool,
        /// Its bytes, without frames and masks.
        payload: &'a [u8],
    },
    /// A request for a pong with this payload.
    Ping(&'a [u8]),
    /// A pong; nobody need have asked for it.
    Pong(&'a [u8]),
    /// The peer closes. What follows is ignored.
    Close {
        /// Its code, if it has one.
        code: Option<u16>,
        /// Its reason; empty if it has none.
        reason: &'a str,
    },
    /// A fragment of a message, or bytes after the end.
    Nothing,
}

/// A violation of the protocol. The receiver closes the connection with the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (close code {code})")]
pub struct FrameError {
    /// The code of the close frame.
    pub code: u16,
    /// The rule that was violated.
    pub reason: &'static str,
}

impl FrameError {
    pub(crate) const fn protocol(reason: &'static str) -> FrameError {
        FrameError { code: 1002, reason }
    }

    const fn not_utf8() -> FrameError {
        FrameError { code: 1007, reason: "a text is not UTF-8" }
    }
}

/// Decodes the frames of one connection. It buffers only fragments; the caller keeps incomplete frames.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    message_bytes_max: usize,
    /// Whether the message in `fragments` is a text, while it is incomplete.
    fragmented: Option<bool>,
    fragments: Vec<u8>,
    /// The payload of the last frame, unmasked.
    unmasked: Vec<u8>,
    ended: bool,
}

impl Decoder {
    /// A decoder for messages of at most `message_bytes_max` bytes.
    pub fn new(role: Role, message_bytes_max: usize) -> Decoder {
        let (fragments, unmasked) = (Vec::new(), Vec::new());
        Decoder { role, message_bytes_max, fragmented: None, fragments, unmasked, ended: false }
    }

    /// Decodes the frame at the start of `input`. Returns its length in bytes and what it is; `None` if it is incomplete.
    ///
    /// # Errors
    /// The peer violates the protocol. The decoder is not to be used again.
    pub fn decode<'a>(&'a mut self, input: &'a [u8]) -> Result<Option<(usize, Event<'a>)>, FrameError> {
        if self.ended {
            return Ok((!input.is_empty()).then_some((input.len(), Event::Nothing)));
        }
        let Some((head, head_bytes)) = Head::parse(input)? else { return Ok(None) };
        self.check(&head)?;
        // Checked against the limit, so it fits.
        let end = head_bytes + head.payload_bytes as usize;
        let Some(payload) = input.get(head_bytes..end) else { return Ok(None) };
        let payload = match head.mask {
            None => payload,
            Some(mask) => {
                self.unmasked.clear();
                self.unmasked.extend_from_slice(payload);
                apply_mask(&mut self.unmasked, mask);
                &self.unmasked
            }
        };
        let event = match head.opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            Opcode::Close => {
                self.ended = true;
                close(payload)?
            }
            Opcode::Text if head.fin => message(true, payload)?,
            Opcode::Binary if head.fin => message(false, payload)?,
            Opcode::Text | Opcode::Binary | Opcode::Continuation => {
                if head.opcode != Opcode::Continuation {
                    self.fragments.clear();
                    self.fragmented = Some(head.opcode == Opcode::Text);
                }
                self.fragments.extend_from_slice(payload);
                match self.fragmented.take_if(|_| head.fin) {
                    Some(is_text) => message(is_text, &self.fragments)?,
                    None => Event::Nothing,
                }
            }
        };
        Ok(Some((end, event)))
    }

    /// Checks what a head alone shows, before its payload has arrived.
    fn check(&self, head: &Head) -> Result<(), FrameError> {
        match (self.role, head.mask) {
            (Role::Server, None) => return Err(FrameError::protocol("a client must mask its frames")),
            (Role::Client, Some(_)) => return Err(FrameError::protocol("a server must not mask its frames")),
            (Role::Server, Some(_)) | (Role::Client, None) => {}
        }
        let before = match (head.opcode, self.fragmented) {
            (Opcode::Continuation, None) => {
                return Err(FrameError::protocol("a continuation without a message"));
            }
            (Opcode::Text | Opcode::Binary, Some(_)) => {
                return Err(FrameError::protocol("a message within the fragments of another"));
            }
            (Opcode::Continuation, Some(_)) => self.fragments.len(),
            _ => 0,
        };
        if head.payload_bytes > (self.message_bytes_max - before) as u64 && !head.opcode.is_control() {
            return Err(FrameError { code: 1009, reason: "a message is too large" });
        }
        Ok(())
    }
}

fn message(is_text: bool, payload: &[u8]) -> Result<Event<'_>, FrameError> {
    if is_text && std::str::from_utf8(payload).is_err() {
        return Err(FrameError::not_utf8());
    }
    Ok(Event::Message { is_text, payload })
}

fn close(payload: &[u8]) -> Result<Event<'_>, FrameError> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return match payload {
            [] => Ok(Event::Close { code: None, reason: "" }),
            _ => Err(FrameError::protocol("a close frame has one byte")),
        };
    };
    let code = u16::from_be_bytes(*code);
    // 1004 to 1006 and 1015 are never sent; 1012 to 1014 came after RFC 6455.
    if !matches!(code, 1000..=1003 | 1007..=1011 | 3000..=4999) {
        return Err(FrameError::protocol("a close code that may not be sent"));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| FrameError::not_utf8())?;
    Ok(Event::Close { code: Some(code), reason })
}
