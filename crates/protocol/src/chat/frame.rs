//! Splits the received bytes into lines. The rules are in `vectors/README.md`.

/// The longest line in bytes, including its CR LF.
pub const LINE_MAX: usize = 512;
/// The longest line in bytes, without its CR LF.
pub const CONTENT_MAX: usize = LINE_MAX - 2;

/// One result of reading the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A line without its line ending; never empty.
    Line(&'a [u8]),
    /// A line exceeds [`CONTENT_MAX`] bytes. The framer discards it up to its end.
    TooLong,
    /// A NUL byte. The framer ignores all input after it.
    Nul,
}

/// Splits the bytes of one connection into lines. It buffers at most [`CONTENT_MAX`] bytes, and copies only lines
/// that arrive in several pieces.
#[derive(Debug, Default)]
pub struct Framer {
    partial: Vec<u8>,
    /// The last event borrowed `partial`; the next call clears it.
    partial_returned: bool,
    discarding: bool,
    stopped: bool,
}

impl Framer {
    /// Consumes bytes from the front of `input` up to the next event. Returns `None` once `input` is empty.
    pub fn next<'b, 'a: 'b>(&'b mut self, input: &mut &'a [u8]) -> Option<Event<'b>> {
        if self.partial_returned {
            self.partial.clear();
            self.partial_returned = false;
        }
        while !self.stopped && !input.is_empty() {
            // The last byte of the window is the one that would make the line too long.
            let reach = if self.discarding { usize::MAX } else { CONTENT_MAX + 1 - self.partial.len() };
            let window = &input[..input.len().min(reach)];
            let Some(at) = find_special(window) else {
                *input = &input[window.len()..];
                if self.discarding {
                    continue;
                }
                if window.len() < reach {
                    self.partial.extend_from_slice(window);
                    continue;
                }
                self.partial.clear();
                self.discarding = true;
                return Some(Event::TooLong);
            };
            *input = &input[at + 1..];
            if window[at] == 0 {
                self.stopped = true;
                return Some(Event::Nul);
            }
            if self.discarding {
                self.discarding = false;
            } else if !self.partial.is_empty() {
                self.partial.extend_from_slice(&window[..at]);
                self.partial_returned = true;
                return Some(Event::Line(&self.partial));
            } else if at > 0 {
                return Some(Event::Line(&window[..at]));
            }
        }
        *input = &[];
        None
    }
}

/// Finds the first NUL, CR or LF. It tests whole blocks first, which the compiler turns into vector instructions.
fn find_special(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let special = |&byte: &u8| byte == 0 || byte == b'\n' || byte == b'\r';
    let blocks = bytes.chunks_exact(BLOCK);
    let clean = blocks.take_while(|block| !block.iter().fold(false, |any, byte| any | special(byte))).count();
    let rest = &bytes[clean * BLOCK..];
    rest.iter().position(special).map(|at| clean * BLOCK + at)
}
