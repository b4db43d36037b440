//! Bytes as they arrive → lines. The rules are in `vectors/README.md`.

/// The longest line, its ending CR LF included.
pub const LINE_MAX: usize = 512;
/// The longest line without its ending.
pub const CONTENT_MAX: usize = LINE_MAX - 2;

/// What a byte of the input brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A line, without its ending; never empty.
    Line(&'a [u8]),
    /// A line has more than [`CONTENT_MAX`] bytes. It is discarded up to its end.
    TooLong,
    /// There was a NUL. Nothing is read after it.
    Nul,
}

/// Cuts the bytes of one connection into lines. Keeps at most [`CONTENT_MAX`] bytes, and copies only those of a line
/// that arrived in pieces.
#[derive(Debug, Default)]
pub struct Framer {
    partial: Vec<u8>,
    /// `partial` was handed out as a line and is to be forgotten.
    handed: bool,
    discarding: bool,
    dead: bool,
}

impl Framer {
    /// Takes bytes from the front of `input` up to the next event. `None`: all of `input` is used up.
    pub fn next<'b, 'a: 'b>(&'b mut self, input: &mut &'a [u8]) -> Option<Event<'b>> {
        if self.handed {
            self.partial.clear();
            self.handed = false;
        }
        while !self.dead && !input.is_empty() {
            // The last byte looked at is the one that would make the line too long.
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
                self.dead = true;
                return Some(Event::Nul);
            }
            if self.discarding {
                self.discarding = false;
            } else if !self.partial.is_empty() {
                self.partial.extend_from_slice(&window[..at]);
                self.handed = true;
                return Some(Event::Line(&self.partial));
            } else if at > 0 {
                return Some(Event::Line(&window[..at]));
            }
        }
        *input = &[];
        None
    }
}

/// The first NUL, CR or LF. Looks at blocks first: the compiler makes that a few vector instructions each.
fn find_special(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let special = |&byte: &u8| byte == 0 || byte == b'\n' || byte == b'\r';
    let blocks = bytes.chunks_exact(BLOCK);
    let clean = blocks.take_while(|block| !block.iter().fold(false, |any, byte| any | special(byte))).count();
    let rest = &bytes[clean * BLOCK..];
    rest.iter().position(special).map(|at| clean * BLOCK + at)
}
