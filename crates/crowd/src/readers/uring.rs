//! `io_uring`: one system call submits several reads and takes those that have ended.
#![allow(unsafe_code)]

use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types::Fd};

use super::block_reader::{BlockReader, OpenFiles, Read, Reads};
use crate::read_error::ReadError;

pub(super) struct Uring {
    // Declared first, so dropped first: the kernel writes into the buffers until the ring is closed.
    ring: IoUring,
    open: OpenFiles,
    block_bytes: usize,
    /// One block for each slot.
    buffers: Vec<u8>,
    /// The read of each slot.
    reads: Vec<Option<Read>>,
    /// Slots without a read.
    free: Vec<usize>,
}

impl Uring {
    pub(super) fn new(open: OpenFiles, block_bytes: usize, depth: u32) -> std::io::Result<Uring> {
        let slots = depth as usize;
        let ring = IoUring::new(depth).map_err(|error| {
            let help = "io_uring needs Linux 5.1, and kernel.io_uring_disabled = 0";
            Error::new(error.kind(), format!("no io_uring ({error}): {help}"))
        })?;
        let buffers = vec![0; slots * block_bytes];
        Ok(Uring {
            ring,
            open,
            block_bytes,
            buffers,
            reads: vec![None; slots],
            free: (0..slots).rev().collect(),
        })
    }

    fn submit(&mut self, slot: usize, read: Read) {
        let file = &self.open.files[read.place.file as usize];
        let buffer = self.buffers[slot * self.block_bytes..].as_mut_ptr();
        let offset = u64::from(read.place.block) * self.block_bytes as u64;
        let entry = opcode::Read::new(Fd(file.as_raw_fd()), buffer, self.block_bytes as u32)
            .offset(offset)
            .build()
            .user_data(slot as u64);
        // SAFETY: the block of the slot belongs to this read until it has ended, and the buffers never move. The queue has an entry
        // for each slot.
        unsafe { self.ring.submission().push(&entry) }.expect("the queue has a place for every slot");
        self.reads[slot] = Some(read);
    }

    /// Takes the reads that have ended.
    fn complete(&mut self, reads: &mut impl Reads) -> Result<(), ReadError> {
        while let Some(entry) = self.ring.completion().next() {
            let slot = entry.user_data() as usize;
            let Some(read) = self.reads[slot].take() else { continue };
            self.free.push(slot);
            let failed = match entry.result() {
                result if result < 0 => Some(Error::from_raw_os_error(-result)),
                result if result as usize == self.block_bytes => None,
                // The file has whole blocks, so this is its end.
                _ => Some(ErrorKind::UnexpectedEof.into()),
            };
            if let Some(error) = failed {
                return Err(self.open.error(read, error));
            }
            reads.on_block(read, &self.buffers[slot * self.block_bytes..][..self.block_bytes]);
        }
        Ok(())
    }
}

impl BlockReader for Uring {
    fn read(&mut self, reads: &mut impl Reads) -> Result<(), ReadError> {
        loop {
            while let Some(&slot) = self.free.last()
                && let Some(read) = reads.next()
            {
                self.free.pop();
                self.submit(slot, read);
            }
            let Some(read) = self.reads.iter().flatten().next().copied() else { return Ok(()) };
            if let Err(error) = self.ring.submit_and_wait(1)
                && error.kind() != ErrorKind::Interrupted
            {
                return Err(self.open.error(read, error));
            }
            self.complete(reads)?;
        }
    }
}
