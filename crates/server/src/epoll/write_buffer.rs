//! What waits to be written to one connection: deliveries that are written one by one (class `classic`), or bytes that
//! are written together (class `open`, and answers in both).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use klatch_protocol::service::Seal;
use rustix::io::Errno;

/// A buffer that grew beyond this is given back when it has become empty.
const KEEP_BYTES: usize = 64 * 1024;
/// Most empty buffers that are reused.
const SPARES_MAX: usize = 256;

thread_local! {
    /// Empty buffers: something waits for few connections at a time, so a hundred thousand need no buffer each.
    static SPARES: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

pub(super) enum WriteBuffer {
    Classic {
        lines: VecDeque<Arc<[u8]>>,
        /// Bytes of the first line that are written.
        written: usize,
        /// Bytes of all lines.
        bytes: usize,
        /// Bytes after the lines that are no delivery; none of them has been written.
        answers: Vec<u8>,
    },
    Open {
        buffer: Vec<u8>,
        /// Bytes at the front that are written.
        written: usize,
        /// Its units are lines, so a last line can follow the end of one.
        has_lines: bool,
        /// What is written together passes through this first.
        seal: Option<Sealed>,
    },
}

/// The state of a buffer whose batches are sealed.
pub(super) struct Sealed {
    seal: Arc<dyn Seal>,
    /// Bytes at the front of the buffer that are sealed.
    bytes: usize,
}

impl WriteBuffer {
    pub(super) fn classic() -> WriteBuffer {
        WriteBuffer::Classic { lines: VecDeque::new(), written: 0, bytes: 0, answers: Vec::new() }
    }

    /// `has_lines`: its units are lines, and [`WriteBuffer::end_with`] may get one.
    pub(super) fn open(has_lines: bool) -> WriteBuffer {
        WriteBuffer::Open { buffer: Vec::new(), written: 0, has_lines, seal: None }
    }

    /// Seals what is written together from now on. Returns whether anything is: not in class `classic`.
    pub(super) fn seal_batches(&mut self, with: &Arc<dyn Seal>) -> bool {
        match self {
            WriteBuffer::Classic { .. } => false,
            WriteBuffer::Open { buffer, seal, .. } => {
                // What waits already was made without it.
                *seal = Some(Sealed { seal: Arc::clone(with), bytes: buffer.len() });
                true
            }
        }
    }

    /// Number of bytes in the buffer.
    pub(super) fn len(&self) -> usize {
        match self {
            WriteBuffer::Classic { written, bytes, answers, .. } => bytes - written + answers.len(),
            WriteBuffer::Open { buffer, written, .. } => buffer.len() - written,
        }
    }

    /// Takes a delivery that waits for [`WriteBuffer::flush`].
    pub(super) fn push(&mut self, line: &Arc<[u8]>) {
        self.close_answers();
        match self {
            WriteBuffer::Classic { lines, bytes, .. } => {
                *bytes += line.len();
                lines.push_back(Arc::clone(line));
            }
            WriteBuffer::Open { buffer, .. } => add(buffer, line),
        }
    }

    /// Takes a line that is no delivery and waits for [`WriteBuffer::flush`].
    pub(super) fn push_answer(&mut self, line: &Arc<[u8]>) {
        let (WriteBuffer::Classic { answers: buffer, .. } | WriteBuffer::Open { buffer, .. }) = self;
        add(buffer, line);
    }

    /// Later lines are not written together with the answers.
    fn close_answers(&mut self) {
        if let WriteBuffer::Classic { lines, bytes, answers, .. } = self
            && !answers.is_empty()
        {
            *bytes += answers.len();
            lines.push_back(Arc::from(&answers[..]));
            spare(std::mem::take(answers));
        }
    }

    /// Takes a delivery and writes it at once, if nothing waits before it.
    pub(super) fn take(
        &mut self,
        line: &Arc<[u8]>,
        mut write: impl FnMut(&[u8]) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        let done = if self.len() == 0 { write_some(line, &mut write)? } else { 0 };
        if done < line.len() {
            self.push(line);
            let (WriteBuffer::Classic { written, .. } | WriteBuffer::Open { written, .. }) = self;
            *written += done;
        }
        Ok(())
    }

    /// Forgets what waits, but for the rest of what is partly written, and takes a last line. If the units are not lines, their ends
    /// are unknown, so nothing is left.
    pub(super) fn end_with(&mut self, last: &Arc<[u8]>) {
        match self {
            WriteBuffer::Classic { lines, written, bytes, answers } => {
                answers.clear();
                lines.truncate(usize::from(*written > 0));
                lines.push_back(Arc::clone(last));
                *bytes = lines.iter().map(|line| line.len()).sum();
            }
            // What is sealed stays, since later units depend on it.
            WriteBuffer::Open { buffer, seal: Some(sealed), .. } => buffer.truncate(sealed.bytes),
            WriteBuffer::Open { buffer, written, has_lines: false, .. } => buffer.truncate(*written),
            WriteBuffer::Open { buffer, written, .. } => {
                let mut rest = *written;
                while rest > 0 && rest < buffer.len() && buffer[rest - 1] != b'\n' {
                    rest += 1;
                }
                buffer.truncate(rest);
                buffer.extend_from_slice(last);
            }
        }
    }

    /// Writes until nothing waits or the connection takes no more.
    pub(super) fn flush(
        &mut self,
        mut write: impl FnMut(&[u8]) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        match self {
            WriteBuffer::Classic { lines, written, bytes, answers } => {
                while let Some(line) = lines.front() {
                    let done = write_some(&line[*written..], &mut write)?;
                    *written += done;
                    if *written < line.len() {
                        return Ok(());
                    }
                    *bytes -= line.len();
                    *written = 0;
                    lines.pop_front();
                }
                if !answers.is_empty() {
                    let done = write_some(answers, &mut write)?;
                    if done == answers.len() {
                        spare(std::mem::take(answers));
                    } else {
                        *written = done;
                        self.close_answers();
                    }
                }
            }
            WriteBuffer::Open { buffer, .. } if buffer.is_empty() => {}
            WriteBuffer::Open { buffer, written, has_lines, seal } => {
                if let Some(sealed) = seal {
                    sealed.seal_rest(buffer);
                }
                *written += write_some(&buffer[*written..], &mut write)?;
                if *written == buffer.len() {
                    *written = 0;
                    seal.iter_mut().for_each(|sealed| sealed.bytes = 0);
                    spare(std::mem::take(buffer));
                } else if let Some(sealed) = seal {
                    buffer.drain(..*written);
                    sealed.bytes -= *written;
                    *written = 0;
                } else if *written > buffer.len() / 2 {
                    // Moves few bytes: about as much has been written as is moved. A line that is partly written
                    // stays whole, so that its end is known.
                    let end_of_lines = || buffer[..*written].iter().rposition(|&byte| byte == b'\n');
                    let line = if *has_lines { end_of_lines().map_or(0, |end| end + 1) } else { *written };
                    buffer.drain(..line);
                    *written -= line;
                }
            }
        }
        Ok(())
    }
}

impl Sealed {
    /// Seals what is not sealed yet.
    fn seal_rest(&mut self, buffer: &mut Vec<u8>) {
        if self.bytes < buffer.len() {
            let mut plain = SPARES.with_borrow_mut(Vec::pop).unwrap_or_default();
            plain.extend_from_slice(&buffer[self.bytes..]);
            buffer.truncate(self.bytes);
            self.seal.seal(&plain, buffer);
            self.bytes = buffer.len();
            spare(plain);
        }
    }
}

/// Appends to a buffer, which may have no memory yet.
fn add(buffer: &mut Vec<u8>, line: &[u8]) {
    if buffer.capacity() == 0 {
        *buffer = SPARES.with_borrow_mut(Vec::pop).unwrap_or_default();
    }
    buffer.extend_from_slice(line);
}

/// Returns an empty buffer to the pool.
fn spare(mut buffer: Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEEP_BYTES);
    SPARES.with_borrow_mut(|spares| {
        if spares.len() < SPARES_MAX {
            spares.push(buffer);
        }
    });
}

/// One write. A connection that takes nothing now is no error.
fn write_some(bytes: &[u8], write: &mut impl FnMut(&[u8]) -> Result<usize, Errno>) -> Result<usize, Errno> {
    match write(bytes) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        other => other,
    }
}

#[cfg(test)]
#[path = "write_buffer_tests.rs"]
mod tests;
