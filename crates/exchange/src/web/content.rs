//! The bytes of a file as a function of the seed, the file and the offset. Almost all of them are one slice of a block
//! of text that is computed once, so filling is a copy and verifying is a comparison of memory.

use std::fmt;

use super::files::{FILE_BYTES_MAX, FileId, PATH_BYTES};
use super::tags::{ADS, TAG_BYTES, ad_file, tag, tag_step_bytes};
use crate::random::{Part, output, part_seed, scale};

/// Bytes of the block of text. A power of two, so the low bits of a file's hash are its start.
const BLOCK_BYTES: usize = 1 << 20;
/// The identity line: path, space, 16 hex digits, LF.
const IDENTITY_BYTES: usize = PATH_BYTES + 18;
/// A tag begins at least so many bytes after the beginning of its section, and so after the identity line.
const TAG_OFFSET_MIN: u32 = 64;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";

/// The contents of all files for one seed. It has 1.9 MiB, so a program makes one and shares it.
pub struct Content {
    files_seed: u64,
    /// The block, followed by as much of its beginning as the largest file has: every file is one slice.
    text: Box<[u8]>,
}

impl Content {
    /// Computes the block of text for a seed.
    pub fn new(seed: u64) -> Content {
        let text_seed = part_seed(seed, Part::Text);
        let mut text = Vec::with_capacity(BLOCK_BYTES + FILE_BYTES_MAX);
        for word in 0..BLOCK_BYTES as u64 / 8 {
            let letters = output(text_seed, word).to_le_bytes();
            text.extend(letters.map(|letter| ALPHABET[usize::from(letter & 63)]));
        }
        text.iter_mut().skip(63).step_by(64).for_each(|end_of_line| *end_of_line = b'\n');
        text.extend_from_within(..FILE_BYTES_MAX);
        Content { files_seed: part_seed(seed, Part::Files), text: text.into() }
    }

    /// Returns the content of one file. It costs about as much as formatting its path.
    pub fn file(&self, file: FileId) -> FileContent<'_> {
        let key = u64::from(file.directory()) << 16 | u64::from(file.class()) << 8 | u64::from(file.number());
        let hash = output(self.files_seed, key);
        let start = hash as usize % BLOCK_BYTES;
        let stored_ad = scale((hash >> 32) as u32, ADS) as u16;
        FileContent {
            hash,
            text: &self.text[start..start + file.size_bytes()],
            identity: identity(file, hash),
            tag_step_bytes: tag_step_bytes(file.class()),
            tag: tag(ad_file(stored_ad)),
            stored_ad,
        }
    }
}

/// The content of one file, in which the tags can name another ad than the stored one.
#[derive(Clone, Copy)]
pub struct FileContent<'a> {
    hash: u64,
    text: &'a [u8],
    identity: [u8; IDENTITY_BYTES],
    /// The file has one tag in each section of so many bytes; 0 for none.
    tag_step_bytes: usize,
    tag: [u8; TAG_BYTES],
    stored_ad: u16,
}

impl<'a> FileContent<'a> {
    /// The same file with `ad` (below [`ADS`](super::ADS)) in every tag. It has the same size.
    #[must_use]
    pub fn rotated(self, ad: u16) -> FileContent<'a> {
        FileContent { tag: tag(ad_file(ad)), ..self }
    }

    /// Bytes of the file.
    pub fn size_bytes(&self) -> usize {
        self.text.len()
    }

    /// Writes the bytes from `offset` on into `into`, and returns how many the file has there.
    pub fn fill(&self, offset: usize, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let run = self.run(offset + done);
            if run.is_empty() {
                break;
            }
            let count = run.len().min(into.len() - done);
            into[done..done + count].copy_from_slice(&run[..count]);
            done += count;
        }
        done
    }

    /// Compares received bytes with those of the file from `offset` on.
    pub fn verify(&self, offset: usize, bytes: &[u8]) -> Result<(), FirstDifference> {
        let mut done = 0;
        while done < bytes.len() {
            let run = self.run(offset + done);
            let count = run.len().min(bytes.len() - done);
            if count == 0 || bytes[done..done + count] != run[..count] {
                return Err(self.first_difference(offset + done, &bytes[done..], run));
            }
            done += count;
        }
        Ok(())
    }

    /// The offset of tag `number`, which is in section `number` of the file.
    pub fn tag_offset(&self, number: usize) -> Option<usize> {
        let section = number.checked_mul(self.tag_step_bytes)?;
        (self.tag_step_bytes > 0 && section < self.text.len()).then(|| self.tag_offset_in(number))
    }

    /// The longest slice of the file's bytes from `offset` on that lies in one piece; empty at its end.
    fn run(&self, offset: usize) -> &[u8] {
        if offset < IDENTITY_BYTES {
            return &self.identity[offset..];
        }
        let mut end = self.text.len();
        if offset >= end {
            return &[];
        }
        if let Some(section) = offset.checked_div(self.tag_step_bytes) {
            let tag_offset = self.tag_offset_in(section);
            if offset < tag_offset {
                end = tag_offset;
            } else if offset < tag_offset + TAG_BYTES {
                return &self.tag[offset - tag_offset..];
            } else if (section + 1) * self.tag_step_bytes < end {
                end = self.tag_offset_in(section + 1);
            }
        }
        &self.text[offset..end]
    }

    fn tag_offset_in(&self, section: usize) -> usize {
        let room = self.tag_step_bytes as u32 - TAG_OFFSET_MIN - TAG_BYTES as u32;
        let within = TAG_OFFSET_MIN + scale((output(self.hash, section as u64) >> 32) as u32, room);
        section * self.tag_step_bytes + within as usize
    }

    #[cold]
    fn first_difference(&self, offset: usize, bytes: &[u8], run: &[u8]) -> FirstDifference {
        let same = bytes.iter().zip(run).take_while(|(found, expected)| found == expected).count();
        let (offset, found) = (offset + same, bytes[same]);
        let expected = run.get(same).copied();
        let section = offset.checked_div(self.tag_step_bytes);
        let in_tag = section
            .map(|section| self.tag_offset_in(section))
            .filter(|tag_offset| (*tag_offset..tag_offset + TAG_BYTES).contains(&offset));
        let kind = match (expected, in_tag) {
            (None, _) => DifferenceKind::Surplus,
            (Some(_), Some(tag_offset)) => {
                let stored = &tag(ad_file(self.stored_ad))[offset - tag_offset..];
                let stale = bytes[same..].iter().zip(stored).all(|(found, stored)| found == stored);
                if stale { DifferenceKind::StaleTag } else { DifferenceKind::Tag }
            }
            _ if offset < IDENTITY_BYTES => DifferenceKind::Identity,
            _ => DifferenceKind::Text,
        };
        FirstDifference { offset, expected, found, kind }
    }
}

/// The first byte that is not the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// Bytes of the file before it.
    pub offset: usize,
    /// The file's byte there; `None` after the end.
    pub expected: Option<u8>,
    /// The byte that was received instead.
    pub found: u8,
    /// The part of the file that differs.
    pub kind: DifferenceKind,
}

/// The part of a file in which a byte differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The line with the file's path: most likely it is another file.
    Identity,
    /// The text between the tags.
    Text,
    /// A tag that names neither the expected nor the stored ad.
    Tag,
    /// A tag that still names the stored ad.
    StaleTag,
    /// Bytes after the end of the file.
    Surplus,
}

impl fmt::Display for FirstDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.kind {
            DifferenceKind::Identity => "in the line with the file's path",
            DifferenceKind::Text => "in the text",
            DifferenceKind::Tag => "in a tag",
            DifferenceKind::StaleTag => "in a tag that still names the stored ad",
            DifferenceKind::Surplus => "after the end",
        };
        write!(f, "byte {} of the file, {place}: found '{}'", self.offset, self.found.escape_ascii())?;
        match self.expected {
            Some(expected) => write!(f, ", expected '{}'", expected.escape_ascii()),
            None => Ok(()),
        }
    }
}

/// The first line of a file. It makes files differ early that happen to begin at the same place of the block.
fn identity(file: FileId, hash: u64) -> [u8; IDENTITY_BYTES] {
    let mut line = [b' '; IDENTITY_BYTES];
    line[..PATH_BYTES].copy_from_slice(&file.path());
    for (place, digit) in line[PATH_BYTES + 1..IDENTITY_BYTES - 1].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(hash >> (60 - 4 * place)) as usize & 15];
    }
    line[IDENTITY_BYTES - 1] = b'\n';
    line
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
