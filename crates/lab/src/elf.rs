//! Cuts debug information off a program (64-bit ELF, `elf(5)`): it is larger than all that the kernel loads.

use std::ops::Range;

/// Offsets in the header of a file.
const PROGRAMS: usize = 32;
const SECTIONS: Range<usize> = 40..48;
const PROGRAM_COUNT: usize = 56;
const SECTION_COUNTS: Range<usize> = 58..64;
/// Offsets in the header of a segment, and the size of that header.
const OFFSET: usize = 8;
const SIZE: usize = 32;
const SEGMENT: usize = 56;

/// Truncates a program after its last segment and drops its section table; returns any other file unchanged.
pub(crate) fn strip(mut file: Vec<u8>) -> Vec<u8> {
    if let Some(end) = end_of_segments(&file).filter(|end| (64..file.len()).contains(end)) {
        file.truncate(end);
        file[SECTIONS].fill(0);
        file[SECTION_COUNTS].fill(0);
    }
    file
}

/// Offset of the end of the last segment; `None` if the file is no such program.
fn end_of_segments(file: &[u8]) -> Option<usize> {
    const MAGIC_64_LITTLE: &[u8] = b"\x7fELF\x02\x01";
    if !file.starts_with(MAGIC_64_LITTLE) {
        return None;
    }
    let count = u16::from_le_bytes(*file.get(PROGRAM_COUNT..)?.first_chunk()?);
    let first = number(file, PROGRAMS)?;
    let end = |at: usize| number(file, at + OFFSET)?.checked_add(number(file, at + SIZE)?);
    let ends = (0..usize::from(count)).map(|segment| end(first.checked_add(segment * SEGMENT)?));
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn number(file: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*file.get(at..)?.first_chunk()?)).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_stripped_program_is_smaller_and_runs() {
        let whole = std::fs::read("/proc/self/exe").unwrap();
        let part = strip(whole.clone());
        assert!(part.len() < whole.len() * 3 / 4, "{} of {} bytes", part.len(), whole.len());
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, part).unwrap();
        // Through the linker, because another test's child may still have the new file open for writing.
        let listed = Command::new(crate::image::LINKER).arg(&program).arg("--list").output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains("a_stripped_program_is_smaller_and_runs"), "{listed}");
    }

    #[test]
    fn other_files_are_unchanged() {
        for other in [b"#!/bin/sh\n".to_vec(), Vec::new(), b"\x7fELF\x02\x01 and no more".to_vec()] {
            assert_eq!(strip(other.clone()), other);
        }
    }
}
