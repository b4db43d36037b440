//! Programs (64-bit ELF, `elf(5)`): cuts off the debug information, which is larger than all that the kernel loads, and lists what they need.

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
const ADDRESS: usize = 16;
/// Kinds of segments, and of entries in the dynamic one.
const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
const LINKER: u32 = 3;
const NEEDED: usize = 1;
const NAMES: usize = 5;
/// Size of the header of a section, and kinds of sections.
const SECTION: usize = 64;
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;

/// Truncates a program after its last segment and drops its section table; returns any other file unchanged.
///
/// With `keep_symbols` the names of its routines follow, in a new section table. A library without such names stays as it is: it
/// has those of its interface.
pub(crate) fn strip(mut file: Vec<u8>, keep_symbols: bool) -> Vec<u8> {
    let Some(end) = end_of_segments(&file).filter(|end| (64..file.len()).contains(end)) else { return file };
    let symbols = symbol_table(&file);
    if keep_symbols && symbols.is_none() {
        return file;
    }
    file.truncate(end);
    file[SECTIONS].fill(0);
    file[SECTION_COUNTS].fill(0);
    if let Some((symbols, names)) = symbols.filter(|_| keep_symbols) {
        append_symbols(&mut file, &symbols, &names);
    }
    file
}

/// The symbols of a program and their names, if it has any.
fn symbol_table(file: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let table = number(file, SECTIONS.start)?;
    let count = u16::from_le_bytes(*file.get(SECTION_COUNTS.start + 2..)?.first_chunk()?);
    let header = |index: usize| file.get(table.checked_add(index * SECTION)?..);
    let content = |header: &[u8]| {
        let (start, size) = (number(header, 24)?, number(header, 32)?);
        Some(file.get(start..start.checked_add(size)?)?.to_vec())
    };
    let is_symbols = |header: &&[u8]| header.get(4..8) == Some(&SYMBOLS.to_le_bytes());
    let symbols = (0..usize::from(count)).filter_map(header).find(is_symbols)?;
    let names = u32::from_le_bytes(*symbols.get(40..)?.first_chunk()?);
    Some((content(symbols)?, content(header(names as usize)?)?))
}

/// Appends both with a section table of their own: an empty section, the symbols, their names, and the sections' names.
fn append_symbols(file: &mut Vec<u8>, symbols: &[u8], names: &[u8]) {
    const SECTION_NAMES: &[u8] = b"\0.symtab\0.strtab\0.shstrtab\0";
    file.resize(file.len().next_multiple_of(8), 0);
    let starts = [symbols, names, SECTION_NAMES].map(|content| {
        let start = file.len();
        file.extend_from_slice(content);
        start
    });
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len();
    file.extend([0; SECTION]);
    // Name, kind, section with the names, size of an entry.
    let sections = [(1, SYMBOLS, 2, 24), (9, STRINGS, 0, 0), (17, STRINGS, 0, 0)];
    let sizes = [symbols.len(), names.len(), SECTION_NAMES.len()];
    for ((name, kind, link, entry), (start, size)) in sections.into_iter().zip(starts.into_iter().zip(sizes))
    {
        let words: [u32; 2] = [name, kind];
        let numbers = [0, 0, start as u64, size as u64, link, 8, entry];
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        file.extend(numbers.iter().flat_map(|number: &u64| number.to_le_bytes()));
    }
    file[SECTIONS].copy_from_slice(&(table as u64).to_le_bytes());
    // Size of a header, their number, and which of them has the names.
    let counts: [u16; 3] = [SECTION as u16, 4, 3];
    let counts: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
    file[SECTION_COUNTS].copy_from_slice(&counts);
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

/// What a program needs to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Path of its dynamic linker.
    pub(crate) linker: Option<String>,
    /// Names of its libraries, without theirs.
    pub(crate) libraries: Vec<String>,
}

/// What a program or library names that it needs; nothing for a file that is none.
pub(crate) fn needs_of(file: &[u8]) -> Needs {
    let linker = segment(file, LINKER).and_then(|range| text(file, range.start));
    Needs { linker, libraries: needed(file).unwrap_or_default() }
}

fn needed(file: &[u8]) -> Option<Vec<String>> {
    let entries = segment(file, DYNAMIC)?.step_by(16);
    let entries: Vec<(usize, usize)> =
        entries.map_while(|at| Some((number(file, at)?, number(file, at + 8)?))).collect();
    let names = entries.iter().find(|(kind, _)| *kind == NAMES)?.1;
    // The address of the names; the segment that is loaded there has them.
    let loaded = segments(file, LOADED).find_map(|(header, range)| {
        let from = number(file, header + ADDRESS)?;
        (from..from + range.len()).contains(&names).then(|| range.start + names - from)
    })?;
    entries
        .iter()
        .filter(|(kind, _)| *kind == NEEDED)
        .map(|(_, at)| text(file, loaded.checked_add(*at)?))
        .collect()
}

fn text(file: &[u8], at: usize) -> Option<String> {
    let bytes = file.get(at..)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(bytes.to_vec()).ok()
}

fn segment(file: &[u8], kind: u32) -> Option<Range<usize>> {
    segments(file, kind).next().map(|(_, range)| range)
}

/// The segments of this kind: where the header of each is, and its content in the file.
fn segments(file: &[u8], kind: u32) -> impl Iterator<Item = (usize, Range<usize>)> {
    let count = file
        .get(PROGRAM_COUNT..)
        .and_then(|bytes| bytes.first_chunk())
        .copied()
        .map_or(0, u16::from_le_bytes);
    let first = number(file, PROGRAMS).unwrap_or(usize::MAX);
    (0..usize::from(count)).filter_map(move |index| {
        let header = first.checked_add(index * SEGMENT)?;
        let is_of_kind = file.get(header..)?.starts_with(&kind.to_le_bytes());
        let start = number(file, header + OFFSET)?;
        let end = start.checked_add(number(file, header + SIZE)?)?;
        (is_of_kind && end <= file.len()).then_some((header, start..end))
    })
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
        let part = strip(whole.clone(), false);
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
    fn the_symbols_survive_without_the_debug_information() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("main.c"), folder.path().join("main"));
        std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n").unwrap();
        // With the macros of all headers there is much to leave out.
        let compiled = Command::new("cc").args(["-g3", "-o"]).args([&program, &source]).status().unwrap();
        assert!(compiled.success(), "{compiled}");
        let whole = std::fs::read(&program).unwrap();
        let (symbols, names) = symbol_table(&whole).expect("a program has symbols");
        let part = strip(whole.clone(), true);
        assert!(part.len() < whole.len() * 3 / 4, "{} of {} bytes", part.len(), whole.len());
        assert_eq!(symbol_table(&part), Some((symbols, names)));
    }

    #[test]
    fn a_program_names_its_linker_and_libraries() {
        let needs = needs_of(&std::fs::read("/proc/self/exe").unwrap());
        assert!(needs.linker.is_some_and(|path| path == crate::image::LINKER));
        assert!(needs.libraries.iter().any(|name| name == "libc.so.6"), "{:?}", needs.libraries);
        for other in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x02\x01 and no more"] {
            assert_eq!(needs_of(other), Needs::default());
        }
    }

    #[test]
    fn other_files_are_unchanged() {
        for other in [b"#!/bin/sh\n".to_vec(), Vec::new(), b"\x7fELF\x02\x01 and no more".to_vec()] {
            assert_eq!(strip(other.clone(), true), other);
        }
    }
}
