//! The identity that the linker gave a program (`NT_GNU_BUILD_ID`): a checksum of its contents. 64-bit ELF, `elf(5)`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Offsets in the header of a file, and its size.
const SEGMENTS: usize = 32;
const SEGMENT_COUNT: usize = 56;
const HEADER: usize = 64;
/// Size of the header of a segment, offsets in it, and the kind of a segment of notes.
const SEGMENT: usize = 56;
const OFFSET: usize = 8;
const SIZE: usize = 32;
const NOTES: u32 = 4;
/// Kind of the note, and its owner.
const BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";
/// Segments of notes are a few hundred bytes.
const NOTES_MAX: u64 = 1 << 16;

/// The build id of this program, in hexadecimal; `None` if it was linked without one.
pub fn program_build_id() -> Option<String> {
    // The program that runs, also after another has taken its path.
    build_id(&mut File::open("/proc/self/exe").ok()?)
}

fn build_id(file: &mut (impl Read + Seek)) -> Option<String> {
    let header = read(file, 0, HEADER as u64)?;
    let is_little_64 = header.starts_with(b"\x7fELF\x02\x01");
    let (start, count) = (u64_at(&header, SEGMENTS)?, u16_at(&header, SEGMENT_COUNT)?);
    let segments = read(file, start, u64::from(count) * SEGMENT as u64).filter(|_| is_little_64)?;
    segments.chunks_exact(SEGMENT).filter(|segment| u32_at(segment, 0) == Some(NOTES)).find_map(|segment| {
        let size = u64_at(segment, SIZE)?;
        let notes = read(file, u64_at(segment, OFFSET)?, size.min(NOTES_MAX))?;
        let id = id_in_notes(&notes)?;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    })
}

/// The content of the note with the build id, if it is among these.
fn id_in_notes(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let (name, content, kind) = (u32_at(notes, 0)?, u32_at(notes, 4)?, u32_at(notes, 8)?);
        let owner = notes.get(12..)?.get(..name as usize)?;
        let rest = notes.get(12 + (name as usize).next_multiple_of(4)..)?;
        let id = rest.get(..content as usize)?;
        if kind == BUILD_ID && owner == OWNER {
            return Some(id);
        }
        notes = rest.get((content as usize).next_multiple_of(4)..)?;
    }
}

fn read(file: &mut (impl Read + Seek), from: u64, bytes: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read).ok()?;
    (read.len() as u64 == bytes).then_some(read)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A program with one segment of notes, whose build id is `id`, after a note of another kind.
    fn program(id: &[u8]) -> Vec<u8> {
        let note = |kind: u32, content: &[u8]| {
            let mut note = [4_u32, content.len() as u32, kind].map(u32::to_le_bytes).concat();
            note.extend_from_slice(OWNER);
            note.extend_from_slice(content);
            note.resize(note.len().next_multiple_of(4), 0);
            note
        };
        let notes = [note(1, &[0; 6]), note(BUILD_ID, id)].concat();
        let mut file = vec![0; HEADER + SEGMENT];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[SEGMENTS..SEGMENTS + 8].copy_from_slice(&(HEADER as u64).to_le_bytes());
        file[SEGMENT_COUNT] = 1;
        let segment = &mut file[HEADER..];
        segment[..4].copy_from_slice(&NOTES.to_le_bytes());
        segment[OFFSET..OFFSET + 8].copy_from_slice(&((HEADER + SEGMENT) as u64).to_le_bytes());
        segment[SIZE..SIZE + 8].copy_from_slice(&(notes.len() as u64).to_le_bytes());
        [file, notes].concat()
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let id = |file: Vec<u8>| build_id(&mut Cursor::new(file));
        assert_eq!(id(program(&[0xab, 1, 0xff])).as_deref(), Some("ab01ff"));
        let mut without = program(&[1]);
        without[HEADER] = 0;
        assert_eq!((id(without), id(b"#!/bin/sh\n".to_vec()), id(Vec::new())), (None, None, None));
        // A size that the file does not have.
        let mut cut = program(&[1; 20]);
        cut.truncate(cut.len() - 8);
        assert_eq!(id(cut), None);
    }
}
