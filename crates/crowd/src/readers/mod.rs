//! The readers of workload `files`: threads that read blocks of cached files and check them. They are a crowd without a server, under
//! the same supervisor.

mod block_reader;
mod disk;
mod mmap;
mod pread;
mod reader;
mod uring;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use block_reader::OpenFiles;
use klatch_exchange::files::{Pages, file_name};
use klatch_record::{CONTENT_SEED, CrowdResult, FilesWorkload, Gate, ProtocolName, Workload};
use mmap::Mmaps;
use pread::Pread;
use reader::Reader;
use uring::Uring;

use crate::control::ControlReceiver;
use crate::options::{CrowdError, OnEvent, Options, raise_open_files};
use crate::runner::supervise;
use crate::shared::{Shared, Wake};
use crate::stats::CrowdStats;
use crate::worker::Worker;

/// How readers read, and where their files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The system calls by which a block is read.
    pub model: ReadModel,
    /// The folder with the files, which are named by [`file_name`].
    pub folder: PathBuf,
    /// Reads of a reader in flight under [`ReadModel::Uring`], 1..=1024. The others have one.
    pub depth: u32,
}

/// The ways to read a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadModel {
    /// One system call a block.
    Pread,
    /// The files are mapped into memory, and a block is copied from there.
    Mmap,
    /// One system call submits several reads.
    Uring,
}

impl ReadModel {
    /// All models, in the order in which help lists them.
    pub const ALL: [ReadModel; 3] = [ReadModel::Pread, ReadModel::Mmap, ReadModel::Uring];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ReadModel::Pread => "pread",
            ReadModel::Mmap => "mmap",
            ReadModel::Uring => "uring",
        }
    }
}

impl std::str::FromStr for ReadModel {
    type Err = String;

    fn from_str(text: &str) -> Result<ReadModel, String> {
        let model = ReadModel::ALL.into_iter().find(|model| model.name() == text);
        model.ok_or_else(|| format!("model must be pread, mmap or uring, got {text}"))
    }
}

/// Runs readers to their end and reports events on the way. Joining is reading every file once, so that it is in the page cache.
///
/// # Errors
/// The readers could not start. Later failures are part of the result.
pub fn read_files(
    options: &Options,
    reading: &Reading,
    inbox: ControlReceiver,
    on_event: OnEvent<'_>,
) -> Result<CrowdResult, CrowdError> {
    options.workload.check()?;
    let Workload::Files(files) = &options.workload else {
        let (workload, protocol) = (options.workload.kind(), ProtocolName::File);
        return Err(CrowdError::Protocol { workload, protocol });
    };
    let readers = files.readers as usize;
    check_open_files(files)?;
    let wakes = (0..readers).map(|_| Wake::Threads(Mutex::default())).collect();
    let shared = Arc::new(Shared::new(wakes));
    let start = |number| {
        let worker = Worker::new(number, shared.clone(), inbox.1.clone());
        start_reader(Reader::new(worker, files), files, reading)
    };
    let threads = (0..readers).map(start).collect::<Result<Vec<_>, CrowdError>>()?;
    let no_gate =
        |_: &Gate, _: &Arc<Shared>| Err(std::io::Error::other("only chat servers have a room for a gate"));
    Ok(supervise(options, &shared, inbox.0, on_event, no_gate, threads)?.0)
}

/// Each reader has descriptors of its own, as processes would.
fn check_open_files(files: &FilesWorkload) -> Result<(), CrowdError> {
    let connections = u64::from(files.readers) * u64::from(files.files);
    let (needed, limit) = (connections + 8, raise_open_files());
    if needed > limit { Err(CrowdError::OpenFiles { connections, needed, limit }) } else { Ok(()) }
}

fn start_reader(
    reader: Reader,
    files: &FilesWorkload,
    reading: &Reading,
) -> Result<JoinHandle<Vec<CrowdStats>>, CrowdError> {
    let open = OpenFiles::open(paths(&reading.folder, files), files.file_bytes())?;
    let block_bytes = files.block_bytes as usize;
    let thread = Builder::new().name(format!("reader-{}", reader.number()));
    // One function for each model, so that no call on the way of a block is indirect.
    let thread = match reading.model {
        ReadModel::Pread => {
            let blocks = Pread::new(open, block_bytes);
            thread.spawn(move || reader.run(blocks))
        }
        ReadModel::Mmap => {
            let blocks = Mmaps::new(&open, block_bytes)?;
            thread.spawn(move || reader.run(blocks))
        }
        ReadModel::Uring => {
            let blocks = Uring::new(open, block_bytes, reading.depth)?;
            thread.spawn(move || reader.run(blocks))
        }
    };
    Ok(thread?)
}

fn paths(folder: &Path, files: &FilesWorkload) -> Vec<PathBuf> {
    (0..files.files).map(|file| folder.join(file_name(file))).collect()
}

/// The contents that all files have.
fn pages() -> Pages {
    Pages::new(CONTENT_SEED)
}

#[cfg(test)]
mod tests;
