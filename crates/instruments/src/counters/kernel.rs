//! What the plugin must know of the machine's kernel: the places of fields and routines.

use std::path::Path;

use crate::counters::error::CountersError;
use crate::counters::task_struct::TaskStruct;

const SYMBOLS: &str = "/proc/kallsyms";

/// Offsets of fields, bytes, and addresses of routines of the running kernel; `struct kernel` of `plugin/guest.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelDescription {
    thread_sp: u64,
    pid: u64,
    tgid: u64,
    flags: u64,
    comm: u64,
    task_bytes: u64,
    switch_start: u64,
    entry_start: u64,
    entry_end: u64,
    code_end: u64,
}

impl KernelDescription {
    /// Reads the kernel's own description of its types (BTF) and its symbols.
    ///
    /// # Errors
    /// One of them cannot be read, or lacks a field or a routine.
    pub(crate) fn detect(symbols: &str) -> Result<KernelDescription, CountersError> {
        let task = TaskStruct::detect()?;
        let symbol = |name: &str| {
            let mut found = symbols.lines().filter_map(parse).filter(|(_, _, symbol)| *symbol == name);
            found
                .next()
                .map(|(address, ..)| address)
                .ok_or_else(|| CountersError::Kernel(format!("the symbol {name}")))
        };
        Ok(KernelDescription {
            thread_sp: task.offset_of("thread.sp")?,
            pid: task.offset_of("pid")?,
            tgid: task.offset_of("tgid")?,
            flags: task.offset_of("flags")?,
            comm: task.offset_of("comm")?,
            task_bytes: task.bytes,
            switch_start: symbol("__switch_to_asm")?,
            entry_start: symbol("__entry_text_start")?,
            entry_end: symbol("__entry_text_end")?,
            code_end: symbol("_etext")?,
        })
    }

    /// The description as the plugin reads it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let KernelDescription {
            thread_sp,
            pid,
            tgid,
            flags,
            comm,
            task_bytes,
            switch_start,
            entry_start,
            entry_end,
            code_end,
        } = *self;
        let all =
            [thread_sp, pid, tgid, flags, comm, task_bytes, switch_start, entry_start, entry_end, code_end];
        all.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

/// Start addresses of all routines of the kernel's own code, sorted.
///
/// # Errors
/// The symbols have no addresses, as for users without rights.
pub(crate) fn kernel_routines(symbols: &str) -> Result<Vec<u64>, CountersError> {
    let is_code = |kind: &str| matches!(kind, "t" | "T" | "w" | "W");
    let all = symbols.lines().filter_map(parse).filter(|(_, kind, _)| is_code(kind));
    let mut all: Vec<u64> = all.map(|(address, ..)| address).filter(|address| address >> 63 == 1).collect();
    all.sort_unstable();
    all.dedup();
    match all.is_empty() {
        true => Err(CountersError::Kernel(format!("the addresses in {SYMBOLS}"))),
        false => Ok(all),
    }
}

/// The symbols of the running kernel, a line each.
///
/// # Errors
/// They cannot be read.
pub(crate) fn read_symbols() -> Result<String, CountersError> {
    std::fs::read_to_string(SYMBOLS)
        .map_err(|source| CountersError::Read { path: Path::new(SYMBOLS).into(), source })
}

/// Address, kind and name of a line.
fn parse(line: &str) -> Option<(u64, &str, &str)> {
    let mut words = line.split_ascii_whitespace();
    Some((u64::from_str_radix(words.next()?, 16).ok()?, words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_symbols_is_read() {
        assert_eq!(parse("ffffffff81000000 T _stext"), Some((0xffff_ffff_8100_0000, "T", "_stext")));
        assert_eq!(
            parse("ffffffffc0001000 t bpf_prog_1_x\t[bpf]"),
            Some((0xffff_ffff_c000_1000, "t", "bpf_prog_1_x"))
        );
        assert_eq!(parse(""), None);
    }
}
