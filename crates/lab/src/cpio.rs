//! Writes cpio archives in the "newc" format, which the kernel unpacks at boot (the kernel's
//! Documentation/driver-api/early-userspace/buffer-format.rst).

use std::io::{Result, Write};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// Writer of an archive; call [`Archive::end`] at the end.
pub(crate) struct Archive<W: Write> {
    to: W,
    number: u32,
}

impl<W: Write> Archive<W> {
    pub(crate) fn new(to: W) -> Archive<W> {
        Archive { to, number: 0 }
    }

    pub(crate) fn folder(&mut self, path: &str) -> Result<()> {
        self.entry(path, FOLDER, &[])
    }

    pub(crate) fn program(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.entry(path, PROGRAM, bytes)
    }

    /// Writes the trailer and flushes.
    pub(crate) fn end(mut self) -> Result<W> {
        self.entry("TRAILER!!!", 0, &[])?;
        self.to.flush()?;
        Ok(self.to)
    }

    /// Writes an entry without owner and time, so that the same files make the same archive.
    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        let path = path.trim_start_matches('/');
        self.number += 1;
        let name = path.len() as u32 + 1;
        let fields = [self.number, mode, 0, 0, 1, 0, bytes.len() as u32, 0, 0, 0, 0, name, 0];
        let header: String = fields.iter().map(|field| format!("{field:08x}")).collect();
        write!(self.to, "070701{header}{path}\0")?;
        self.pad(6 + 8 * fields.len() + name as usize)?;
        self.to.write_all(bytes)?;
        self.pad(bytes.len())
    }

    fn pad(&mut self, written: usize) -> Result<()> {
        self.to.write_all(&[0; 3][..written.next_multiple_of(4) - written])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_aligned_and_the_archive_ends() {
        let mut archive = Archive::new(Vec::new());
        archive.folder("/a").unwrap();
        archive.program("/a/b", b"hello").unwrap();
        let bytes = archive.end().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let at = |text: &[u8]| bytes.windows(text.len()).position(|part| part == text);
        assert!(at(b"070701").is_some_and(|at| at == 0) && at(b"TRAILER!!!").is_some());
        assert_eq!(at(b"hello").unwrap() % 4, 0);
        assert_eq!(&bytes[14..22], b"000041ed", "the mode of a folder");
    }
}
