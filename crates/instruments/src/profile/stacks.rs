//! The stacks that were sampled, with their names.

use std::collections::BTreeMap;
use std::io::Write;

use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Bpf, CROWD, SERVER, numbers, said};
use crate::instrument::{InstrumentError, Targets};
use crate::java::PerfMap;
use crate::symbols::Symbols;

/// Samples that are alike.
pub(super) struct Alike {
    pub(super) tgid: u32,
    pub(super) side: u64,
    /// The innermost routine first; `None` if its place was taken.
    pub(super) kernel: Option<Vec<String>>,
    pub(super) user: Option<Vec<String>>,
    pub(super) count: u64,
}

/// All samples that `bpf` took.
pub(super) fn samples(bpf: &Bpf, targets: &Targets) -> Result<Vec<Alike>, InstrumentError> {
    let mut symbols = Symbols::new();
    let pids = || targets.servers.iter().chain(&targets.crowds);
    // They are read when the first name is looked up, so they stay until the last.
    let _perf_maps: Vec<PerfMap> = pids().filter_map(|pid| PerfMap::write(*pid)).collect();
    let table = bpf.map("samples")?;
    let mut all = Vec::new();
    for key in table.keys() {
        let field = |number: usize| {
            u32::from_ne_bytes(key[4 * number..4 * number + 4].try_into().expect("four bytes"))
        };
        let (tgid, side) = (field(0), u64::from(field(3)));
        let kernel = frames(bpf, "kernel_stacks", field(1) as i32)?;
        let user = frames(bpf, "user_stacks", field(2) as i32)?;
        let count = table.lookup(&key, MapFlags::ANY).map_err(said)?.map_or(0, |count| numbers(&count)[0]);
        let kernel = kernel.map(|frames| frames.iter().map(|at| symbols.kernel(*at).to_owned()).collect());
        let ours = side == SERVER || side == CROWD;
        let user = user.map(|frames| match ours {
            true => frames.iter().map(|at| symbols.user(tgid, *at).to_owned()).collect(),
            // Somebody else's program is not looked into.
            false => Vec::new(),
        });
        all.push(Alike { tgid, side, kernel, user, count });
    }
    Ok(all)
}

/// The addresses of a stack; none where there was no stack of this kind; `None` if its place was taken.
fn frames(bpf: &Bpf, table: &str, id: i32) -> Result<Option<Vec<u64>>, InstrumentError> {
    const NO_STACK: i32 = -libc::EFAULT;
    match id {
        NO_STACK => Ok(Some(Vec::new())),
        id if id < 0 => Ok(None),
        id => {
            let found = bpf.map(table)?.lookup(&id.to_ne_bytes(), MapFlags::ANY).map_err(said)?;
            let frames = numbers(&found.unwrap_or_default());
            Ok(Some(frames.into_iter().take_while(|address| *address != 0).collect()))
        }
    }
}

/// One line for each stack, as flame graphs are made of: `side;process;outermost;…;innermost count`, kernel routines with
/// `_[k]` at their end.
pub(super) fn write_folded(all: &[Alike], file: std::fs::File) -> std::io::Result<()> {
    let mut names = BTreeMap::new();
    let mut file = std::io::BufWriter::new(file);
    for alike in all {
        let side = match alike.side {
            SERVER => "server",
            CROWD => "crowd",
            _ => "others",
        };
        let process = names.entry(alike.tgid).or_insert_with(|| {
            let name = std::fs::read_to_string(format!("/proc/{}/comm", alike.tgid)).unwrap_or_default();
            if name.is_empty() {
                format!("process {}", alike.tgid)
            } else {
                name.trim().replace([' ', ';'], "_")
            }
        });
        write!(file, "{side};{process}")?;
        match &alike.user {
            Some(user) => {
                user.iter().rev().try_for_each(|name| write!(file, ";{}", name.replace([' ', ';'], "_")))?
            }
            None => write!(file, ";[stack_lost]")?,
        }
        match &alike.kernel {
            Some(kernel) => kernel.iter().rev().try_for_each(|name| write!(file, ";{name}_[k]"))?,
            None => write!(file, ";[stack_lost]_[k]")?,
        }
        writeln!(file, " {}", alike.count)?;
    }
    file.flush()
}
