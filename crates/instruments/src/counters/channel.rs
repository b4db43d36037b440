//! Requests to the plugin; `plugin/channel.h` is the other side.
#![allow(unsafe_code)]

use crate::counters::error::CountersError;

const MAGIC: u64 = u64::from_le_bytes(*b"KLATCH01");
/// Bytes of a request or an answer.
const DATA_MAX: usize = 3968;
/// What `error` holds until the plugin has answered.
const UNANSWERED: u32 = u32::MAX;

/// The kinds of request, as `enum request_kind` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The setup of the caches.
    Hello,
    /// Follow tasks from now on.
    Track,
    /// Addresses of kernel routines.
    Routines,
    /// Count from zero, with empty caches.
    Open,
    /// Stop counting, if the owner asks.
    Close,
    /// Rows of processes, from an index on.
    Processes,
    /// Rows of nodes, from a node on.
    Nodes,
    /// Instructions that each CPU has executed.
    Totals,
    /// Rows of data that was missed, from an index on.
    Data,
    /// Addresses of tasks, from an index on.
    Tasks,
}

/// A page, so that it has one physical address.
#[repr(C, align(4096))]
struct Request {
    magic: u64,
    kind: u32,
    error: u32,
    length: u32,
    unused: u32,
    arguments: [u64; 2],
    data: [u8; DATA_MAX],
}

/// What the plugin answered.
pub(crate) struct Answer {
    pub(crate) arguments: [u64; 2],
    pub(crate) data: Vec<u8>,
}

/// Asks the plugin. `None` if this machine has none.
///
/// # Errors
/// The plugin refused the request.
///
/// # Panics
/// `data` is longer than a request may be.
pub(crate) fn ask(kind: Kind, argument: u64, data: &[u8]) -> Result<Option<Answer>, CountersError> {
    let mut request = Box::new(Request {
        magic: MAGIC,
        kind: kind as u32,
        error: UNANSWERED,
        length: data.len() as u32,
        unused: 0,
        arguments: [argument, 0],
        data: [0; DATA_MAX],
    });
    request.data[..data.len()].copy_from_slice(data);
    load_after_mark(&mut request);
    if request.error == UNANSWERED {
        return Ok(None);
    }
    let data = request.data[..(request.length as usize).min(DATA_MAX)].to_vec();
    match request.error {
        0 => Ok(Some(Answer { arguments: request.arguments, data })),
        _ => Err(CountersError::Plugin(String::from_utf8_lossy(&data).into_owned())),
    }
}

/// Sends `data` in as many requests as it needs.
pub(crate) fn send_all(kind: Kind, data: &[u8]) -> Result<(), CountersError> {
    data.chunks(DATA_MAX).try_for_each(|part| ask(kind, 0, part).map(|_| ()))
}

/// Reads all rows of `N` bytes.
pub(crate) fn read_rows<const N: usize>(kind: Kind) -> Result<Vec<[u8; N]>, CountersError> {
    let (mut rows, mut from) = (Vec::new(), 0);
    while let Some(answer) = ask(kind, from, &[])? {
        rows.extend(answer.data.chunks_exact(N).map(|row| <[u8; N]>::try_from(row).expect("a whole row")));
        from = answer.arguments[1];
        if from == 0 {
            break;
        }
    }
    Ok(rows)
}

/// Executes the mark, then a load from the request. Without a plugin both have no effect.
#[cfg(target_arch = "x86_64")]
fn load_after_mark(request: &mut Request) {
    // SAFETY: the load reads one byte of `request`. The plugin may change all of it, which the compiler knows, as the block may
    // write to memory.
    unsafe {
        std::arch::asm!(
            // Mark and load in one page, where the plugin looks for both.
            ".p2align 4",
            ".byte 0x0f, 0x1f, 0x84, 0x00, 0x4b, 0x4c, 0x41, 0x54",
            "mov {byte}, [{request}]",
            request = in(reg) std::ptr::from_mut(request),
            byte = out(reg_byte) _,
            options(nostack, preserves_flags)
        );
    }
}

/// Executes the mark, two moves of a number to nowhere, then a load from the request. Without a plugin they have no effect.
#[cfg(target_arch = "aarch64")]
fn load_after_mark(request: &mut Request) {
    // SAFETY: the load reads one byte of `request`. The plugin may change all of it, which the compiler knows, as the block may
    // write to memory.
    unsafe {
        std::arch::asm!(
            // Mark and load in one page, where the plugin looks for both.
            ".p2align 4",
            "movz xzr, #0x4c4b",
            "movz xzr, #0x5441",
            "ldrb {byte:w}, [{request}]",
            request = in(reg) std::ptr::from_mut(request),
            byte = out(reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// Machines of other architectures are not emulated.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn load_after_mark(_: &mut Request) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_page() {
        assert_eq!(std::mem::size_of::<Request>(), 4096);
    }

    #[test]
    fn a_machine_without_the_plugin_does_not_answer() {
        assert!(ask(Kind::Hello, 0, &[]).unwrap().is_none());
    }
}
