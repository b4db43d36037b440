//! `io_uring`: one system call submits several reads and takes those that have ended.
#![allow(unsafe_code)]

use std::io::{Error, ErrorKind};
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types::Fd};

use super::block_reader::{BlockReader, OpenFiles, Read, Reads};
use crate::read_error::ReadError;

pub(super) struct Uring {
    ring: IoUring,
    open: OpenFiles,
    block_bytes: usize,
    /// One block for each slot. The kernel may write into that of a read that has not ended, also after the ring is closed: see `drop`.
    buffers: ManuallyDrop<Vec<u8>>,
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
        let buffers = ManuallyDrop::new(vec![0; slots * block_bytes]);
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

    /// Waits until a read has ended.
    fn wait(&mut self) -> std::io::Result<()> {
        match self.ring.submit_and_wait(1) {
            // Busy: reads that have ended are to be taken first.
            Err(error)
                if error.kind() != ErrorKind::Interrupted && error.raw_os_error() != Some(libc::EBUSY) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn has_reads(&self) -> bool {
        self.reads.iter().any(Option::is_some)
    }

    /// Waits for the end of all reads, and forgets them.
    ///
    /// # Errors
    /// The kernel does not tell, so the reads may still be going on.
    fn drain(&mut self) -> std::io::Result<()> {
        while self.has_reads() {
            self.wait()?;
            while let Some(entry) = self.ring.completion().next() {
                let slot = entry.user_data() as usize;
                self.free.extend(self.reads[slot].take().map(|_| slot));
            }
        }
        Ok(())
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
        let read = self.read_all(reads);
        if read.is_err() {
            // The first error is the one to be reported. Reads that do not end are left to `drop`.
            let _ = self.drain();
        }
        read
    }
}

impl Uring {
    fn read_all(&mut self, reads: &mut impl Reads) -> Result<(), ReadError> {
        loop {
            while let Some(&slot) = self.free.last()
                && let Some(read) = reads.next()
            {
                self.free.pop();
                self.submit(slot, read);
            }
            let Some(read) = self.reads.iter().flatten().next().copied() else { return Ok(()) };
            self.wait().map_err(|error| self.open.error(read, error))?;
            self.complete(reads)?;
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Without a read in flight, nothing writes into the buffers any more. Else they are left to the kernel.
        if self.drain().is_ok() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.buffers) }
        }
    }
}

#[cfg(test)]
mod tests {
    use klatch_exchange::files::Place;

    use super::*;

    const BLOCK_BYTES: usize = 4096;
    const BLOCKS: u32 = 64;

    /// The blocks of one file, in order.
    struct InOrder {
        next: u32,
        taken: u32,
    }

    impl Reads for InOrder {
        fn next(&mut self) -> Option<Read> {
            let block = Some(self.next).filter(|block| *block < BLOCKS)?;
            self.next += 1;
            Some(Read { place: Place { file: 0, block }, number: block.into(), begun_ns: 0 })
        }

        fn on_block(&mut self, _: Read, _: &[u8]) {
            self.taken += 1;
        }
    }

    /// The file is cut after it was opened, so the first read that ends is an error while others are in flight.
    #[test]
    fn no_read_is_in_flight_after_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes = u64::from(BLOCKS) * BLOCK_BYTES as u64;
        file.as_file().set_len(bytes).unwrap();
        let open = OpenFiles::open(vec![file.path().to_owned()], bytes).unwrap();
        let mut uring = Uring::new(open, BLOCK_BYTES, 16).unwrap();
        let all = || InOrder { next: 0, taken: 0 };
        let mut reads = all();
        uring.read(&mut reads).unwrap();
        assert_eq!(reads.taken, BLOCKS);
        file.as_file().set_len(0).unwrap();
        let error = uring.read(&mut all()).unwrap_err().to_string();
        assert!(error.contains("end of file"), "{error}");
        assert!(!uring.has_reads() && uring.free.len() == 16);
        file.as_file().set_len(bytes).unwrap();
        let mut reads = all();
        uring.read(&mut reads).unwrap();
        assert_eq!(reads.taken, BLOCKS, "none of the reads before is taken for one of these");
    }
}
