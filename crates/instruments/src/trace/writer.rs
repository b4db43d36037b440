//! Takes events out of the kernel's buffer and writes them to a file, in a thread of its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use libbpf_rs::{MapHandle, RingBufferBuilder};

use super::file::{EVENT_BYTES, TraceEvent, begin, end};

/// How long events may lie in the kernel's buffer. It holds half a million of them.
const PERIOD: Duration = Duration::from_millis(100);

/// A thread that writes until it is dropped or asked for what it wrote.
pub(super) struct Writer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<io::Result<Written>>>,
}

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) kinds: BTreeMap<String, u64>,
    pub(super) events: u64,
    /// Events that came when the file was full.
    pub(super) beyond: u64,
    pub(super) file_bytes: u64,
}

impl Writer {
    /// Writes the events of `buffer` to a new file at `path`, at most `bytes_max`.
    pub(super) fn start(buffer: MapHandle, path: &Path, bytes_max: u64) -> io::Result<Writer> {
        let file = File::create(path)?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("trace".to_owned()).spawn(move || {
            let sink = RefCell::new(Sink::new(file, bytes_max)?);
            let mut builder = RingBufferBuilder::new();
            builder.add(&buffer, |bytes| sink.borrow_mut().take(bytes)).map_err(io::Error::other)?;
            let ring = builder.build().map_err(io::Error::other)?;
            // The sender is dropped when it is time to stop.
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                ring.consume().map_err(io::Error::other)?;
            }
            ring.consume().map_err(io::Error::other)?;
            drop(ring);
            sink.into_inner().end()
        })?;
        Ok(Writer { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the file. Nothing may come into the buffer any more.
    pub(super) fn end(&mut self) -> io::Result<Written> {
        self.stop = None;
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

/// Where events go.
struct Sink {
    file: BufWriter<File>,
    bytes_max: u64,
    written: Written,
    threads: BTreeSet<(u32, u32)>,
    failure: Option<io::Error>,
}

impl Sink {
    fn new(file: File, bytes_max: u64) -> io::Result<Sink> {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        begin(&mut file)?;
        Ok(Sink { file, bytes_max, written: Written::default(), threads: BTreeSet::new(), failure: None })
    }

    /// Takes one event in; another than 0 would end the reading of the buffer.
    fn take(&mut self, bytes: &[u8]) -> i32 {
        let event = bytes.first_chunk::<EVENT_BYTES>().and_then(TraceEvent::from_bytes);
        let full = (self.written.events + 1) * EVENT_BYTES as u64 > self.bytes_max;
        match event {
            Some(event) if !full && self.failure.is_none() => match self.file.write_all(bytes) {
                Ok(()) => self.count(&event),
                Err(error) => self.failure = Some(error),
            },
            _ => self.written.beyond += 1,
        }
        0
    }

    fn count(&mut self, event: &TraceEvent) {
        self.written.events += 1;
        *self.written.kinds.entry(event.kind.name().to_owned()).or_default() += 1;
        let thread = if event.kind == super::TraceKind::Switch { event.other } else { event.task };
        self.threads.insert((event.tgid, thread));
    }

    /// Writes the names of those who are still there.
    fn end(mut self) -> io::Result<Written> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let name = |(tgid, pid): &(u32, u32)| {
            let name = std::fs::read_to_string(format!("/proc/{tgid}/task/{pid}/comm")).ok()?;
            Some((*pid, name.trim().to_owned()))
        };
        let names = self.threads.iter().filter_map(name).collect();
        end(&mut self.file, self.written.events, self.written.beyond, &names)?;
        self.written.file_bytes = self.file.get_ref().metadata()?.len();
        Ok(self.written)
    }
}
