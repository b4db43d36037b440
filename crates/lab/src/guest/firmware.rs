//! Files that QEMU has for the machine (its device `fw_cfg`), read by port I/O: the emulated CPU gets each byte at once, so the time when
//! QEMU's other threads run makes no difference, and no driver is needed.
#![allow(unsafe_code)]

use std::io;

/// Selects what is read, and reads it byte by byte.
const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;

/// Number of the directory of files.
const DIRECTORY: u16 = 0x19;
/// Bytes of an entry in it: size, number and a name that ends with a zero byte.
const ENTRY: usize = 64;
const NAME_AT: usize = 8;

/// The file of this name; `None` if there is none.
///
/// # Errors
/// The kernel does not allow port I/O.
pub(super) fn read_file(name: &str) -> io::Result<Option<Vec<u8>>> {
    allow_ports()?;
    select(DIRECTORY);
    let count = u32::from_be_bytes(read::<4>());
    for _ in 0..count {
        let entry = read::<ENTRY>();
        let is_named = entry[NAME_AT..].split(|byte| *byte == 0).next() == Some(name.as_bytes());
        if is_named {
            let [a, b, c, d, high, low, ..] = entry;
            let mut content = vec![0; u32::from_be_bytes([a, b, c, d]) as usize];
            select(u16::from_be_bytes([high, low]));
            read_to(&mut content);
            return Ok(Some(content));
        }
    }
    Ok(None)
}

fn read<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    read_to(&mut bytes);
    bytes
}

#[cfg(target_arch = "x86_64")]
fn allow_ports() -> io::Result<()> {
    // SAFETY: the call takes only numbers. The ports are of one device, which nothing else uses.
    match unsafe { libc::ioperm(SELECTOR.into(), 2, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(target_arch = "x86_64")]
fn select(number: u16) {
    // SAFETY: the process may use the port, and the write has no effect on memory.
    unsafe {
        std::arch::asm!("out dx, ax", in("dx") SELECTOR, in("ax") number, options(nomem, nostack, preserves_flags));
    }
}

#[cfg(target_arch = "x86_64")]
fn read_to(bytes: &mut [u8]) {
    // SAFETY: the process may use the port, and `bytes` has room for as many bytes as are read. The direction flag is clear by the ABI.
    unsafe {
        std::arch::asm!(
            "rep insb",
            in("dx") DATA,
            inout("rdi") bytes.as_mut_ptr() => _,
            inout("rcx") bytes.len() => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Only x86-64 is emulated.
#[cfg(not(target_arch = "x86_64"))]
fn allow_ports() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_arch = "x86_64"))]
fn select(_: u16) {}

#[cfg(not(target_arch = "x86_64"))]
fn read_to(_: &mut [u8]) {}
