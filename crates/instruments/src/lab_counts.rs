//! The lab's counts of a command, with the names of its routines.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use klatch_record::lab::{CountedBy, DataCounts, EventCounts, LabCounts, RoutineCounts};

use crate::counters::{Counters, CountersError, Counts, Event, Events, Process};
use crate::data_names::DataNames;
use crate::kernel_symbols::KernelSymbols;
use crate::symbols::{Symbols, UNKNOWN};
use crate::targets::{Side, Targets};

/// Where the kernel loads programs that can lie anywhere if it does not randomize addresses (norandmaps).
const LOAD_ADDRESS: u64 = 0x5555_5555_4000;
/// More than the size of any program.
const PROGRAM_MAX: u64 = 1 << 32;

/// Name of the process that stands for the kernel's own threads and idle CPUs.
const KERNEL: &str = "kernel";

/// Reads the counts of `command`, which must have ended, or of its `targets`, which must still live.
///
/// In the lab programs lie at fixed addresses, so addresses in user mode of processes that are gone are looked up in the file of
/// `program`, and those of libraries in what this process has mapped. So are those of targets that execute `program`. Those of other
/// targets are looked up in their own memory.
///
/// # Errors
/// The counters cannot be read.
pub fn lab_counts(
    counters: &Counters,
    command: Vec<String>,
    program: &Path,
    targets: &Targets,
) -> Result<LabCounts, CountersError> {
    let counts = counters.read()?;
    let symbols = KernelSymbols::read().unwrap_or_default();
    let names = Names::new(&counts, &symbols, program, targets);
    let by = |process: usize| match targets.side_of(counts.processes[process].tgid) {
        Some(Side::Server) => CountedBy::Server,
        Some(Side::Crowd) => CountedBy::Crowd,
        None => CountedBy::Others,
    };
    let process_names: Vec<String> =
        (0..counts.processes.len()).map(|index| process_name(&counts, index)).collect();
    let mut rows: HashMap<(usize, u32), (u64, Events, Events)> = HashMap::new();
    // Names on the path from a node to the root, to count a routine that calls itself once.
    let mut seen: Vec<u32> = Vec::new();
    for (index, node) in counts.nodes.iter().enumerate().filter(|(_, node)| node.routine != 0) {
        seen.clear();
        for above in counts.ancestors(index) {
            let name = names.of_node[above];
            if !seen.contains(&name) {
                seen.push(name);
                rows.entry((node.process, name)).or_default().2.add(&node.events);
            }
        }
        let row = rows.entry((node.process, names.of_node[index])).or_default();
        row.0 += node.events.get(Event::Calls);
        row.1.add(&node.events);
    }
    let mut routines: BTreeMap<(CountedBy, &str, u32), RoutineCounts> = BTreeMap::new();
    for ((index, name), (calls, own, inclusive)) in rows {
        let (by, process) = (by(index), process_names[index].as_str());
        let (routine, kernel) = &names.texts[name as usize];
        let row = routines.entry((by, process, name)).or_insert_with(|| RoutineCounts {
            process: process.to_owned(),
            routine: routine.clone(),
            kernel: *kernel,
            by,
            ..RoutineCounts::default()
        });
        row.calls += calls;
        row.own.add(&event_counts(counters, &own));
        row.inclusive.add(&event_counts(counters, &inclusive));
    }
    let mut routines: Vec<RoutineCounts> = routines.into_values().collect();
    routines.sort_by(|a, b| {
        let key = |one: &RoutineCounts| {
            (std::cmp::Reverse(one.own.instructions), one.process.clone(), one.routine.clone(), one.by)
        };
        key(a).cmp(&key(b))
    });
    let data = data_counts(counters, &counts, &symbols, &process_names);
    Ok(LabCounts {
        command,
        elapsed_ns: 0,
        caches: counters.hardware().map(crate::counters::Hardware::arguments).unwrap_or_default(),
        instructions_by_cpu: counts.instructions,
        calls_lost: counts.lost,
        operations: None,
        routines,
        data,
    })
}

/// What each process missed, by the name of the data; nothing if there are no caches.
fn data_counts(
    counters: &Counters,
    counts: &Counts,
    symbols: &KernelSymbols,
    process_names: &[String],
) -> Vec<DataCounts> {
    if counts.data.is_empty() {
        return Vec::new();
    }
    let names = DataNames::new(counts, symbols);
    let mut by_name: BTreeMap<(&str, String), Events> = BTreeMap::new();
    for one in &counts.data {
        by_name.entry((&process_names[one.process], names.name(one))).or_default().add(&one.events);
    }
    let row = |((process, data), events): ((&str, String), Events)| DataCounts {
        process: process.to_owned(),
        data,
        counts: event_counts(counters, &events),
    };
    let mut all: Vec<DataCounts> = by_name.into_iter().map(row).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.counts.l1d_misses));
    all
}

fn process_name(counts: &Counts, index: usize) -> String {
    match &counts.processes[index] {
        process if process.tgid == 0 => KERNEL.to_owned(),
        process if process.tgid == u32::MAX => "others".to_owned(),
        process => process.name.clone(),
    }
}

fn event_counts(counters: &Counters, events: &Events) -> EventCounts {
    EventCounts {
        instructions: events.get(Event::Instructions),
        accesses: events.get(Event::Accesses),
        l1d_misses: events.get(Event::L1dMisses),
        l1i_misses: events.get(Event::L1iMisses),
        l2_misses: events.get(Event::L2Misses),
        transfers: events.get(Event::Transfers),
        upgrades: events.get(Event::Upgrades),
        modelled_cycles: counters.hardware().map_or(0, |hardware| events.cycles(&hardware.cycles)),
    }
}

/// The names of all routines, each once. Several addresses can have one name: of a routine that was entered in its middle.
struct Names {
    /// Index of the name of each node.
    of_node: Vec<u32>,
    /// Name, and whether it is the kernel's.
    texts: Vec<(String, bool)>,
}

/// Where the names of a process's own routines are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum UserNames {
    /// In the file of the counted program.
    Program,
    /// In the memory of this process, which lives.
    Memory(u32),
    /// Nowhere: its file is not known.
    Nowhere,
}

impl UserNames {
    fn of(process: &Process, program: &Path, targets: &Targets) -> UserNames {
        let executes = || std::fs::read_link(format!("/proc/{}/exe", process.tgid)).ok();
        match targets.side_of(process.tgid) {
            Some(_) if executes().is_some_and(|file| file == program) => UserNames::Program,
            Some(_) => UserNames::Memory(process.tgid),
            None if process.name.starts_with("klatch") => UserNames::Program,
            None => UserNames::Nowhere,
        }
    }
}

impl Names {
    fn new(counts: &Counts, kernel: &KernelSymbols, program: &Path, targets: &Targets) -> Names {
        let mut symbols = Symbols::new();
        let own = std::process::id();
        let mut modules: HashMap<u32, Modules> = HashMap::new();
        let starts = counts.nodes.iter().filter(|node| node.is_kernel()).map(|node| node.routine).collect();
        let kernel_names = kernel.names(&starts);
        let sources: Vec<UserNames> =
            counts.processes.iter().map(|process| UserNames::of(process, program, targets)).collect();
        prepare_memory(&mut symbols, counts, &sources);
        // A routine of the kernel is the same in every process.
        let mut by_address: HashMap<(Option<UserNames>, u64), u32> = HashMap::new();
        let mut by_text: HashMap<(String, bool), u32> = HashMap::new();
        let mut names = Names { of_node: Vec::with_capacity(counts.nodes.len()), texts: Vec::new() };
        for node in &counts.nodes {
            let source = (!node.is_kernel()).then(|| sources[node.process]);
            let index = *by_address.entry((source, node.routine)).or_insert_with(|| {
                let text = match source {
                    None => kernel_names.get(&node.routine).map_or(UNKNOWN, String::as_str).to_owned(),
                    Some(UserNames::Program) => program_routine(&symbols, program, node.routine)
                        .unwrap_or_else(|| memory_routine(&mut symbols, &mut modules, own, node.routine)),
                    Some(UserNames::Memory(pid)) => {
                        memory_routine(&mut symbols, &mut modules, pid, node.routine)
                    }
                    Some(UserNames::Nowhere) => UNKNOWN.to_owned(),
                };
                let next = names.texts.len() as u32;
                *by_text.entry((text, node.is_kernel())).or_insert_with_key(|entry| {
                    names.texts.push(entry.clone());
                    next
                })
            });
            names.of_node.push(index);
        }
        names
    }
}

/// Looks the routines of processes that live up at once.
fn prepare_memory(symbols: &mut Symbols, counts: &Counts, sources: &[UserNames]) {
    let mut addresses: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for node in counts.nodes.iter().filter(|node| node.routine != 0 && !node.is_kernel()) {
        if let UserNames::Memory(pid) = sources[node.process] {
            addresses.entry(pid).or_default().insert(node.routine);
        }
    }
    for (pid, addresses) in addresses {
        symbols.prepare_user(pid, &addresses.into_iter().collect::<Vec<_>>());
    }
}

/// Name of a routine of this program; `None` for one of its libraries.
fn program_routine(symbols: &Symbols, program: &Path, address: u64) -> Option<String> {
    let offset = address.checked_sub(LOAD_ADDRESS).filter(|offset| *offset < PROGRAM_MAX)?;
    Some(symbols.file(program, offset))
}

/// Name of a routine in the memory of a process, or at least of its file.
fn memory_routine(
    symbols: &mut Symbols,
    modules: &mut HashMap<u32, Modules>,
    pid: u32,
    address: u64,
) -> String {
    match symbols.user(pid, address) {
        UNKNOWN => modules.entry(pid).or_insert_with(|| Modules::of(pid)).name(address),
        name => name.to_owned(),
    }
}

/// The files that a process has mapped, with their ranges of addresses.
struct Modules(Vec<(std::ops::Range<u64>, String)>);

impl Modules {
    fn of(pid: u32) -> Modules {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        Modules(maps.lines().filter_map(module).collect())
    }

    /// The file in brackets, as `[libc.so.6]`, or [`UNKNOWN`].
    fn name(&self, address: u64) -> String {
        let found = self.0.iter().find(|(range, _)| range.contains(&address));
        found.map_or_else(|| UNKNOWN.to_owned(), |(_, file)| format!("[{file}]"))
    }
}

/// A line of `/proc/PID/maps` of a file.
fn module(line: &str) -> Option<(std::ops::Range<u64>, String)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let file = rest.split_once('/')?.1.rsplit('/').next()?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?..number(end)?, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_a_library_has_the_name_of_the_library() {
        let line = "7ffff7dd1000-7ffff7df7000 r-xp 00001000 00:02 17  /lib64/ld-linux-x86-64.so.2";
        let modules = Modules(vec![module(line).unwrap()]);
        assert_eq!(modules.name(0x7fff_f7dd_1234), "[ld-linux-x86-64.so.2]");
        assert_eq!(modules.name(0x7fff_f7df_7000), UNKNOWN);
        assert_eq!(module("7ffff7dd1000-7ffff7df7000 rw-p 00000000 00:00 0"), None);
    }
}
