//! What the lab's counters counted of a command: exact, and modelled as far as caches are concerned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::saturating_sum;

/// The counts of one command, as `klatch lab exec --counters --out` writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabCounts {
    /// The counted command, without `klatch`.
    pub command: Vec<String>,
    /// The modelled caches and the cycles of their misses, as given to the counters; empty if only instructions were counted.
    pub caches: String,
    /// Time of the machine's clock while the counters were open, ns. On one CPU that never idles this is one for each instruction.
    pub elapsed_ns: u64,
    /// Instructions that each CPU executed.
    pub instructions_by_cpu: Vec<u64>,
    /// Calls whose counts their caller has, because there were too many paths.
    pub calls_lost: u64,
    /// The operations that were counted, without the start and the end of the command; `None` if the whole command was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<CountedOperations>,
    /// Every routine that counted something, by process; most instructions of its own first.
    pub routines: Vec<RoutineCounts>,
    /// What was missed, by process; most first-level misses first. Without modelled caches there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataCounts>,
}

/// What a command did while it was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedOperations {
    /// Name of one: `message` of chat, `transaction` of rr, `yield` of a probe.
    pub name: String,
    /// Number of them.
    pub count: u64,
}

/// Data that a process missed in the caches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataCounts {
    /// Name of the process; `kernel` for the kernel's own threads.
    pub process: String,
    /// What it is: `task_struct.FIELD`, `slab CACHE`, `per CPU VARIABLE`, `vmalloc CALLER`, stacks, memory of programs.
    pub data: String,
    /// Misses of data; `modelled_cycles` is their price. All other kinds are 0.
    pub counts: EventCounts,
}

/// A routine in a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineCounts {
    /// Name of the process; `kernel` for the kernel's own threads.
    pub process: String,
    /// Name of the routine; a program in BPF has the prefix `bpf:`, and an address without a name is `[unknown]`.
    pub routine: String,
    /// Whether it is the kernel's.
    pub kernel: bool,
    /// Whose process it is in a run whose operations were counted; absent for neither, and in counts of whole commands.
    #[serde(default, skip_serializing_if = "CountedBy::is_others")]
    pub by: CountedBy,
    /// How often it was called.
    pub calls: u64,
    /// Events in the routine itself.
    pub own: EventCounts,
    /// Events in it and in what it called.
    pub inclusive: EventCounts,
}

/// Whose process counted something in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// The server, with all its processes.
    Server,
    /// The crowd.
    Crowd,
    /// Neither: threads of the kernel, and what controls the run.
    #[default]
    Others,
}

impl CountedBy {
    fn is_others(&self) -> bool {
        *self == CountedBy::Others
    }
}

/// Counts by kind of event. Without modelled caches all but the instructions are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Executed instructions, user and kernel.
    pub instructions: u64,
    /// Cache lines read or written by data accesses.
    pub accesses: u64,
    /// Lines brought into the first-level data cache.
    pub l1d_misses: u64,
    /// Lines brought into the first-level instruction cache.
    pub l1i_misses: u64,
    /// Lines read from memory.
    pub l2_misses: u64,
    /// Lines read from the cache of another CPU, which had changed them.
    pub transfers: u64,
    /// Writes to lines that another CPU may have had too.
    pub upgrades: u64,
    /// Modelled, not measured: instructions, and cycles for each miss.
    pub modelled_cycles: u64,
}

/// What the operations of a command cost, by routine over all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCosts {
    /// The operations.
    pub operations: CountedOperations,
    /// Instructions of the machine meanwhile.
    pub instructions: u64,
    /// Modelled cycles meanwhile; 0 if no caches were modelled.
    pub modelled_cycles: u64,
    /// Routines by their own instructions, most first; the last row is all others.
    pub routines: Vec<RoutineCost>,
}

impl OperationCosts {
    /// A routine with less than one of this many parts of all instructions is not listed.
    const PARTS: u64 = 5_000;
    /// Name of the row that has all that are not listed.
    pub const REST: &str = "all others";
}

/// The own counts of a routine, over all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineCost {
    /// Its name, as in [`RoutineCounts`].
    pub routine: String,
    /// Whether it is the kernel's.
    pub kernel: bool,
    /// Its own instructions.
    pub instructions: u64,
    /// Its own modelled cycles.
    pub modelled_cycles: u64,
}

/// A kind of event: its name, and its count.
type Named = (&'static str, fn(&EventCounts) -> u64);

impl EventCounts {
    /// Every kind, by the name of its field.
    pub const ALL: [Named; 8] = [
        ("instructions", |counts| counts.instructions),
        ("accesses", |counts| counts.accesses),
        ("l1d_misses", |counts| counts.l1d_misses),
        ("l1i_misses", |counts| counts.l1i_misses),
        ("l2_misses", |counts| counts.l2_misses),
        ("transfers", |counts| counts.transfers),
        ("upgrades", |counts| counts.upgrades),
        ("modelled_cycles", |counts| counts.modelled_cycles),
    ];

    /// The count of a kind by its name.
    pub fn get(&self, name: &str) -> Option<u64> {
        EventCounts::ALL.iter().find(|(known, _)| *known == name).map(|(_, of)| of(self))
    }

    /// Adds other counts, kind by kind.
    pub fn add(&mut self, other: &EventCounts) {
        self.instructions += other.instructions;
        self.accesses += other.accesses;
        self.l1d_misses += other.l1d_misses;
        self.l1i_misses += other.l1i_misses;
        self.l2_misses += other.l2_misses;
        self.transfers += other.transfers;
        self.upgrades += other.upgrades;
        self.modelled_cycles += other.modelled_cycles;
    }
}

impl LabCounts {
    /// The routines with the costs of the operations; `None` if whole commands were counted.
    pub fn costs(&self) -> Option<OperationCosts> {
        let operations = self.operations.clone().filter(|operations| operations.count > 0)?;
        let mut routines: BTreeMap<(&str, bool), RoutineCost> = BTreeMap::new();
        for one in &self.routines {
            let row = routines.entry((&one.routine, one.kernel)).or_insert_with(|| RoutineCost {
                routine: one.routine.clone(),
                kernel: one.kernel,
                ..RoutineCost::default()
            });
            row.instructions += one.own.instructions;
            row.modelled_cycles += one.own.modelled_cycles;
        }
        let total = self.total();
        let least = total.instructions / OperationCosts::PARTS;
        let mut rest = RoutineCost { routine: OperationCosts::REST.to_owned(), ..RoutineCost::default() };
        let mut listed = Vec::new();
        for row in routines.into_values() {
            if row.instructions > least {
                listed.push(row);
            } else {
                rest.instructions += row.instructions;
                rest.modelled_cycles += row.modelled_cycles;
            }
        }
        listed.sort_by(|a, b| (b.instructions, &a.routine).cmp(&(a.instructions, &b.routine)));
        listed.push(rest);
        Some(OperationCosts {
            operations,
            instructions: total.instructions,
            modelled_cycles: total.modelled_cycles,
            routines: listed,
        })
    }

    /// The sum over all routines.
    pub fn total(&self) -> EventCounts {
        let mut total = EventCounts::default();
        self.routines.iter().for_each(|routine| total.add(&routine.own));
        total
    }

    /// The total of an event, of each operation if these were counted; 0 for an unknown event.
    pub fn total_per_operation(&self, event: &str) -> f64 {
        let operations = self.operations.as_ref().map_or(1, |operations| operations.count.max(1));
        self.total().get(event).unwrap_or_default() as f64 / operations as f64
    }

    /// The value of a column `EVENT_per_operation`: events of the machine for each operation; `kernel_EVENT_per_operation` without those of
    /// programs.
    fn per_operation(&self, name: &str) -> Option<f64> {
        let event = name.strip_suffix(PER_OPERATION)?;
        let of_kernel = event.strip_prefix("kernel_");
        let routines = self.routines.iter().filter(|one| of_kernel.is_none() || one.kernel);
        let counts =
            routines.map(|one| one.own.get(of_kernel.unwrap_or(event))).collect::<Option<Vec<_>>>()?;
        let operations = self.operations.as_ref().filter(|operations| operations.count > 0)?;
        Some(saturating_sum(counts) as f64 / operations.count as f64)
    }

    /// The value of a column `ROUTINE:EVENT`: events per call of a routine of the kernel with what it called or, as `own_EVENT`, without
    /// it, over all processes. The routine is its name, or the end of the name of a program in BPF: `dispatch` for
    /// `bpf:goodness_dispatch`.
    pub fn column(&self, name: &str) -> Option<f64> {
        let Some((routine, event)) = name.split_once(':') else { return self.per_operation(name) };
        let is_named = |name: &str| {
            let program = name.strip_prefix("bpf:");
            name == routine || program.is_some_and(|program| program.rsplit('_').next() == Some(routine))
        };
        let all = || self.routines.iter().filter(|one| one.kernel && is_named(&one.routine));
        let calls = saturating_sum(all().map(|one| one.calls));
        let count = |one: &RoutineCounts| match event.strip_prefix("own_") {
            Some(event) => one.own.get(event),
            None => one.inclusive.get(event),
        };
        let sum = saturating_sum(all().map(count).collect::<Option<Vec<u64>>>()?);
        (calls > 0).then(|| sum as f64 / calls as f64)
    }
}

/// Whether a column of a study is a count by routine.
pub fn is_count(column: &str) -> bool {
    column.contains(':')
}

/// What columns end with that are counts for each operation.
const PER_OPERATION: &str = "_per_operation";

/// Whether the counters have the numbers of a column of a study. What begins with a slash is a place in a record.
pub fn is_counted(column: &str) -> bool {
    is_count(column) || (column.ends_with(PER_OPERATION) && !column.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_bpf_is_found_by_the_end_of_its_name() {
        let routine = |name: &str, calls, l1d_misses| RoutineCounts {
            process: "klatch".to_owned(),
            routine: name.to_owned(),
            kernel: true,
            calls,
            inclusive: EventCounts { l1d_misses, ..EventCounts::default() },
            ..RoutineCounts::default()
        };
        let routines = vec![
            routine("bpf:goodness_dispatch", 2, 30),
            routine("bpf:goodness_dispatch", 3, 20),
            routine("dispatcher", 9, 9),
        ];
        let counts = LabCounts { routines, ..LabCounts::default() };
        assert_eq!(counts.column("dispatch:l1d_misses"), Some(10.0));
        assert_eq!(counts.column("dispatch:nonsense"), None);
        assert_eq!(counts.column("enqueue:l1d_misses"), None);
    }

    #[test]
    fn costs_of_operations_have_every_instruction_once() {
        let routine = |process: &str, name: &str, kernel, instructions| RoutineCounts {
            process: process.to_owned(),
            routine: name.to_owned(),
            kernel,
            own: EventCounts { instructions, ..EventCounts::default() },
            ..RoutineCounts::default()
        };
        let routines = vec![
            routine("server", "schedule", true, 60_000),
            routine("crowd", "schedule", true, 20_000),
            routine("crowd", "main", false, 19_990),
            routine("crowd", "rare", true, 10),
        ];
        let operations = Some(CountedOperations { name: "message".to_owned(), count: 100 });
        let counts = LabCounts { operations, routines, ..LabCounts::default() };
        let costs = counts.costs().unwrap();
        let rows: Vec<_> =
            costs.routines.iter().map(|row| (row.routine.as_str(), row.instructions)).collect();
        assert_eq!(rows, [("schedule", 80_000), ("main", 19_990), (OperationCosts::REST, 10)]);
        assert_eq!(costs.instructions, 100_000);
        assert_eq!(counts.column("instructions_per_operation"), Some(1_000.0));
        assert_eq!(counts.column("kernel_instructions_per_operation"), Some(800.1));
        assert_eq!(counts.column("nonsense_per_operation"), None);
        assert!(is_counted("instructions_per_operation"));
        assert!(!is_counted("/operations/cpu_us_per_operation"));
        let whole = LabCounts { operations: None, ..counts };
        assert_eq!((whole.costs(), whole.column("instructions_per_operation")), (None, None));
    }
}
