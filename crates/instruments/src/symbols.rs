//! Symbol names of kernel and user addresses.

use std::collections::HashMap;
use std::path::Path;

use blazesym::Pid;
use blazesym::symbolize::source::{Elf, Kernel, Process, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use crate::perf_map::PerfNames;

/// Stands for addresses without a symbol.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// A symbolizer that caches every name.
pub(crate) struct Symbols {
    symbolizer: Symbolizer,
    kernel: HashMap<u64, String>,
    /// By process id and address.
    user: HashMap<(u32, u64), String>,
    /// Routines of each process that were compiled while it ran.
    compiled: HashMap<u32, PerfNames>,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        Symbols {
            symbolizer: Symbolizer::new(),
            kernel: HashMap::new(),
            user: HashMap::new(),
            compiled: HashMap::new(),
        }
    }

    /// Name of the kernel routine at `address`, or [`UNKNOWN`].
    pub(crate) fn kernel(&mut self, address: u64) -> &str {
        let source = Source::Kernel(Kernel::default());
        let symbolizer = &self.symbolizer;
        self.kernel.entry(address).or_insert_with(|| name(symbolizer, &source, address))
    }

    /// Name of the routine at `address` in process `pid`, or [`UNKNOWN`]. The process must still exist.
    ///
    /// Java methods have names if the process has a perf map.
    pub(crate) fn user(&mut self, pid: u32, address: u64) -> &str {
        let Symbols { symbolizer, compiled, .. } = self;
        self.user.entry((pid, address)).or_insert_with(|| {
            let name = name(symbolizer, &process(pid), address);
            if name == UNKNOWN { compiled_name(compiled, pid, address) } else { name }
        })
    }

    /// Looks the names of many addresses of a process up at once, which is much cheaper than one by one.
    pub(crate) fn prepare_user(&mut self, pid: u32, addresses: &[u64]) {
        let source = process(pid);
        // Without an answer each address is looked up by itself when its name is needed.
        let Ok(names) = self.symbolizer.symbolize(&source, Input::AbsAddr(addresses)) else { return };
        for (address, found) in addresses.iter().zip(names) {
            let name = match found {
                Symbolized::Sym(symbol) => symbol.name.into_owned(),
                Symbolized::Unknown(_) => compiled_name(&mut self.compiled, pid, *address),
            };
            self.user.insert((pid, *address), name);
        }
    }

    /// Name of the routine at this offset from the start of a program in memory, or [`UNKNOWN`].
    pub(crate) fn file(&self, program: &Path, offset: u64) -> String {
        let source = Source::Elf(Elf::new(program));
        match self.symbolizer.symbolize_single(&source, Input::VirtOffset(offset)) {
            Ok(Symbolized::Sym(symbol)) => symbol.name.into_owned(),
            _ => UNKNOWN.to_owned(),
        }
    }
}

/// The files in the memory of a process. The symbolizer would open a perf map whatever it is, a pipe too.
fn process(pid: u32) -> Source<'static> {
    Source::Process(Process { perf_map: false, ..Process::new(Pid::from(pid)) })
}

/// Name of a routine that a process compiled while it ran, or [`UNKNOWN`].
fn compiled_name(compiled: &mut HashMap<u32, PerfNames>, pid: u32, address: u64) -> String {
    let names = compiled.entry(pid).or_insert_with(|| PerfNames::of(pid));
    names.name(address).unwrap_or(UNKNOWN).to_owned()
}

fn name(symbolizer: &Symbolizer, source: &Source<'_>, address: u64) -> String {
    match symbolizer.symbolize_single(source, Input::AbsAddr(address)) {
        Ok(Symbolized::Sym(symbol)) => symbol.name.into_owned(),
        _ => UNKNOWN.to_owned(),
    }
}
