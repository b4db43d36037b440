//! The frame of dynamic pages, and the check of a body against what it must be.

use std::fmt;
use std::net::IpAddr;

use super::content::{Content, FirstDifference};
use super::files::{FileId, PATH_BYTES};
use super::mix::{Operation, Step};
use super::target::{CGI, DYNAMIC};

/// The parts of a frame before the file. A server fills in the four values between them.
const FRAME: [&str; 5] = [
    "<html>\n<head><title>Klatch web</title></head>\n<body>\n<p>SERVER_SOFTWARE = ",
    "\n<p>REMOTE_ADDR = ",
    "\n<p>SCRIPT_NAME = ",
    "\n<p>QUERY_STRING = ",
    "\n<pre>\n",
];
/// The frame after the file.
pub(super) const FRAME_END: &[u8] = b"\n</pre>\n</body></html>\n";
/// Most bytes of a frame before the file.
pub(super) const FRAME_BYTES_MAX: usize = 1024;

/// Appends the frame before a file. `query` must not need quoting in HTML.
pub(super) fn write_frame(remote: IpAddr, script: &str, query: &[u8], out: &mut Vec<u8>) {
    let remote = remote.to_string();
    let values = [&b"klatch"[..], remote.as_bytes(), script.as_bytes(), query, b""];
    for (part, value) in FRAME.iter().zip(values) {
        out.extend_from_slice(part.as_bytes());
        out.extend_from_slice(value);
    }
}

/// The part of a dynamic page within its frame, such as the post log in the reply to Fetch.
pub fn unframe(body: &[u8]) -> Option<&[u8]> {
    let end_of_frame = FRAME[4].as_bytes();
    let frame_bytes =
        body.windows(end_of_frame.len()).take(FRAME_BYTES_MAX).position(|at| at == end_of_frame)?;
    body[frame_bytes + end_of_frame.len()..].strip_suffix(FRAME_END)
}

/// Compares a body with the expected one while it arrives, in pieces of any size.
#[derive(Clone, Debug)]
pub struct BodyCheck {
    file: FileId,
    /// The ad that all tags must name, instead of the stored one.
    ad: Option<u16>,
    /// What the frame must state; `None` for a file as it is.
    page: Option<Page>,
    /// The frame before the file is not complete; these are its bytes so far.
    frame: Option<Vec<u8>>,
    /// Bytes after the frame so far.
    offset: usize,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    script: &'static str,
    query: Option<[u8; PATH_BYTES]>,
}

impl BodyCheck {
    /// Expects the body of the reply to a step. `ad` is the ad that was chosen for it, if its operation is one with ads.
    pub fn new(step: &Step, ad: Option<u16>) -> BodyCheck {
        let page = match step.operation {
            Operation::Static => None,
            Operation::Dynamic | Operation::Ad { .. } => {
                Some(Page { script: DYNAMIC, query: Some(step.file.path()) })
            }
            Operation::Post { .. } => Some(Page { script: DYNAMIC, query: None }),
            Operation::Cgi => Some(Page { script: CGI, query: Some(step.file.path()) }),
        };
        let ad = ad.filter(|_| matches!(step.operation, Operation::Ad { .. }));
        BodyCheck { file: step.file, ad, page, frame: page.map(|_| Vec::new()), offset: 0 }
    }

    /// Checks the next bytes of the body.
    pub fn feed(&mut self, content: &Content, bytes: &[u8]) -> Result<(), BodyError> {
        let (Some(page), Some(frame)) = (&self.page, &mut self.frame) else {
            return self.feed_file(content, bytes);
        };
        // Most frames arrive in one piece and need no copy.
        let before = frame.len();
        let start = if before == 0 {
            bytes
        } else {
            frame.extend_from_slice(bytes);
            &frame[..]
        };
        match page.check(start)? {
            Some(frame_bytes) => {
                self.frame = None;
                self.feed_file(content, &bytes[frame_bytes - before..])
            }
            None => {
                if before == 0 {
                    frame.extend_from_slice(bytes);
                }
                Ok(())
            }
        }
    }

    fn feed_file(&mut self, content: &Content, bytes: &[u8]) -> Result<(), BodyError> {
        let stored = content.file(self.file);
        let file = self.ad.map_or(stored, |ad| stored.rotated(ad));
        let (offset, size) = (self.offset, file.size_bytes());
        self.offset += bytes.len();
        if self.page.is_none() {
            return file.verify(offset, bytes).map_err(BodyError::Content);
        }
        let of_file = size.saturating_sub(offset).min(bytes.len());
        file.verify(offset, &bytes[..of_file]).map_err(BodyError::Content)?;
        let end = FRAME_END.get(offset.saturating_sub(size)..).unwrap_or_default();
        if end.starts_with(&bytes[of_file..]) { Ok(()) } else { Err(BodyError::FrameEnd) }
    }

    /// Checks that nothing is missing at the end of the body.
    pub fn finish(&self) -> Result<(), BodyError> {
        let end = if self.page.is_some() { FRAME_END.len() } else { 0 };
        let missing = self.file.size_bytes() + end - self.offset.min(self.file.size_bytes() + end);
        if missing == 0 { Ok(()) } else { Err(BodyError::Short { missing }) }
    }
}

impl Page {
    /// Checks the frame at the beginning of a body. Returns its bytes, or `None` if it is not complete.
    fn check(&self, body: &[u8]) -> Result<Option<usize>, BodyError> {
        let query = self.query.as_ref().map_or(&[][..], |query| query);
        // The server's software and the address that it sees are its own.
        let values = [None, None, Some(self.script.as_bytes()), Some(query), Some(&[][..])];
        let mut at = 0;
        for (part, value) in FRAME.iter().zip(values) {
            let rest = &body[at..];
            let count = rest.len().min(part.len());
            if rest[..count] != part.as_bytes()[..count] {
                return Err(BodyError::Frame { part: part.trim() });
            }
            at += count;
            let rest = &body[at..];
            let count = match value {
                Some(value) => {
                    let count = rest.len().min(value.len());
                    if rest[..count] != value[..count] {
                        return Err(BodyError::Frame { part: part.trim() });
                    }
                    count
                }
                None => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
            };
            at += count;
            if at > FRAME_BYTES_MAX {
                return Err(BodyError::Frame { part: part.trim() });
            }
        }
        let is_complete = body[..at].ends_with(FRAME[4].as_bytes());
        Ok(is_complete.then_some(at))
    }
}

/// The way in which a body is not the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The frame of a dynamic page before its file differs in or after this part.
    Frame {
        /// The text of the part.
        part: &'static str,
    },
    /// A byte of the file differs.
    Content(FirstDifference),
    /// The frame after the file differs, or bytes follow it.
    FrameEnd,
    /// The body ends too early.
    Short {
        /// Bytes of the file, and of the frame after it, that are missing.
        missing: usize,
    },
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::Frame { part } => {
                write!(f, "the frame of the page differs at '{}'", part.escape_debug())
            }
            BodyError::Content(difference) => difference.fmt(f),
            BodyError::FrameEnd => f.write_str("the page does not end with its frame after the file"),
            BodyError::Short { missing } => write!(f, "the body is {missing} bytes too short"),
        }
    }
}

impl std::error::Error for BodyError {}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
