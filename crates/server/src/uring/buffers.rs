//! The buffers that the kernel takes for what it receives, and gives back one by one.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// A power of two.
const COUNT: u16 = 512;
/// A chat line has at most 512 bytes, and one receive may return several.
const BYTES: usize = 2048;
const GROUP: u16 = 0;
/// The largest page of a kernel that Klatch runs on: 64-bit Arm has 4, 16 or 64 KiB.
const PAGE_BYTES_MAX: usize = 1 << 16;
const ENTRIES_BYTES: usize = COUNT as usize * size_of::<BufRingEntry>();

/// The kernel wants its ring at the beginning of a page. A size that does not fit ends the compilation.
const LAYOUT: Layout = match Layout::from_size_align(ENTRIES_BYTES + COUNT as usize * BYTES, PAGE_BYTES_MAX) {
    Ok(layout) => layout,
    Err(_) => panic!("the buffers have no valid layout"),
};

/// One piece of memory: the ring of entries that the kernel reads, then the buffers.
pub(super) struct Buffers {
    memory: NonNull<u8>,
    tail: u16,
}

// SAFETY: the memory belongs to this value alone, wherever it goes.
unsafe impl Send for Buffers {}

impl Buffers {
    pub(super) const GROUP: u16 = GROUP;

    pub(super) fn new() -> Buffers {
        // SAFETY: the layout is not empty.
        let memory = NonNull::new(unsafe { alloc_zeroed(LAYOUT) });
        let memory = memory.unwrap_or_else(|| handle_alloc_error(LAYOUT));
        let mut buffers = Buffers { memory, tail: 0 };
        (0..COUNT).for_each(|id| buffers.recycle(id));
        buffers
    }

    /// Gives all buffers to the kernel.
    ///
    /// # Safety
    ///
    /// The buffers must outlive every receive operation of the ring.
    pub(super) unsafe fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        let address = self.memory.as_ptr() as u64;
        // SAFETY: the address is that of a ring of COUNT entries; the caller keeps it.
        unsafe { submitter.register_buf_ring_with_flags(address, COUNT, GROUP, 0) }
    }

    /// The first `count` bytes of a buffer that the kernel has filled.
    pub(super) fn filled(&self, id: u16, count: usize) -> &[u8] {
        // SAFETY: the bytes are inside of the buffer, initialised from the start, and the kernel leaves them alone
        // until the buffer is given back, for which nobody may hold them.
        unsafe { std::slice::from_raw_parts(self.buffer(id), count.min(BYTES)) }
    }

    /// The kernel may fill this buffer (again).
    pub(super) fn recycle(&mut self, id: u16) {
        let entries = self.memory.cast::<BufRingEntry>().as_ptr();
        // SAFETY: the place is inside of the ring, and the kernel does not read it before the tail has passed it.
        let entry = unsafe { &mut *entries.add((self.tail % COUNT).into()) };
        entry.set_addr(self.buffer(id) as u64);
        entry.set_len(BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: `entries` is the first entry, in which the tail stands; it is aligned, and shared with the kernel
        // only through atomic operations.
        unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) }
            .store(self.tail, Ordering::Release);
    }

    fn buffer(&self, id: u16) -> *mut u8 {
        let at = ENTRIES_BYTES + usize::from(id % COUNT) * BYTES;
        // SAFETY: inside of the memory.
        unsafe { self.memory.as_ptr().add(at) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody else's.
        unsafe { dealloc(self.memory.as_ptr(), LAYOUT) }
    }
}
