//! The counters of a Java virtual machine: the file `/tmp/hsperfdata_<user>/<pid>` that HotSpot keeps for `jstat`.
//!
//! Reading it costs the JVM nothing. The format is version 2 of `jdk.internal.perf` (perfMemory.hpp).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;

use crate::privileges::{open_plain_in, user_name};

use crate::machine::process_identity::ProcessIdentity;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;

/// All counters of one JVM, read at one moment.
#[derive(Debug, Default, PartialEq)]
pub struct JvmCounters {
    numbers: BTreeMap<String, i64>,
    texts: BTreeMap<String, String>,
}

/// The end of the path of HotSpot's library.
const LIBRARY: &str = "/libjvm.so";

/// Largest counter file that is read, in bytes. HotSpot makes it 32 KiB by default.
const FILE_BYTES_MAX: usize = 1 << 20;

/// The counter file of process `pid`; `None` if it is no JVM, or runs with `-XX:-UsePerfData`.
///
/// Any user can make files of such names in `/tmp`, and a JVM that was killed leaves its own. This one is a plain file of the owner
/// of the process, in a folder that only that user can write, in the process's own view of the file system, and the process has it
/// in its memory.
pub fn counter_file(pid: u32) -> Option<File> {
    let process = ProcessIdentity::of(pid)?;
    // HotSpot names the folder after the owner of the process, and the file after the id that the process itself sees.
    let (folder, name) = (format!("hsperfdata_{}", user_name(process.owner)?), process.own_pid.to_string());
    if !maps_all(pid, &[LIBRARY, &format!("/{folder}/{name}")]) {
        return None;
    }
    open_plain_in(&process.temporary_folder().join(folder), &name, process.owner).ok()
}

/// Whether the process has the library of HotSpot in its memory.
pub(crate) fn maps_jvm(pid: u32) -> bool {
    maps_all(pid, &[LIBRARY])
}

/// Whether the process has files with these endings in its memory. That of a file that was removed has another ending.
fn maps_all(pid: u32, endings: &[&str]) -> bool {
    let Ok(maps) = File::open(format!("/proc/{pid}/maps")) else { return false };
    let mut missing = endings.to_vec();
    for line in BufReader::new(maps).split(b'\n').map_while(Result::ok) {
        missing.retain(|ending| !line.ends_with(ending.as_bytes()));
        if missing.is_empty() {
            return true;
        }
    }
    false
}

/// The content of a counter file; `None` if it cannot be read.
pub fn counter_bytes(file: &File) -> Option<Vec<u8>> {
    let length = file.metadata().ok()?.len().min(FILE_BYTES_MAX as u64);
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0).ok()?;
    Some(bytes)
}

struct Entry {
    name: String,
    /// Type, as in class files: `J` is a 64-bit number, `B` a byte.
    kind: u8,
    /// Length of an array; 0 for a scalar.
    vector: usize,
    /// Offset of the value in the file, in bytes.
    data_at: usize,
    /// Offset of the end of the entry, after the value.
    end: usize,
}

/// The entries of a counter file; `None` if it is something else, or the JVM has not yet finished it.
fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let ready = bytes.get(7) == Some(&1);
    if bytes.get(..4)? != MAGIC || bytes.get(4) != Some(&LITTLE_ENDIAN) || !ready {
        return None;
    }
    let (mut at, count) = (word(24)?, word(28)?);
    let mut entries = Vec::new();
    for _ in 0..count {
        let (length, name_at, vector, data_at) = (word(at)?, word(at + 4)?, word(at + 8)?, word(at + 16)?);
        // Name and value lie in their entry. If entries could overlap, their texts together could be far longer than the file.
        if data_at >= length {
            return None;
        }
        let end = at + length;
        let name = text(bytes.get(at + name_at..at + data_at)?);
        entries.push(Entry { name, kind: *bytes.get(at + 12)?, vector, data_at: at + data_at, end });
        at = end;
    }
    Some(entries)
}

/// Offset of the 8-byte number `name` in a counter file, for callers that read only that number again and again.
pub fn counter_offset(bytes: &[u8], name: &str) -> Option<usize> {
    let mut entries = entries(bytes)?.into_iter();
    entries
        .find(|entry| entry.name == name && (entry.kind, entry.vector) == (b'J', 0))
        .map(|entry| entry.data_at)
}

impl JvmCounters {
    /// Reads a counter file; `None` if it is something else, or the JVM has not yet finished it.
    pub fn read(file: &File) -> Option<JvmCounters> {
        JvmCounters::parse(&counter_bytes(file)?)
    }

    /// Parses a counter file; `None` if the bytes are something else, or the JVM has not yet finished it.
    pub fn parse(bytes: &[u8]) -> Option<JvmCounters> {
        let mut counters = JvmCounters::default();
        for Entry { name, kind, vector, data_at, end } in entries(bytes)? {
            let data = bytes.get(data_at..end)?;
            match (kind, vector) {
                (b'J', 0) => {
                    counters.numbers.insert(name, i64::from_le_bytes(*data.first_chunk()?));
                }
                (b'B', length) => {
                    counters.texts.insert(name, text(data.get(..length)?));
                }
                _ => {}
            }
        }
        Some(counters)
    }

    /// The collectors by their ordinals, with their names. The ordinals have gaps: those of ZGC are 0 and 2, or only 2.
    pub fn collectors(&self) -> impl Iterator<Item = (u32, &str)> {
        let ordinal =
            |name: &str| name.strip_prefix("sun.gc.collector.")?.strip_suffix(".name")?.parse().ok();
        self.texts.iter().filter_map(move |(name, text)| Some((ordinal(name)?, text.as_str())))
    }

    /// The number `name`; 0 if there is none, and for negative values.
    pub fn number(&self, name: &str) -> u64 {
        self.numbers.get(name).map_or(0, |number| (*number).max(0) as u64)
    }

    /// The text `name`, such as the name of a collector.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// All texts whose names have this prefix and this suffix, in the order of the names.
    pub fn texts<'a>(&'a self, prefix: &'a str, suffix: &'a str) -> impl Iterator<Item = &'a str> {
        let matches = move |name: &str| name.starts_with(prefix) && name.ends_with(suffix);
        self.texts.iter().filter(move |(name, _)| matches(name)).map(|(_, text)| text.as_str())
    }

    /// Sum of all numbers whose names have this prefix and this suffix.
    pub fn sum(&self, prefix: &str, suffix: &str) -> u64 {
        let matches = |name: &str| name.starts_with(prefix) && name.ends_with(suffix);
        self.numbers.iter().filter(|(name, _)| matches(name)).map(|(_, number)| (*number).max(0) as u64).sum()
    }

    /// Converts ticks of this JVM's high-resolution clock to seconds.
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.number("sun.os.hrt.frequency").max(1) as f64
    }
}

/// The bytes up to the first zero byte, as text.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Counters with these numbers and texts.
    pub(crate) fn counters(numbers: &[(&str, i64)], texts: &[(&str, &str)]) -> JvmCounters {
        let numbers = numbers.iter().map(|(name, number)| ((*name).to_owned(), *number));
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        JvmCounters { numbers: numbers.collect(), texts: texts.collect() }
    }

    /// A counter file with one number and one text.
    fn file() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([LITTLE_ENDIAN, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend([32_u32, 2].iter().flat_map(|word| word.to_le_bytes()));
        for (vector, kind, data) in [(0_u32, b'J', 7_u64.to_le_bytes()), (8, b'B', *b"G1\0\0\0\0\0\0")] {
            bytes.extend([36_u32, 20, vector].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend([kind, 0, 0, 0]);
            bytes.extend(28_u32.to_le_bytes());
            bytes.extend(if kind == b'J' { *b"a.count\0" } else { *b"a.name\0\0" });
            bytes.extend(data);
        }
        bytes
    }

    #[test]
    fn only_a_complete_counter_file_is_parsed() {
        let counters = JvmCounters::parse(&file()).unwrap();
        assert_eq!((counters.number("a.count"), counters.text("a.name")), (7, Some("G1")));
        assert_eq!((counters.sum("a.", "count"), counters.number("b")), (7, 0));
        assert_eq!(
            (counter_offset(&file(), "a.count"), counter_offset(&file(), "a.name")),
            (Some(32 + 28), None)
        );
        for length in 0..file().len() {
            assert_eq!(JvmCounters::parse(&file()[..length]), None, "cut at {length}");
        }
        let not_ready = [&file()[..7], &[0], &file()[8..]].concat();
        assert_eq!(JvmCounters::parse(&not_ready), None);
        // The first entry begins again within itself.
        let overlapping = [&file()[..32], &24_u32.to_le_bytes(), &file()[36..]].concat();
        assert_eq!(JvmCounters::parse(&overlapping), None);
        // The text of the last entry goes on after it.
        let vector = 32 + 36 + 8;
        let long = [&file()[..vector], &9_u32.to_le_bytes(), &file()[vector + 4..], &[b'x'; 9]].concat();
        assert_eq!(JvmCounters::parse(&long), None);
    }

    #[test]
    fn a_file_is_read_up_to_a_limit() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 << 30).unwrap();
        assert_eq!(counter_bytes(&file).unwrap().len(), FILE_BYTES_MAX);
    }
}
