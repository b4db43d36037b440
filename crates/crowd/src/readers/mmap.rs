//! Files mapped into memory. A block is copied, so that it is the reader's own as with the system calls.
#![allow(unsafe_code)]

use memmap2::Mmap;

use super::block_reader::{BlockReader, OpenFiles, Reads};
use crate::read_error::ReadError;

pub(super) struct Mmaps {
    maps: Vec<Mmap>,
    block: Vec<u8>,
}

impl Mmaps {
    pub(super) fn new(open: &OpenFiles, block_bytes: usize) -> Result<Mmaps, ReadError> {
        let maps = open
            .files
            .iter()
            .zip(&open.paths)
            .map(|(file, path)| {
                // SAFETY: Klatch writes these files under another name, and renames them when they are complete. They do not
                // change afterwards. A user who truncates one ends this process by SIGBUS, and no other.
                unsafe { Mmap::map(file) }.map_err(|source| ReadError { path: path.clone(), source })
            })
            .collect::<Result<_, _>>()?;
        Ok(Mmaps { maps, block: vec![0; block_bytes] })
    }
}

impl BlockReader for Mmaps {
    fn read(&mut self, reads: &mut impl Reads) -> Result<(), ReadError> {
        while let Some(read) = reads.next() {
            let bytes = self.block.len();
            let begin = read.place.block as usize * bytes;
            let map = &self.maps[read.place.file as usize];
            self.block.copy_from_slice(&map[begin..][..bytes]);
            reads.on_block(read, &self.block);
        }
        Ok(())
    }
}
