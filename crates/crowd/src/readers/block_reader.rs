//! The interface between a reader and the system calls that it reads by.

use std::fs::File;
use std::path::PathBuf;

use klatch_exchange::files::Place;

use crate::read_error::ReadError;

/// A read that was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) place: Place,
    /// Number of the read among those of its reader, from 0.
    pub(super) number: u64,
    /// When it was begun, ns on the crowd's clock.
    pub(super) begun_ns: u64,
}

/// What a reader reads.
pub(super) trait Reads {
    /// The next read; `None` while nothing is to be read.
    fn next(&mut self) -> Option<Read>;

    /// Takes the block of a read.
    fn on_block(&mut self, read: Read, block: &[u8]);
}

/// A way to read blocks.
pub(super) trait BlockReader {
    /// Reads until there is no next read, and everything that was begun has ended.
    ///
    /// # Errors
    /// A block cannot be read. Others that were begun are lost with it.
    fn read(&mut self, reads: &mut impl Reads) -> Result<(), ReadError>;
}

/// The files of one reader, open for reading.
pub(super) struct OpenFiles {
    pub(super) paths: Vec<PathBuf>,
    pub(super) files: Vec<File>,
}

impl OpenFiles {
    /// Opens these files, which must have `bytes` each.
    pub(super) fn open(paths: Vec<PathBuf>, bytes: u64) -> Result<OpenFiles, ReadError> {
        let open = |path: &PathBuf| {
            let file = File::open(path)?;
            let actual = file.metadata()?.len();
            if actual == bytes {
                Ok(file)
            } else {
                Err(std::io::Error::other(format!("it has {actual} bytes, and must have {bytes}")))
            }
        };
        let files = paths
            .iter()
            .map(|path| open(path).map_err(|source| ReadError { path: path.clone(), source }))
            .collect::<Result<_, _>>()?;
        Ok(OpenFiles { paths, files })
    }

    /// The error of a read from one of these files.
    pub(super) fn error(&self, read: Read, source: std::io::Error) -> ReadError {
        ReadError { path: self.paths[read.place.file as usize].clone(), source }
    }
}
