//! A trace as a file: events one after another, then names as JSON, then where the names begin. A file whose end is
//! missing (Klatch was killed) still has its events.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use thiserror::Error;

/// How a file of events begins and, where it is whole, ends.
const MAGIC: &[u8; 8] = b"KLTRACE1";

/// Bytes of an event, `struct event` of trace.bpf.c.
pub(super) const EVENT_BYTES: usize = 24;

/// What the scheduler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceKind {
    /// A task left the CPU and another came.
    Switch,
    /// A task was woken.
    Waking,
    /// A task was moved to another CPU.
    Migrate,
}

impl TraceKind {
    /// All of them, in the order in which they are defined.
    pub(super) const ALL: [TraceKind; 3] = [TraceKind::Switch, TraceKind::Waking, TraceKind::Migrate];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            TraceKind::Switch => "switch",
            TraceKind::Waking => "waking",
            TraceKind::Migrate => "migrate",
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When, ns of the kernel's monotonic clock.
    pub ns: u64,
    /// What.
    pub kind: TraceKind,
    /// At a switch: the state of the task that leaves, 0 if it could go on.
    pub state: u8,
    /// On which CPU.
    pub cpu: u16,
    /// Switch: who leaves; waking: who is woken; migrate: who is moved.
    pub task: u32,
    /// Switch: who comes; waking: who wakes; migrate: the CPU it is moved to.
    pub other: u32,
    /// The process of the task; at a switch, of the one who comes.
    pub tgid: u32,
}

impl TraceEvent {
    pub(super) fn from_bytes(bytes: &[u8; EVENT_BYTES]) -> Option<TraceEvent> {
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        Some(TraceEvent {
            ns: u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes")),
            kind: match bytes[8] {
                1 => TraceKind::Switch,
                2 => TraceKind::Waking,
                3 => TraceKind::Migrate,
                _ => return None,
            },
            state: bytes[9],
            cpu: u16::from_ne_bytes([bytes[10], bytes[11]]),
            task: word(12),
            other: word(16),
            tgid: word(20),
        })
    }
}

/// A trace that is not one, or cannot be read.
#[derive(Debug, Error)]
pub enum TraceFileError {
    /// It cannot be read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("this is no trace of Klatch")]
    NoTrace,
}

/// Begins a file.
pub(super) fn begin(file: &mut impl Write) -> io::Result<()> {
    file.write_all(MAGIC)
}

/// Ends a file that has `events` in it.
pub(super) fn end(
    file: &mut impl Write,
    events: u64,
    lost: u64,
    names: &BTreeMap<u32, String>,
) -> io::Result<()> {
    let text = serde_json::json!({ "lost": lost, "names": names }).to_string();
    file.write_all(text.as_bytes())?;
    file.write_all(&(MAGIC.len() as u64 + events * EVENT_BYTES as u64).to_le_bytes())?;
    file.write_all(MAGIC)?;
    file.flush()
}

/// A whole trace.
#[derive(Debug, PartialEq)]
pub struct TraceFile {
    /// Its events, in order of time.
    pub events: Vec<TraceEvent>,
    /// Events that are not in it; `None` if it was not ended.
    pub lost: Option<u64>,
    /// Names of threads, where they were still there at the end.
    pub names: BTreeMap<u32, String>,
}

impl TraceFile {
    /// Reads one.
    ///
    /// # Errors
    /// It cannot be read, or is no trace.
    pub fn read(mut file: impl Read + Seek) -> Result<TraceFile, TraceFileError> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(|_| TraceFileError::NoTrace)?;
        if &magic != MAGIC {
            return Err(TraceFileError::NoTrace);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
        file.read_to_end(&mut bytes)?;
        let (events, about) = split(&bytes);
        let about: Option<About> = about.and_then(|about| serde_json::from_slice(about).ok());
        let chunks = events.as_chunks::<EVENT_BYTES>().0.iter();
        let mut events: Vec<TraceEvent> = chunks.filter_map(TraceEvent::from_bytes).collect();
        // CPUs write into one buffer, each when it is done.
        events.sort_by_key(|event| event.ns);
        let (lost, names) = about.map_or((None, BTreeMap::new()), |about| (Some(about.lost), about.names));
        Ok(TraceFile { events, lost, names })
    }

    /// The name of a thread, or its number.
    pub fn name(&self, pid: u32) -> String {
        match self.names.get(&pid) {
            _ if pid == 0 => "idle".to_owned(),
            Some(name) => format!("{name}:{pid}"),
            None => format!("thread {pid}"),
        }
    }
}

#[derive(serde::Deserialize)]
struct About {
    lost: u64,
    names: BTreeMap<u32, String>,
}

/// What follows the first magic, as events and what is told about them.
fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let whole = || {
        let rest = bytes.strip_suffix(MAGIC)?;
        let (rest, start) = rest.split_last_chunk::<8>()?;
        let start = u64::from_le_bytes(*start).checked_sub(MAGIC.len() as u64)?;
        let (events, about) = rest.split_at_checked(usize::try_from(start).ok()?)?;
        Some((events, Some(about)))
    };
    whole().unwrap_or((bytes, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn bytes(ns: u64, kind: u8) -> Vec<u8> {
        let mut bytes = ns.to_ne_bytes().to_vec();
        bytes.extend([kind, 1, 1, 0]);
        [7_u32, 8, 9].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes
    }

    #[test]
    fn a_trace_is_read_as_it_was_written_also_without_its_end() {
        let mut file = Vec::new();
        begin(&mut file).unwrap();
        file.extend([bytes(20, 2), bytes(10, 1)].concat());
        let names = BTreeMap::from([(7, "spinner".to_owned())]);
        let torn = TraceFile::read(Cursor::new([file.clone(), vec![1, 2, 3]].concat())).unwrap();
        end(&mut file, 2, 5, &names).unwrap();
        let whole = TraceFile::read(Cursor::new(file)).unwrap();
        let event =
            TraceEvent { ns: 10, kind: TraceKind::Switch, state: 1, cpu: 1, task: 7, other: 8, tgid: 9 };
        assert_eq!(whole.events, [event, TraceEvent { ns: 20, kind: TraceKind::Waking, ..event }]);
        assert_eq!(
            (whole.lost, whole.name(7), whole.name(8)),
            (Some(5), "spinner:7".to_owned(), "thread 8".to_owned())
        );
        assert_eq!((torn.events, torn.lost), (whole.events, None));
        for wrong in [&b""[..], b"KLTRACE", b"something else"] {
            assert!(matches!(TraceFile::read(Cursor::new(wrong)), Err(TraceFileError::NoTrace)));
        }
    }
}
