//! The sampled stacks, with symbol names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use klatch_host::privileges::create_anew;
use libbpf_rs::{MapCore, MapFlags};

use super::shares::KernelRoutine;
use super::user_routine::UserRoutine;
use crate::bpf::{Bpf, bpf_error, numbers};
use crate::error::InstrumentError;
use crate::perf_map::PerfMap;
use crate::symbols::Symbols;
use crate::targets::{Side, Targets};

/// All samples of a process with the same stacks.
pub(super) struct StackSample {
    pub(super) tgid: u32,
    /// `None` for other processes of the machine.
    pub(super) side: Option<Side>,
    /// Innermost routine first; empty without a kernel stack, `None` if the table of stacks was full.
    pub(super) kernel: Option<Vec<KernelRoutine>>,
    /// As `kernel`; always empty for other processes.
    pub(super) user: Option<Vec<UserRoutine>>,
    pub(super) count: u64,
}

impl StackSample {
    /// Whether threads of a JVM waited for each other, or one let another go on.
    pub(super) fn synchronizes(&self) -> bool {
        self.user.iter().flatten().any(|routine| routine.synchronizes)
            || self.kernel.iter().flatten().any(|routine| routine.is_futex)
    }
}

/// Reads and symbolizes all samples.
pub(super) fn samples(bpf: &Bpf, targets: &Targets) -> Result<Vec<StackSample>, InstrumentError> {
    let mut symbols = Symbols::new();
    let _perf_maps = perf_maps(targets);
    let table = bpf.map("samples")?;
    let mut all = Vec::new();
    for key in table.keys() {
        // `struct key` of profile.bpf.c.
        let (stacks, process) = key.split_at(16);
        let [kernel, user] = numbers(stacks)[..] else { continue };
        let number = |at: usize| u32::from_ne_bytes(process[at..at + 4].try_into().expect("four bytes"));
        let (tgid, side) =
            (number(0), [Side::Server, Side::Crowd].into_iter().find(|side| *side as u32 == number(4)));
        let (kernel, user) = (frames(bpf, kernel)?, frames(bpf, user)?);
        let count =
            table.lookup(&key, MapFlags::ANY).map_err(bpf_error)?.map_or(0, |count| numbers(&count)[0]);
        let kernel =
            kernel.map(|frames| frames.iter().map(|at| KernelRoutine::new(symbols.kernel(*at))).collect());
        let user = user.map(|frames| match side {
            Some(_) => frames.iter().map(|at| UserRoutine::new(symbols.user(tgid, *at))).collect(),
            // Programs outside the run are not symbolized.
            None => Vec::new(),
        });
        all.push(StackSample { tgid, side, kernel, user, count });
    }
    Ok(all)
}

/// The names of compiled Java methods. The symbolizer reads them when it first needs a name, so they must exist until the last
/// one.
pub(super) fn perf_maps(targets: &Targets) -> Vec<PerfMap> {
    targets.servers.iter().chain(&targets.crowds).filter_map(|pid| PerfMap::write(*pid)).collect()
}

/// The addresses of a stack, innermost first; empty without such a stack, `None` if the table of stacks was full.
fn frames(bpf: &Bpf, hash: u64) -> Result<Option<Vec<u64>>, InstrumentError> {
    // As in stacks.bpf.h.
    const NO_STACK: u64 = 0;
    const STACK_LOST: u64 = 1;
    match hash {
        NO_STACK => Ok(Some(Vec::new())),
        STACK_LOST => Ok(None),
        hash => {
            let stack = bpf.map("stacks")?.lookup(&hash.to_ne_bytes(), MapFlags::ANY).map_err(bpf_error)?;
            let frames = numbers(&stack.unwrap_or_default());
            Ok(Some(frames.into_iter().take_while(|address| *address != 0).collect()))
        }
    }
}

/// A file in the input format of flame graphs: one line `side;process;outermost;…;innermost count` per stack.
///
/// Kernel routines have the suffix `_[k]`.
pub(super) struct FoldedFile {
    file: BufWriter<File>,
    /// Names of processes by their id.
    names: BTreeMap<u32, String>,
}

impl FoldedFile {
    pub(super) fn create(path: &Path) -> std::io::Result<FoldedFile> {
        Ok(FoldedFile { file: BufWriter::new(create_anew(path)?), names: BTreeMap::new() })
    }

    pub(super) fn add(&mut self, sample: &StackSample) -> std::io::Result<()> {
        let process = self.names.entry(sample.tgid).or_insert_with(|| process_name(sample.tgid));
        writeln!(self.file, "{} {}", folded(sample, process), sample.count)
    }

    pub(super) fn finish(mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// The stack of a sample as in such a file, without its count.
pub(super) fn folded(sample: &StackSample, process: &str) -> String {
    let side = match sample.side {
        Some(Side::Server) => "server",
        Some(Side::Crowd) => "crowd",
        None => "others",
    };
    let mut line = format!("{side};{process}");
    let mut add = |name: &str, end: &str| line.extend([";", name, end]);
    match &sample.user {
        Some(user) => user.iter().rev().for_each(|routine| add(&routine.name, "")),
        None => add("[stack_lost]", ""),
    }
    match &sample.kernel {
        Some(kernel) => kernel.iter().rev().for_each(|routine| add(&routine.name, "_[k]")),
        None => add("[stack_lost]", "_[k]"),
    }
    line
}

/// The name of a process in folded stacks.
pub(super) fn process_name(tgid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{tgid}/comm")).unwrap_or_default();
    match name.is_empty() {
        true => format!("process {tgid}"),
        false => name.trim().replace([' ', ';'], "_"),
    }
}
