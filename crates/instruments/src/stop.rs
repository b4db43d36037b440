//! A stop of an emulated machine at an exact instruction, so that equal boots stop in equal states.
//!
//! [`PLUGIN`] is a plugin of QEMU. When a process of the machine executes [`stop_here`], the plugin makes a file and holds the machine until
//! QEMU was told to stop it. Without the plugin [`stop_here`] has no effect.
#![allow(unsafe_code)]

/// The plugin: a shared object that QEMU 7.2 and newer load with `-plugin FILE,reached=FILE`.
pub const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/klatch-stop.so"));

/// Executes the mark where the machine stops, and in the next block the one by which the plugin would see that it did not.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub fn stop_here() {
    // SAFETY: the instructions have no effect but for a jump from one to the next.
    unsafe {
        std::arch::asm!(
            ".p2align 3",
            ".byte 0x0f, 0x1f, 0x84, 0x00, 0x53, 0x54, 0x4f, 0x50",
            "jmp 2f",
            ".p2align 3",
            "2:",
            ".byte 0x0f, 0x1f, 0x84, 0x00, 0x57, 0x45, 0x4e, 0x54",
            options(nostack, preserves_flags)
        );
    }
}

/// Executes the mark where the machine stops, and in the next block the one by which the plugin would see that it did not: each is two moves
/// of a number to nowhere (`movz xzr`).
#[cfg(target_arch = "aarch64")]
#[inline(never)]
pub fn stop_here() {
    // SAFETY: the instructions have no effect but for a jump from one to the next.
    unsafe {
        std::arch::asm!(
            ".p2align 3",
            "movz xzr, #0x5453",
            "movz xzr, #0x504f",
            "b 2f",
            ".p2align 3",
            "2:",
            "movz xzr, #0x4557",
            "movz xzr, #0x544e",
            options(nostack, preserves_flags)
        );
    }
}

/// Machines of other architectures are not emulated.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn stop_here() {}
