//! The post log: a line with the number of records, then one record of 139 bytes for each POST. And its audit, which
//! compares the log with the POSTs that the server has confirmed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use super::ads::FIRST_USER;
use super::files::FileId;
use super::text::decimal;

/// Bytes of the line with the number of records.
pub const COUNT_BYTES: usize = 11;
/// Bytes of a record, its LF included.
pub const POST_RECORD_BYTES: usize = 139;
/// Most records of a log. A run that is as long as this has sent 20 million requests; a client that sends POSTs for ever is refused.
pub const POSTS_MAX: usize = 1_000_000;
/// Bytes of the fields of a record, which single spaces separate: number, time, process, directory, class, file,
/// client, path, process, user.
const FIELD_BYTES: [usize; 10] = [10, 10, 10, 5, 2, 2, 10, 60, 10, 10];

/// One POST, as the crowd and the log identify it: client and sequence number occur together only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PostEntry {
    /// The number of the line.
    pub client: u32,
    /// The number of the POST among those of its line.
    pub sequence: u32,
    /// The file that it asked for.
    pub file: FileId,
}

/// A post log in memory, as numbers: its text is made when it is fetched.
#[derive(Default)]
pub(super) struct PostLog {
    /// Time of reference in seconds since 1970, and POST.
    records: Vec<(i64, PostEntry)>,
}

impl PostLog {
    /// Appends a record. Returns false, and changes nothing, if the log is full.
    #[must_use]
    pub(super) fn append(&mut self, time_s: i64, entry: &PostEntry) -> bool {
        let has_room = self.records.len() < POSTS_MAX;
        if has_room {
            self.records.push((time_s, *entry));
        }
        has_room
    }

    /// Bytes of the whole log.
    pub(super) fn len(&self) -> usize {
        COUNT_BYTES + self.records.len() * POST_RECORD_BYTES
    }

    /// Appends the whole log. The process numbers are no properties of a server here, and are 0.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        writeln!(out, "{:10}", self.records.len()).expect("a vector takes all bytes");
        for (number, (time_s, PostEntry { client, sequence, file })) in (1..).zip(&self.records) {
            let (directory, class, in_class) = (file.directory(), file.class(), file.number());
            let path = file.path();
            let path = std::str::from_utf8(&path).expect("paths are ASCII");
            let user = u64::from(FIRST_USER) + u64::from(*sequence);
            writeln!(
                out,
                "{number:10} {time_s:10} {:10} {directory:5} {class:2} {in_class:2} {client:10} {path:<60} {:10} {user:10}",
                0, 0
            )
            .expect("a vector takes all bytes");
        }
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
    }
}

/// A fault of a post log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The first line does not state the number of records.
    WrongCount {
        /// The stated number, if it is one.
        stated: Option<u64>,
        /// The number of lines after the first.
        records: u64,
    },
    /// A line is no whole record: its length, a field or the final LF is wrong.
    Torn {
        /// The position among the records, from 1.
        record: u64,
    },
    /// A record has another number than its position.
    Misnumbered {
        /// The position among the records, from 1.
        record: u64,
        /// The number in the record.
        stated: u64,
    },
    /// A confirmed POST has no record.
    Lost(PostEntry),
    /// A POST has more than one record.
    Doubled {
        /// The POST, as in its first record.
        entry: PostEntry,
        /// Number of its records.
        times: u64,
    },
    /// The record of a confirmed POST names another file.
    WrongFile {
        /// The POST as it was confirmed.
        expected: PostEntry,
        /// The file in the record.
        found: FileId,
    },
    /// A record is of a POST that was not confirmed.
    Unconfirmed(PostEntry),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let post = |entry: &PostEntry| format!("POST {} of line {}", entry.sequence, entry.client);
        match self {
            Finding::WrongCount { stated: Some(stated), records } => {
                write!(f, "the log states {stated} records and has {records}")
            }
            Finding::WrongCount { stated: None, records } => {
                write!(f, "the log has {records} records and does not state their number")
            }
            Finding::Torn { record } => write!(f, "record {record} is torn"),
            Finding::Misnumbered { record, stated } => write!(f, "record {record} has the number {stated}"),
            Finding::Lost(entry) => write!(f, "{} was confirmed and has no record", post(entry)),
            Finding::Doubled { entry, times } => write!(f, "{} has {times} records", post(entry)),
            Finding::WrongFile { expected, found } => {
                let [expected_path, found] =
                    [expected.file, *found].map(|file| String::from_utf8_lossy(&file.path()).into_owned());
                write!(f, "{} asked for {expected_path}, and its record names {found}", post(expected))
            }
            Finding::Unconfirmed(entry) => write!(f, "{} has a record and was not confirmed", post(entry)),
        }
    }
}

/// Compares a post log with the POSTs whose replies were complete and correct. It finds every fault, in the order of
/// the log; lost POSTs follow.
pub fn check_post_log(log: &[u8], confirmed: &[PostEntry]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let expected: BTreeMap<_, _> =
        confirmed.iter().map(|entry| ((entry.client, entry.sequence), entry)).collect();
    let mut found = BTreeMap::<(u32, u32), (PostEntry, u64)>::new();
    let mut lines = log.split_inclusive(|&byte| byte == b'\n');
    let count_line = lines.next().unwrap_or_default();
    let mut records = 0;
    for line in lines {
        records += 1;
        let Some((stated, entry)) = parse_record(line) else {
            findings.push(Finding::Torn { record: records });
            continue;
        };
        if stated != records {
            findings.push(Finding::Misnumbered { record: records, stated });
        }
        let key = (entry.client, entry.sequence);
        found.entry(key).and_modify(|(_, times)| *times += 1).or_insert((entry, 1));
        match expected.get(&key) {
            None => findings.push(Finding::Unconfirmed(entry)),
            Some(&&expected) if expected != entry => {
                findings.push(Finding::WrongFile { expected, found: entry.file });
            }
            Some(_) => {}
        }
    }
    let stated = count_line.strip_suffix(b"\n").filter(|line| line.len() + 1 == COUNT_BYTES);
    let stated = stated.and_then(number);
    if stated != Some(records) {
        findings.insert(0, Finding::WrongCount { stated, records });
    }
    let doubled = found.values().filter(|(_, times)| *times > 1);
    findings.extend(doubled.map(|&(entry, times)| Finding::Doubled { entry, times }));
    let lost = expected.iter().filter(|(key, _)| !found.contains_key(*key));
    findings.extend(lost.map(|(_, entry)| Finding::Lost(**entry)));
    findings
}

/// Parses a whole record to its number and POST. Time and processes can be any numbers.
fn parse_record(line: &[u8]) -> Option<(u64, PostEntry)> {
    let line: &[u8; POST_RECORD_BYTES] = line.try_into().ok()?;
    let mut fields = [&[][..]; FIELD_BYTES.len()];
    let mut at = 0;
    for (place, (field, bytes)) in fields.iter_mut().zip(FIELD_BYTES).enumerate() {
        *field = &line[at..at + bytes];
        at += bytes + 1;
        let end = if place + 1 == FIELD_BYTES.len() { b'\n' } else { b' ' };
        if line[at - 1] != end {
            return None;
        }
    }
    let [stated, time, process, directory, class, in_class, client, path, other_process, user] = fields;
    for any_number in [time, process, other_process] {
        number(any_number)?;
    }
    let small = |field| number(field).and_then(|number| u32::try_from(number).ok());
    let file = FileId::new(small(directory)?, small(class)? as u8, small(in_class)? as u8)?;
    let named = FileId::parse(path.trim_ascii_end())?;
    let sequence = u32::try_from(number(user)?.checked_sub(FIRST_USER.into())?).ok()?;
    let entry = PostEntry { client: small(client)?, sequence, file };
    (named == file).then_some((number(stated)?, entry))
}

/// Parses a number that spaces precede.
fn number(field: &[u8]) -> Option<u64> {
    decimal(field.trim_ascii_start(), u64::MAX)
}

#[cfg(test)]
#[path = "post_log_tests.rs"]
mod tests;
