//! The lab's counts of a command, with the names of its routines.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use klatch_record::lab::{DataCounts, EventCounts, LabCounts, RoutineCounts};

use crate::counters::{Counters, CountersError, Counts, Event, Events};
use crate::data_names::DataNames;
use crate::kernel_symbols::KernelSymbols;
use crate::symbols::{Symbols, UNKNOWN};

/// Where the kernel loads programs that can lie anywhere if it does not randomize addresses (norandmaps).
const LOAD_ADDRESS: u64 = 0x5555_5555_4000;
/// More than the size of any program.
const PROGRAM_MAX: u64 = 1 << 32;

/// Name of the process that stands for the kernel's own threads and idle CPUs.
const KERNEL: &str = "kernel";

/// Reads the counts of `command`, which must have ended.
///
/// Its processes are gone. In the lab programs lie at fixed addresses, so addresses in user mode are looked up in the file of
/// `program`, and those of libraries in what this process has mapped.
///
/// # Errors
/// The counters cannot be read.
pub fn lab_counts(
    counters: &Counters,
    command: Vec<String>,
    program: &Path,
) -> Result<LabCounts, CountersError> {
    let counts = counters.read()?;
    let symbols = KernelSymbols::read().unwrap_or_default();
    let names = Names::new(&counts, &symbols, program);
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
    let mut routines: BTreeMap<(&str, u32), RoutineCounts> = BTreeMap::new();
    for ((process, name), (calls, own, inclusive)) in rows {
        let process = process_names[process].as_str();
        let (routine, kernel) = &names.texts[name as usize];
        let row = routines.entry((process, name)).or_insert_with(|| RoutineCounts {
            process: process.to_owned(),
            routine: routine.clone(),
            kernel: *kernel,
            ..RoutineCounts::default()
        });
        row.calls += calls;
        row.own.add(&event_counts(counters, &own));
        row.inclusive.add(&event_counts(counters, &inclusive));
    }
    let mut routines: Vec<RoutineCounts> = routines.into_values().collect();
    routines.sort_by(|a, b| {
        let key = |one: &RoutineCounts| {
            (std::cmp::Reverse(one.own.instructions), one.process.clone(), one.routine.clone())
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

impl Names {
    fn new(counts: &Counts, kernel: &KernelSymbols, program: &Path) -> Names {
        let mut symbols = Symbols::new();
        let modules = Modules::of_this_process();
        let starts = counts.nodes.iter().filter(|node| node.is_kernel()).map(|node| node.routine).collect();
        let kernel_names = kernel.names(&starts);
        let mut by_address: HashMap<(bool, u64), u32> = HashMap::new();
        let mut by_text: HashMap<(String, bool), u32> = HashMap::new();
        let mut names = Names { of_node: Vec::with_capacity(counts.nodes.len()), texts: Vec::new() };
        for node in &counts.nodes {
            let is_klatch = counts.processes[node.process].name.starts_with("klatch");
            let index = *by_address.entry((is_klatch, node.routine)).or_insert_with(|| {
                let text = match (node.is_kernel(), is_klatch) {
                    (true, _) => kernel_names.get(&node.routine).map_or(UNKNOWN, String::as_str).to_owned(),
                    (false, true) => klatch_routine(&mut symbols, program, &modules, node.routine),
                    (false, false) => UNKNOWN.to_owned(),
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

/// Name of a routine of this program or of its libraries, or at least of the library.
fn klatch_routine(symbols: &mut Symbols, program: &Path, modules: &Modules, address: u64) -> String {
    match address.checked_sub(LOAD_ADDRESS).filter(|offset| *offset < PROGRAM_MAX) {
        Some(offset) => symbols.file(program, offset),
        None => match symbols.user(std::process::id(), address) {
            UNKNOWN => modules.name(address),
            name => name.to_owned(),
        },
    }
}

/// The files that this process has mapped, with their ranges of addresses.
struct Modules(Vec<(std::ops::Range<u64>, String)>);

impl Modules {
    fn of_this_process() -> Modules {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Modules(maps.lines().filter_map(module).collect())
    }

    /// The file in brackets, as `[libc.so.6]`, or [`UNKNOWN`].
    fn name(&self, address: u64) -> String {
        let found = self.0.iter().find(|(range, _)| range.contains(&address));
        found.map_or_else(|| UNKNOWN.to_owned(), |(_, file)| format!("[{file}]"))
    }
}

/// A line of `/proc/self/maps` of a file.
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
