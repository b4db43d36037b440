//! The head of a frame, masks, and writing of frames.

use crate::websocket::FrameError;

/// Most bytes in the payload of a control frame.
pub(crate) const CONTROL_BYTES_MAX: usize = 125;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// A further fragment of a message.
    Continuation,
    /// A message in UTF-8, or its first fragment.
    Text,
    /// A message of any bytes, or its first fragment.
    Binary,
    /// The end of the connection, with a code and a reason.
    Close,
    /// A request for a pong with the same payload.
    Ping,
    /// The reply to a ping.
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Option<Opcode> {
        Some(match bits {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Opcode::Continuation => 0,
            Opcode::Text => 1,
            Opcode::Binary => 2,
            Opcode::Close => 8,
            Opcode::Ping => 9,
            Opcode::Pong => 10,
        }
    }

    pub(crate) fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// This is the last frame of its message.
    pub(crate) fin: bool,
    pub(crate) opcode: Opcode,
    pub(crate) mask: Option<[u8; 4]>,
    /// Bytes of the payload.
    pub(crate) payload_bytes: u64,
}

impl Head {
    /// Parses the head at the start of `input`. Returns it and its length in bytes; `None` if it is incomplete.
    pub(crate) fn parse(input: &[u8]) -> Result<Option<(Head, usize)>, FrameError> {
        let [first, second, ..] = *input else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(FrameError::protocol("a reserved bit is set"));
        }
        let opcode = Opcode::from_bits(first & 0x0f).ok_or(FrameError::protocol("unknown opcode"))?;
        let fin = first & 0x80 != 0;
        let short = second & 0x7f;
        if opcode.is_control() && (!fin || usize::from(short) > CONTROL_BYTES_MAX) {
            return Err(FrameError::protocol("a control frame is fragmented or longer than 125 bytes"));
        }
        let extended: usize = match short {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let Some(digits) = input.get(2..2 + extended) else { return Ok(None) };
        let number = digits.iter().fold(0, |number, &digit| number << 8 | u64::from(digit));
        let (payload_bytes, least) = match extended {
            0 => (u64::from(short), 0),
            2 => (number, 126),
            _ => (number, 1 << 16),
        };
        if payload_bytes < least || payload_bytes >> 63 != 0 {
            return Err(FrameError::protocol("a length is not in its shortest form, or too large"));
        }
        if second & 0x80 == 0 {
            return Ok(Some((Head { fin, opcode, mask: None, payload_bytes }, 2 + extended)));
        }
        let Some(mask) = input.get(2 + extended..6 + extended) else { return Ok(None) };
        let mask = Some([mask[0], mask[1], mask[2], mask[3]]);
        Ok(Some((Head { fin, opcode, mask, payload_bytes }, 6 + extended)))
    }
}

/// Appends a whole message, or a control frame, as one frame. A client masks, a server does not.
pub fn write_frame(out: &mut Vec<u8>, opcode: Opcode, mask: Option<[u8; 4]>, payload: &[u8]) {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    out.push(0x80 | opcode.bits());
    match payload.len() {
        length @ 0..126 => out.push(masked | length as u8),
        length @ 126..0x1_0000 => {
            out.push(masked | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(masked | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend(mask.into_iter().flatten());
    let begin = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply_mask(&mut out[begin..], mask);
    }
}

/// Masks or unmasks a payload. Words of four bytes, which the compiler makes vectors of.
pub(crate) fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let mut words = payload.chunks_exact_mut(4);
    for word in &mut words {
        for (byte, key) in word.iter_mut().zip(mask) {
            *byte ^= key;
        }
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(mask) {
        *byte ^= key;
    }
}
