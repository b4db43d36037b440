//! A thread that moves events from the rings to the file.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use klatch_host::privileges::create_anew;

use super::file::{EVENT_BYTES, TraceEvent, TraceKind, write_end, write_start};
use super::rings::Rings;

/// Time between two readings of the rings.
const PERIOD: Duration = Duration::from_millis(100);

/// The writing thread. Dropping it stops the thread.
pub(super) struct Writer {
    /// Takes the names of threads that have ended.
    stop: Option<Sender<BTreeMap<u32, String>>>,
    thread: Option<JoinHandle<io::Result<Written>>>,
}

/// Totals of a complete trace.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) kinds: BTreeMap<String, u64>,
    pub(super) events: u64,
    /// Events that were overwritten in a ring or exceeded the limit of the file.
    pub(super) lost: u64,
    pub(super) file_bytes: u64,
}

impl Writer {
    /// Starts writing the events of `rings` to a new file at `path`, at most `bytes_max` bytes of events.
    pub(super) fn start(mut rings: Rings, path: &Path, bytes_max: u64) -> io::Result<Writer> {
        let file = create_anew(path)?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("trace".to_owned()).spawn(move || {
            let mut sink = Sink::new(file, bytes_max)?;
            loop {
                // Dropping the sender stops the thread, after a last reading.
                let received = stopped.recv_timeout(PERIOD);
                let lost = rings.drain(|bytes| sink.write(bytes));
                sink.written.lost += lost;
                match received {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(ended) => return sink.end(ended),
                    Err(RecvTimeoutError::Disconnected) => return sink.end(BTreeMap::new()),
                }
            }
        })?;
        Ok(Writer { stop: Some(stop), thread: Some(thread) })
    }

    /// Completes the file; `ended` has the names of threads that ended meanwhile. The programs must be detached before.
    pub(super) fn end(&mut self, ended: BTreeMap<u32, String>) -> io::Result<Written> {
        if let Some(stop) = self.stop.take() {
            // A thread that has died is reported below.
            let _ = stop.send(ended);
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            _ => Err(io::Error::other("the writer of the trace died")),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The file and its counts.
struct Sink {
    file: BufWriter<File>,
    bytes_max: u64,
    written: Written,
    /// Events by kind, in the order of [`TraceKind::ALL`].
    kinds: [u64; TraceKind::ALL.len()],
    /// Process and thread ids, for the names.
    threads: HashSet<(u32, u32)>,
    /// The first error; later events count as lost.
    failure: Option<io::Error>,
}

impl Sink {
    fn new(file: File, bytes_max: u64) -> io::Result<Sink> {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        write_start(&mut file)?;
        Ok(Sink {
            file,
            bytes_max,
            written: Written::default(),
            kinds: [0; TraceKind::ALL.len()],
            threads: HashSet::new(),
            failure: None,
        })
    }

    /// Writes an event, or counts it as lost.
    fn write(&mut self, bytes: &[u8; EVENT_BYTES]) {
        let event = TraceEvent::from_bytes(bytes);
        let full = (self.written.events + 1) * EVENT_BYTES as u64 > self.bytes_max;
        match event {
            Some(event) if !full && self.failure.is_none() => match self.file.write_all(bytes) {
                Ok(()) => self.count(&event),
                Err(error) => self.failure = Some(error),
            },
            _ => self.written.lost += 1,
        }
    }

    fn count(&mut self, event: &TraceEvent) {
        self.written.events += 1;
        self.kinds[event.kind as usize] += 1;
        let thread = if event.kind == TraceKind::Switch { event.other } else { event.task };
        self.threads.insert((event.tgid, thread));
    }

    /// Writes the names of the threads that still exist or have ended, and the end of the file.
    fn end(mut self, ended: BTreeMap<u32, String>) -> io::Result<Written> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let name = |(tgid, pid): &(u32, u32)| {
            let name = std::fs::read_to_string(format!("/proc/{tgid}/task/{pid}/comm")).ok()?;
            Some((*pid, name.trim().to_owned()))
        };
        let seen: HashSet<u32> = self.threads.iter().map(|(_, thread)| *thread).collect();
        let mut names: BTreeMap<u32, String> =
            ended.into_iter().filter(|(thread, _)| seen.contains(thread)).collect();
        // The id of one that ended may be that of another now.
        names.extend(self.threads.iter().filter_map(name));
        write_end(&mut self.file, self.written.events, self.written.lost, &names)?;
        let kinds = TraceKind::ALL.into_iter().zip(self.kinds).filter(|(_, count)| *count > 0);
        self.written.kinds = kinds.map(|(kind, count)| (kind.name().to_owned(), count)).collect();
        self.written.file_bytes = self.file.get_ref().metadata()?.len();
        Ok(self.written)
    }
}
