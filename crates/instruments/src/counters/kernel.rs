//! What the plugin must know of the machine's kernel: the places of fields and routines.

use crate::counters::error::CountersError;
use crate::counters::task_struct::TaskStruct;
use crate::kernel_symbols::{FILE, KernelSymbols};

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
    exec_start: u64,
}

/// The field of a task that a context switch reads first, and the names of the routines that it is in and that replaces a program.
#[cfg(not(target_arch = "aarch64"))]
const SWITCH: (&str, &str, Option<&str>) = ("thread.sp", "__switch_to_asm", None);
/// A call of this architecture is known by its return address, and those of a program end with it.
#[cfg(target_arch = "aarch64")]
const SWITCH: (&str, &str, Option<&str>) = ("thread.cpu_context", "cpu_switch_to", Some("begin_new_exec"));

impl KernelDescription {
    /// Reads the kernel's own description of its types (BTF) and its symbols.
    ///
    /// # Errors
    /// One of them cannot be read, or lacks a field or a routine.
    pub(crate) fn detect(symbols: &KernelSymbols) -> Result<KernelDescription, CountersError> {
        let task = TaskStruct::detect()?;
        let (switch_field, switch, exec) = SWITCH;
        let names = [switch, "__entry_text_start", "__entry_text_end", "_etext", exec.unwrap_or_default()];
        let addresses = symbols.addresses(names);
        let symbol = |at: usize| {
            addresses[at].ok_or_else(|| CountersError::Kernel(format!("the symbol {}", names[at])))
        };
        Ok(KernelDescription {
            thread_sp: task.offset_of(switch_field)?,
            pid: task.offset_of("pid")?,
            tgid: task.offset_of("tgid")?,
            flags: task.offset_of("flags")?,
            comm: task.offset_of("comm")?,
            task_bytes: task.bytes,
            switch_start: symbol(0)?,
            entry_start: symbol(1)?,
            entry_end: symbol(2)?,
            code_end: symbol(3)?,
            exec_start: exec.map_or(Ok(0), |_| symbol(4))?,
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
            exec_start,
        } = *self;
        let all = [
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
            exec_start,
        ];
        all.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

/// Start addresses of all routines of the kernel's own code, sorted.
///
/// # Errors
/// The symbols have no addresses, as for users without rights.
pub(crate) fn kernel_routines(symbols: &KernelSymbols) -> Result<Vec<u64>, CountersError> {
    let code = symbols.all().filter(|symbol| matches!(symbol.kind, "t" | "T" | "w" | "W"));
    let mut all: Vec<u64> = code.map(|symbol| symbol.address).filter(|address| address >> 63 == 1).collect();
    all.sort_unstable();
    all.dedup();
    match all.is_empty() {
        true => Err(CountersError::Kernel(format!("the addresses in {FILE}"))),
        false => Ok(all),
    }
}
