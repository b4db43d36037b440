//! The file format of traces: the events, then names as JSON, then the offset of the JSON.
//!
//! If Klatch was killed and the end is missing, the events can still be read.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use thiserror::Error;

/// The first bytes of a trace, and the last bytes of a complete one.
const MAGIC: &[u8; 8] = b"KLTRACE1";

/// Size of `struct event` of trace.bpf.c.
pub(super) const EVENT_BYTES: usize = 24;

/// Kind of a scheduler event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceKind {
    /// A CPU switched from one task to another.
    Switch,
    /// A task was woken up, and may still have to wait for a CPU.
    Waking,
    /// A task was moved to the run queue of another CPU.
    Migrate,
}

impl TraceKind {
    /// All of them, in the order in which they are defined.
    pub(super) const ALL: [TraceKind; 3] = [TraceKind::Switch, TraceKind::Waking, TraceKind::Migrate];

    /// The name in listings and in records.
    pub fn name(self) -> &'static str {
        match self {
            TraceKind::Switch => "switch",
            TraceKind::Waking => "waking",
            TraceKind::Migrate => "migrate",
        }
    }
}

/// A scheduler event, with the layout of `struct event` of trace.bpf.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Time on CLOCK_MONOTONIC, in ns.
    pub ns: u64,
    /// Determines the meaning of the other fields.
    pub kind: TraceKind,
    /// At a switch: state of the previous task, 0 if it was still runnable.
    pub state: u8,
    /// The CPU that recorded the event.
    pub cpu: u16,
    /// Thread id: the previous task of a switch, the woken task, or the moved task.
    pub task: u32,
    /// Thread id of the next task of a switch or of the waker; at a migration, the destination CPU.
    pub other: u32,
    /// Process id of `task`; at a switch, of the next task.
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

    fn to_bytes(self) -> [u8; EVENT_BYTES] {
        let mut bytes = [0; EVENT_BYTES];
        bytes[..8].copy_from_slice(&self.ns.to_ne_bytes());
        bytes[8] = self.kind as u8 + 1;
        bytes[9] = self.state;
        bytes[10..12].copy_from_slice(&self.cpu.to_ne_bytes());
        bytes[12..16].copy_from_slice(&self.task.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.other.to_ne_bytes());
        bytes[20..].copy_from_slice(&self.tgid.to_ne_bytes());
        bytes
    }
}

/// A trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceFileError {
    /// The file system reported an error.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// The file does not start like a trace.
    #[error(
        "this is no trace; klatch trace record makes one, and klatch trace import reads the output of perf script"
    )]
    NoTrace,
}

/// Writes the start of a trace.
pub(super) fn write_start(file: &mut impl Write) -> io::Result<()> {
    file.write_all(MAGIC)
}

/// Writes the end of a trace with this number of events.
pub(super) fn write_end(
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

/// A trace, read into memory.
#[derive(Debug, PartialEq)]
pub struct TraceFile {
    /// All events, sorted by time.
    pub events: Vec<TraceEvent>,
    /// Number of events that were not recorded; `None` if the end of the file is missing.
    pub lost: Option<u64>,
    /// Names by thread id, of the threads that existed at the end.
    pub names: BTreeMap<u32, String>,
}

impl TraceFile {
    /// Reads a trace, complete or not.
    ///
    /// # Errors
    /// The file cannot be read, or is no trace: see [`TraceFileError`].
    pub fn read(mut file: impl Read + Seek) -> Result<TraceFile, TraceFileError> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(|_| TraceFileError::NoTrace)?;
        if &magic != MAGIC {
            return Err(TraceFileError::NoTrace);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
        file.read_to_end(&mut bytes)?;
        let (events, trailer) = split(&bytes);
        let trailer: Option<Trailer> = trailer.and_then(|json| serde_json::from_slice(json).ok());
        let chunks = events.as_chunks::<EVENT_BYTES>().0.iter();
        let mut events: Vec<TraceEvent> = chunks.filter_map(TraceEvent::from_bytes).collect();
        // The file has the events CPU by CPU.
        events.sort_by_key(|event| event.ns);
        let (lost, names) =
            trailer.map_or((None, BTreeMap::new()), |trailer| (Some(trailer.lost), trailer.names));
        Ok(TraceFile { events, lost, names })
    }

    /// Writes the trace; [`TraceFile::read`] reads it back.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        write_start(&mut out)?;
        self.events.iter().try_for_each(|event| out.write_all(&event.to_bytes()))?;
        write_end(&mut out, self.events.len() as u64, self.lost.unwrap_or(0), &self.names)
    }

    /// Name and id of a thread, for listings.
    pub fn name(&self, pid: u32) -> String {
        match self.names.get(&pid) {
            _ if pid == 0 => "idle".to_owned(),
            Some(name) => format!("{name}:{pid}"),
            None => format!("thread {pid}"),
        }
    }
}

#[derive(serde::Deserialize)]
struct Trailer {
    lost: u64,
    names: BTreeMap<u32, String>,
}

/// Splits the bytes after the magic into the events and the JSON; an incomplete file has no JSON.
fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let complete = || {
        let rest = bytes.strip_suffix(MAGIC)?;
        let (rest, start) = rest.split_last_chunk::<8>()?;
        let start = u64::from_le_bytes(*start).checked_sub(MAGIC.len() as u64)?;
        let (events, json) = rest.split_at_checked(usize::try_from(start).ok()?)?;
        Some((events, Some(json)))
    };
    complete().unwrap_or((bytes, None))
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
    fn a_written_trace_is_read_back_even_without_its_end() {
        let mut file = Vec::new();
        write_start(&mut file).unwrap();
        file.extend([bytes(20, 2), bytes(10, 1)].concat());
        let names = BTreeMap::from([(7, "spinner".to_owned())]);
        let torn = TraceFile::read(Cursor::new([file.clone(), vec![1, 2, 3]].concat())).unwrap();
        write_end(&mut file, 2, 5, &names).unwrap();
        let whole = TraceFile::read(Cursor::new(file)).unwrap();
        let event =
            TraceEvent { ns: 10, kind: TraceKind::Switch, state: 1, cpu: 1, task: 7, other: 8, tgid: 9 };
        assert_eq!(whole.events, [event, TraceEvent { ns: 20, kind: TraceKind::Waking, ..event }]);
        assert_eq!(
            (whole.lost, whole.name(7), whole.name(8)),
            (Some(5), "spinner:7".to_owned(), "thread 8".to_owned())
        );
        assert_eq!((&torn.events, torn.lost), (&whole.events, None));
        let mut again = Vec::new();
        whole.write(&mut again).unwrap();
        assert_eq!(TraceFile::read(Cursor::new(again)).unwrap(), whole);
        for wrong in [&b""[..], b"KLTRACE", b"something else"] {
            assert!(matches!(TraceFile::read(Cursor::new(wrong)), Err(TraceFileError::NoTrace)));
        }
    }
}
