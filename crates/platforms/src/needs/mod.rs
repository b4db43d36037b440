//! What a run needs of the machine, and a refusal of what the machine cannot carry, before anything starts.

mod limits;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use self::limits::{Limit, Machine};
use crate::catalog::{java_crowd, native_crowd, threads_crowd};
use crate::knobs::Setting;

/// Open files of a process beside its connections.
const FILES_BASE: u64 = 100;
/// Memory maps of a process beside those of its threads.
const MAPS_BASE: u64 = 1000;

/// What a process needs of the machine, as measured; what is not told is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Threads of each connection.
    pub threads_per_connection: u64,
    /// Memory maps of each thread: stacks and the guards beside them.
    pub maps_per_thread: u64,
    /// Resident memory beside that of connections, MiB.
    pub memory_mib: u64,
    /// Resident memory of each connection, KiB.
    pub memory_per_connection_kib: u64,
}

/// One side of a run: the servers of a platform, or the crowds.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called in a message.
    pub who: String,
    /// What one process of it needs.
    pub needs: Needs,
    /// How many processes of it there are.
    pub processes: u64,
    /// Connections of the process that has the most.
    pub connections: u64,
}

/// What the machine cannot carry: every limit that stands in the way, and how to raise it.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{}", .0.join("\n"))]
pub struct NeedError(Vec<String>);

/// Refuses a run of `sides` whose crowds have `connections_per_server` to one address, if this machine cannot carry it.
///
/// # Errors
/// The limits that are too low, each with the command that raises it.
pub fn refuse(sides: &[Side], connections_per_server: u64) -> Result<(), NeedError> {
    compare(sides, connections_per_server, &Machine::here())
}

fn compare(sides: &[Side], connections_per_server: u64, machine: &Machine) -> Result<(), NeedError> {
    let mut missing = Vec::new();
    let mut need = |who: &str, amount: u64, what: &str, limits: &[Limit]| {
        let short = limits.iter().filter(|limit| amount > limit.value.saturating_sub(limit.used));
        missing.extend(short.map(|limit| limit.tell(who, amount, what)));
    };
    for side in sides {
        let who = format!("{} with {} connections", side.who, side.connections);
        need(&who, side.connections + FILES_BASE, "open files", &machine.files);
        if side.needs.maps_per_thread > 0 {
            let maps = side.threads() * side.needs.maps_per_thread + MAPS_BASE;
            need(&who, maps, "memory maps", &machine.maps);
        }
    }
    let all = sides.iter().map(|side| side.who.as_str()).collect::<Vec<_>>().join(" and ");
    let sum = |of: fn(&Side) -> u64| sides.iter().map(|side| of(side) * side.processes).sum();
    need(&all, sum(Side::threads), "threads for connections", &machine.threads);
    need(&all, sum(Side::memory_mib), "MiB of memory", &machine.memory_mib);
    need("the crowd", connections_per_server, "local ports", &machine.ports);
    if missing.is_empty() { Ok(()) } else { Err(NeedError(missing)) }
}

impl Needs {
    /// With the heap that is set for a Java, which can all become resident.
    pub(crate) fn with_heap(self, settings: &[Setting]) -> Needs {
        Needs { memory_mib: self.memory_mib + heap_mib(settings).unwrap_or(0), ..self }
    }
}

/// The heap that is set for a Java.
pub(crate) fn heap_mib(settings: &[Setting]) -> Option<u64> {
    mib(&settings.iter().find(|setting| setting.name == "heap")?.value)
}

/// A size as Java takes it: `512k`, `64m`, `2g`, or bytes.
fn mib(size: &str) -> Option<u64> {
    let (number, unit) =
        size.split_at(size.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(size.len()));
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()?.checked_mul(unit)? >> 20)
}

impl Side {
    /// So many native crowds.
    pub fn of_native_crowd(processes: u64, connections: u64) -> Side {
        Side { who: "the native crowd".to_owned(), needs: native_crowd().needs, processes, connections }
    }

    /// So many native crowds with two threads a user.
    pub fn of_threads_crowd(processes: u64, connections: u64) -> Side {
        Side { who: "the crowd of threads".to_owned(), needs: threads_crowd().needs, processes, connections }
    }

    /// So many Java crowds, set so.
    pub fn of_java_crowd(settings: &[Setting], processes: u64, connections: u64) -> Side {
        let needs = java_crowd().needs.with_heap(settings);
        Side { who: "the Java crowd".to_owned(), needs, processes, connections }
    }

    fn threads(&self) -> u64 {
        self.connections * self.needs.threads_per_connection
    }

    fn memory_mib(&self) -> u64 {
        self.needs.memory_mib + self.connections * self.needs.memory_per_connection_kib / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(name: &str, value: u64, used: u64) -> Vec<Limit> {
        vec![Limit { name: name.into(), value, used, raise: "set {}".into() }]
    }

    fn machine() -> Machine {
        Machine {
            files: limit("files", 1100, 0),
            maps: limit("maps", 9000, 0),
            threads: limit("threads", 2500, 500),
            memory_mib: limit("memory", 600, 100),
            ports: limit("ports", 1000, 0),
        }
    }

    fn side(connections: u64) -> Side {
        let needs = Needs {
            threads_per_connection: 2,
            maps_per_thread: 4,
            memory_mib: 100,
            memory_per_connection_kib: 400,
        };
        Side { who: "two-threads".into(), needs, processes: 1, connections }
    }

    #[test]
    fn a_heap_counts_as_it_is_set() {
        let with = |heap: &str| {
            let settings = [Setting { name: "heap".into(), value: heap.into() }];
            Needs { memory_mib: 50, ..Needs::default() }.with_heap(&settings).memory_mib
        };
        assert_eq!([with("2g"), with("64M"), with("4096k"), with("odd")], [2098, 114, 54, 50]);
    }

    #[test]
    fn what_just_fits_is_carried() {
        assert_eq!(compare(&[side(1000)], 1000, &machine()), Ok(()));
    }

    #[test]
    fn every_limit_that_is_too_low_is_told_with_the_command_that_raises_it() {
        let error = compare(&[side(1001)], 1001, &machine()).unwrap_err();
        assert_eq!(
            error.0,
            [
                "two-threads with 1001 connections needs 1101 open files, and files is 1100; raise it with `set 1101`",
                "two-threads with 1001 connections needs 9008 memory maps, and maps is 9000; raise it with `set 9008`",
                "two-threads needs 2002 threads for connections, and threads is 2500 with 500 in use; \
                 raise it with `set 2502`",
                "the crowd needs 1001 local ports, and ports is 1000; raise it with `set 1001`",
            ]
        );
    }

    #[test]
    fn sides_add_up_where_they_share() {
        let error =
            compare(&[side(600), Side { who: "crowd".into(), ..side(600) }], 600, &machine()).unwrap_err();
        assert_eq!(error.0.len(), 2, "{error}");
        assert!(
            error.0[0].starts_with("two-threads and crowd needs 2400 threads for connections"),
            "{error}"
        );
        assert!(error.0[1].starts_with("two-threads and crowd needs 668 MiB of memory"), "{error}");
        let error = compare(&[Side { processes: 3, ..side(500) }], 500, &machine()).unwrap_err();
        assert!(error.0[0].starts_with("two-threads needs 3000 threads"), "{error}");
    }
}
