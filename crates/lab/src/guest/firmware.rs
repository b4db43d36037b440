//! Files that QEMU has for the machine (its device `fw_cfg`). The emulated CPU waits while the device copies what it asks for, so the time
//! when QEMU's other threads run makes no difference, and no driver is needed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::param::page_size;

#[cfg(not(target_arch = "aarch64"))]
use ports::Bell;
#[cfg(target_arch = "aarch64")]
use registers::Bell;

/// Number of the directory of files.
const DIRECTORY: u16 = 0x19;
/// Bytes of an entry in it: size, number and a name that ends with a zero byte.
const ENTRY: usize = 64;
const NAME_AT: usize = 8;

/// What the device is asked to do: to fail, in its answer; to copy to memory; to begin with a file, whose number is above.
const FAILED: u32 = 1;
const READ: u32 = 1 << 1;
const SELECT: u32 = 1 << 3;

/// Of an entry of `/proc/self/pagemap`: the number of the page's frame in memory.
const FRAME: u64 = (1 << 55) - 1;

/// A file of QEMU.
pub(super) struct FirmwareFile {
    device: Device,
    /// Bytes that have not been read.
    left: usize,
}

impl FirmwareFile {
    /// The file of this name.
    ///
    /// # Errors
    /// There is none, or the kernel does not allow to ask the device.
    pub(super) fn open(name: &str) -> io::Result<FirmwareFile> {
        let mut directory = FirmwareFile { device: Device::open()?, left: size_of::<u32>() };
        directory.device.transfer(SELECT | u32::from(DIRECTORY) << 16, 0)?;
        let mut count = [0; size_of::<u32>()];
        directory.read_exact(&mut count)?;
        let count = u32::from_be_bytes(count);
        directory.left = count as usize * ENTRY;
        for _ in 0..count {
            let mut entry = [0; ENTRY];
            directory.read_exact(&mut entry)?;
            if entry[NAME_AT..].split(|byte| *byte == 0).next() == Some(name.as_bytes()) {
                let [a, b, c, d, high, low, ..] = entry;
                let mut device = directory.device;
                device.transfer(SELECT | u32::from(u16::from_be_bytes([high, low])) << 16, 0)?;
                return Ok(FirmwareFile { device, left: u32::from_be_bytes([a, b, c, d]) as usize });
            }
        }
        Err(io::Error::other(format!("QEMU has no file {name}")))
    }
}

impl Read for FirmwareFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = to.len().min(self.left).min(page_size());
        if length > 0 {
            to[..length].copy_from_slice(self.device.transfer(READ, length)?);
            self.left -= length;
        }
        Ok(length)
    }
}

/// The device, and two pages of memory that it knows by the places of their frames: its order, and what it copies.
struct Device {
    bell: Bell,
    pages: NonNull<u8>,
    frames: File,
}

impl Device {
    fn open() -> io::Result<Device> {
        let bell = Bell::open()?;
        let frames = File::open("/proc/self/pagemap")?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::LOCKED | MapFlags::POPULATE;
        // SAFETY: the new mapping has a place of its own.
        let pages = unsafe { mmap_anonymous(std::ptr::null_mut(), 2 * page_size(), access, flags)? };
        let pages = NonNull::new(pages.cast()).ok_or_else(|| io::Error::other("no memory at address 0"))?;
        Ok(Device { bell, pages, frames })
    }

    /// Gives the device an order, which it carries out before the next instruction, and returns what it copied.
    fn transfer(&mut self, order: u32, length: usize) -> io::Result<&[u8]> {
        assert!(length <= page_size(), "there is one page for it");
        let [order_at, data_at] = [self.place(0)?, self.place(1)?];
        let words = [u64::from(order) << 32 | length as u64, data_at].map(u64::to_be_bytes);
        // SAFETY: the first page has room for the order, and nothing else refers to it. The device writes at most `length` bytes to the
        // second page, and its answer to the first, and is done when the instruction is.
        let answer = unsafe {
            self.pages.cast::<[[u8; 8]; 2]>().write_volatile(words);
            self.bell.ring(order_at);
            u32::from_be(self.pages.cast::<u32>().read_volatile())
        };
        if answer & FAILED != 0 {
            return Err(io::Error::other("the device fw_cfg failed"));
        }
        // SAFETY: the page is readable as long as `self` is, and the device writes to it in this function only.
        Ok(unsafe { std::slice::from_raw_parts(self.pages.as_ptr().add(page_size()), length) })
    }

    /// Where one of the pages is in the machine's memory.
    fn place(&self, number: usize) -> io::Result<u64> {
        let mut entry = [0; size_of::<u64>()];
        let page = self.pages.as_ptr() as usize / page_size() + number;
        self.frames.read_exact_at(&mut entry, (page * size_of::<u64>()) as u64)?;
        match u64::from_ne_bytes(entry) & FRAME {
            0 => Err(io::Error::other("the kernel hides the places of pages (/proc/self/pagemap)")),
            frame => Ok(frame * page_size() as u64),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the pages any more. A failure would leave them to the end of the process.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), 2 * page_size()) };
    }
}

/// The device at ports, of a PC.
#[cfg(not(target_arch = "aarch64"))]
mod ports {
    use std::io;

    /// Ports of the two halves of the place of an order, the higher first. The lower one starts it.
    #[cfg(target_arch = "x86_64")]
    const ORDER: [u16; 2] = [0x514, 0x518];

    /// What tells the device where an order is.
    pub(super) struct Bell;

    #[cfg(target_arch = "x86_64")]
    impl Bell {
        pub(super) fn open() -> io::Result<Bell> {
            allow_ports(true).map(|()| Bell)
        }

        /// Tells the device where an order is.
        ///
        /// # Safety
        /// The order may be carried out: it names memory of the caller.
        pub(super) unsafe fn ring(&self, order_at: u64) {
            let halves = [(order_at >> 32) as u32, order_at as u32].map(u32::to_be);
            for (port, half) in ORDER.into_iter().zip(halves) {
                // SAFETY: the process may use the port. Memory changes as the caller allows; the compiler takes it that all may.
                unsafe {
                    std::arch::asm!("out dx, eax", in("dx") port, in("eax") half, options(nostack, preserves_flags));
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    impl Drop for Bell {
        fn drop(&mut self) {
            // The programs of the job would inherit it, and each switch to one would cost more. They can get it again: they are root.
            let _ = allow_ports(false);
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn allow_ports(allowed: bool) -> io::Result<()> {
        // SAFETY: the call takes only numbers. The ports are of one device, which nothing else uses.
        match unsafe { libc::ioperm(ORDER[0].into(), 8, allowed.into()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Machines of other architectures are not emulated.
    #[cfg(not(target_arch = "x86_64"))]
    impl Bell {
        pub(super) fn open() -> io::Result<Bell> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) unsafe fn ring(&self, _: u64) {}
    }
}

/// The device at registers in memory, of an Arm machine, whose device tree has their address.
#[cfg(target_arch = "aarch64")]
mod registers {
    use std::fs::OpenOptions;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::ptr::NonNull;
    use std::sync::atomic::{Ordering, fence};

    /// Offset of the register that takes the place of an order.
    const ORDER: usize = 16;
    /// What is mapped of its memory, less than any page.
    const BYTES: usize = 24;

    const TREE: &str = "/proc/device-tree";
    const NAME: &str = "fw-cfg@";

    /// What tells the device where an order is.
    pub(super) struct Bell {
        base: NonNull<u8>,
    }

    impl Bell {
        pub(super) fn open() -> io::Result<Bell> {
            let missing = || io::Error::other("the device tree has no fw-cfg");
            let mut address = None;
            for entry in std::fs::read_dir(TREE)? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                address = address.or(name.strip_prefix(NAME).and_then(|at| i64::from_str_radix(at, 16).ok()));
            }
            let address = address.ok_or_else(missing)?;
            // O_SYNC: every access reaches the device.
            let memory =
                OpenOptions::new().read(true).write(true).custom_flags(libc::O_SYNC).open("/dev/mem")?;
            // SAFETY: a new mapping of a device's registers, which nothing else uses; the kernel chooses its place.
            let base = unsafe {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                libc::mmap(std::ptr::null_mut(), BYTES, access, libc::MAP_SHARED, memory.as_raw_fd(), address)
            };
            match base {
                libc::MAP_FAILED => Err(io::Error::last_os_error()),
                base => Ok(Bell { base: NonNull::new(base.cast()).ok_or_else(missing)? }),
            }
        }

        /// Tells the device where an order is.
        ///
        /// # Safety
        /// The order may be carried out: it names memory of the caller.
        pub(super) unsafe fn ring(&self, order_at: u64) {
            // The order is in memory before, and its answer is read after.
            fence(Ordering::SeqCst);
            // SAFETY: the register is in the mapping, and aligned.
            unsafe { self.base.byte_add(ORDER).cast::<u64>().write_volatile(order_at.to_be()) }
            fence(Ordering::SeqCst);
        }
    }

    impl Drop for Bell {
        fn drop(&mut self) {
            // SAFETY: the mapping is this one's own, and nothing refers to it any more.
            unsafe { libc::munmap(self.base.as_ptr().cast(), BYTES) };
        }
    }
}
