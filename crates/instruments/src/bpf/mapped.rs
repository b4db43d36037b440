//! A table of a BPF object in the memory of this process.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A table that can be mapped, to be read while programs write it.
pub(crate) struct Mapped {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is only read, and each read is of a copy.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps the first `bytes` of a table.
    pub(crate) fn new(table: BorrowedFd<'_>, bytes: usize) -> io::Result<Mapped> {
        // SAFETY: the kernel chooses a place where nothing is.
        let start =
            unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, table, 0)? };
        let start =
            NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a table was mapped nowhere"))?;
        Ok(Mapped { start, bytes })
    }

    /// The number at `at`, a multiple of 8. What was written before it is seen by who reads after it.
    pub(crate) fn number(&self, at: usize) -> u64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.bytes, "byte {at} of {}", self.bytes);
        // SAFETY: it is within the mapping, which begins with a page, and programs write it atomically.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }.load(Ordering::Acquire)
    }

    /// A copy of what is at `at`; whether it was whole is for the caller to know.
    pub(crate) fn copy<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at + N <= self.bytes, "byte {at} of {}", self.bytes);
        // SAFETY: it is within the mapping, and bytes of any value are bytes.
        unsafe { self.start.as_ptr().add(at).cast::<[u8; N]>().read_volatile() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
