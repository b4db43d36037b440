//! A BPF map in the memory of this process.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A read-only mapping of an array map that BPF programs write at the same time.
pub(crate) struct MappedTable {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is read-only, and no reference into it leaves this type.
unsafe impl Send for MappedTable {}

impl MappedTable {
    /// Maps the first `bytes` of the map.
    pub(crate) fn new(table: BorrowedFd<'_>, bytes: usize) -> io::Result<MappedTable> {
        // SAFETY: without MAP_FIXED the kernel chooses an unused address.
        let start =
            unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, table, 0)? };
        let start = NonNull::new(start.cast())
            .ok_or_else(|| io::Error::other("a BPF map was mapped at address 0"))?;
        Ok(MappedTable { start, bytes })
    }

    /// Loads the number at byte `at`, a multiple of 8, with acquire ordering.
    pub(crate) fn load(&self, at: usize) -> u64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.bytes, "byte {at} of {}", self.bytes);
        // SAFETY: the number is aligned and within the mapping, and programs write it atomically.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }.load(Ordering::Acquire)
    }

    /// Copies bytes that a program may be writing; the caller must detect a torn copy.
    pub(crate) fn copy<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at + N <= self.bytes, "byte {at} of {}", self.bytes);
        // SAFETY: the bytes are within the mapping, and every bit pattern is valid.
        unsafe { self.start.as_ptr().add(at).cast::<[u8; N]>().read_volatile() }
    }
}

impl Drop for MappedTable {
    fn drop(&mut self) {
        // SAFETY: `new` created this mapping, and no reference into it exists.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
