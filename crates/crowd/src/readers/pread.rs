//! One `pread` a block.

use std::os::unix::fs::FileExt;

use super::block_reader::{BlockReader, OpenFiles, Reads};
use crate::read_error::ReadError;

pub(super) struct Pread {
    open: OpenFiles,
    block: Vec<u8>,
}

impl Pread {
    pub(super) fn new(open: OpenFiles, block_bytes: usize) -> Pread {
        Pread { open, block: vec![0; block_bytes] }
    }
}

impl BlockReader for Pread {
    fn read(&mut self, reads: &mut impl Reads) -> Result<(), ReadError> {
        while let Some(read) = reads.next() {
            let offset = u64::from(read.place.block) * self.block.len() as u64;
            let file = &self.open.files[read.place.file as usize];
            file.read_exact_at(&mut self.block, offset).map_err(|source| self.open.error(read, source))?;
            reads.on_block(read, &self.block);
        }
        Ok(())
    }
}
