//! Parsers against the bytes of others: a corpus of whole conversations and known attacks, and mutations of it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{TestCaseError, TestRunner};

/// Mutated inputs of one call, unless `PROPTEST_CASES` has another number.
const CASES: u32 = 256;

/// What parsers tend to be wrong about.
const TOKENS: [&[u8]; 18] = [
    b"\r\n",
    b"\n",
    b"\r\n\r\n",
    b"\0",
    b" ",
    b":",
    b"-1",
    b"0",
    b"999999999",
    b"4294967295",
    b"18446744073709551615",
    b"99999999999999999999",
    b"fffffffffffffff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xc3\x28",
    b"\x80",
];

/// Calls `parse` with every file of `folder`, and with mutations of these. It fails where `parse` panics, with the bytes: add them to the
/// folder.
///
/// # Panics
/// `parse` panicked, or the folder has no files.
pub fn fuzz(folder: &Path, parse: impl Fn(&[u8])) {
    let files = corpus(folder);
    for (name, bytes) in &files {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parse(bytes))) {
            eprintln!("{}/{name}: {}", folder.display(), bytes.escape_ascii());
            resume_unwind(panic);
        }
    }
    let all: Vec<Vec<u8>> = files.into_iter().map(|(_, bytes)| bytes).collect();
    let mutated = (select(all.clone()), vec(mutation(all), 1..6)).prop_map(|(bytes, mutations)| {
        Input(mutations.iter().fold(bytes, |bytes, mutation| mutation.apply(bytes)))
    });
    let usual = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let mut runner = TestRunner::new(ProptestConfig { cases, ..usual });
    let checked = runner.run(&mutated, |Input(bytes)| {
        catch_unwind(AssertUnwindSafe(|| parse(&bytes))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            TestCaseError::fail(text.unwrap_or_default())
        })
    });
    if let Err(error) = checked {
        panic!("{}: {error}", folder.display());
    }
}

/// The names and contents of all files of a corpus.
fn corpus(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("the folder can be read");
        let bytes = std::fs::read(entry.path()).expect("the file can be read");
        (entry.file_name().to_string_lossy().into_owned(), bytes)
    };
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(read).collect();
    assert!(!files.is_empty(), "{} has no files", folder.display());
    files.sort();
    files
}

/// Bytes that are shown so that they can be copied.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Cut(Index),
    /// The rest is that of another file.
    Splice(Index, Vec<u8>, Index),
}

fn mutation(files: Vec<Vec<u8>>) -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    let token = select(TOKENS.to_vec()).prop_map(<[u8]>::to_vec);
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (at(), 0..8_u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        (at(), prop_oneof![token, vec(any::<u8>(), 1..9)])
            .prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (at(), 1..40_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        (at(), 1..40_usize, 1..30_usize).prop_map(|(at, count, times)| Mutation::Repeat(at, count, times)),
        at().prop_map(Mutation::Cut),
        (at(), select(files), at()).prop_map(|(at, other, from)| Mutation::Splice(at, other, from)),
    ]
}

impl Mutation {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let place = |at: &Index, length: usize| at.index(length + 1);
        let length = bytes.len();
        match self {
            Mutation::Set(at, byte) => {
                bytes.iter_mut().skip(place(at, length)).take(1).for_each(|old| *old = *byte)
            }
            Mutation::Flip(at, bit) => {
                bytes.iter_mut().skip(place(at, length)).take(1).for_each(|old| *old ^= 1 << bit)
            }
            Mutation::Insert(at, new) => {
                bytes.splice(place(at, length)..place(at, length), new.iter().copied());
            }
            Mutation::Remove(at, count) => {
                let begin = place(at, length);
                bytes.drain(begin..(begin + count).min(length));
            }
            Mutation::Repeat(at, count, times) => {
                let begin = place(at, length);
                let part = bytes[begin..(begin + count).min(length)].repeat(*times);
                bytes.splice(begin..begin, part);
            }
            Mutation::Cut(at) => bytes.truncate(place(at, length)),
            Mutation::Splice(at, other, from) => {
                bytes.truncate(place(at, length));
                bytes.extend_from_slice(&other[place(from, other.len())..]);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_that_trusts_a_length_is_caught() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("right"), b"5 hello").unwrap();
        let trusting = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            if let Some((length, rest)) = text.split_once(' ') {
                let _ = &rest[..length.parse().unwrap_or(0)];
            }
        };
        let caught = catch_unwind(AssertUnwindSafe(|| fuzz(folder.path(), trusting)));
        let message = *caught.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("minimal failing input"), "{message}");
        fuzz(folder.path(), |_| {});
    }
}
