//! Compares the needs of a run with the limits of the machine, before anything starts.

mod limits;

use std::fmt;

use thiserror::Error;

use self::limits::{Limit, Machine};
use crate::catalog::{java_crowd, native_crowd, threads_crowd};
use crate::needs::Needs;
use crate::setting::Setting;

/// Open files of a process in addition to its connections.
const FILES_BASE: u64 = 100;
/// Memory maps of a process in addition to those of its threads.
const MAPS_BASE: u64 = 1000;

/// One side of a run: the servers of a platform, or the crowds.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its name in error messages.
    pub name: String,
    /// The needs of one process.
    pub needs: Needs,
    /// Number of processes on this side.
    pub processes: u64,
    /// Connections of the process that has the most.
    pub connections: u64,
}

/// The limits that are too low for a run, each with the command that raises it.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct CapacityError(pub Vec<Shortage>);

/// A limit that is too low.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// What is needed, and what the limit is.
    pub state: String,
    /// The command that raises it.
    pub raise: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; raise it with `{}`", self.state, self.raise)
    }
}

/// Checks that this machine can carry `sides`, whose crowds open `connections_per_server` connections to one address.
///
/// # Errors
/// All limits that are too low, each with the command that raises it.
pub fn check_capacity(sides: &[Side], connections_per_server: u64) -> Result<(), CapacityError> {
    compare(sides, connections_per_server, &Machine::detect())
}

fn compare(sides: &[Side], connections_per_server: u64, machine: &Machine) -> Result<(), CapacityError> {
    let mut missing = Vec::new();
    let mut need = |name: &str, amount: u64, what: &str, limits: &[Limit]| {
        let short = limits.iter().filter(|limit| amount > limit.value.saturating_sub(limit.used));
        missing.extend(short.map(|limit| limit.shortage(name, amount, what)));
    };
    for side in sides {
        let name = format!("{} with {} connections", side.name, side.connections);
        need(&name, side.connections + FILES_BASE, "open files", &machine.files);
        if side.needs.maps_per_thread > 0 {
            let maps = side.threads() * side.needs.maps_per_thread + MAPS_BASE;
            need(&name, maps, "memory maps", &machine.maps);
        }
    }
    let all = sides.iter().map(|side| side.name.as_str()).collect::<Vec<_>>().join(" and ");
    let sum = |amount: fn(&Side) -> u64| sides.iter().map(|side| amount(side) * side.processes).sum();
    need(&all, sum(|side| side.connections + FILES_BASE), "open files in all", &machine.files_of_all);
    // Both ends of a connection are one entry.
    let connections = sides.iter().map(|side| side.connections * side.processes).max().unwrap_or(0);
    need(&all, connections, "tracked connections", &machine.tracked);
    need(&all, sum(Side::threads), "threads for connections", &machine.threads);
    need(&all, sum(Side::memory_mib), "MiB of memory", &machine.memory_mib);
    need("the crowd", connections_per_server, "local ports", &machine.ports);
    if missing.is_empty() { Ok(()) } else { Err(CapacityError(missing)) }
}

impl Side {
    /// The same with more memory, MiB, that its processes share.
    #[must_use]
    pub fn with_memory_mib(self, shared_mib: u64) -> Side {
        let needs = Needs { memory_mib: self.needs.memory_mib + shared_mib / self.processes, ..self.needs };
        Side { needs, ..self }
    }

    /// Native crowds with event loops.
    pub fn for_native_crowd(processes: u64, connections: u64) -> Side {
        Side { name: "the native crowd".to_owned(), needs: native_crowd().needs, processes, connections }
    }

    /// Native crowds with two threads a user.
    pub fn for_threads_crowd(processes: u64, connections: u64) -> Side {
        Side {
            name: "the native-threads crowd".to_owned(),
            needs: threads_crowd().needs,
            processes,
            connections,
        }
    }

    /// Java crowds with these settings.
    pub fn for_java_crowd(settings: &[Setting], processes: u64, connections: u64) -> Side {
        let needs = java_crowd().needs.with_heap(settings);
        Side { name: "the Java crowd".to_owned(), needs, processes, connections }
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
            files_of_all: limit("all files", 1750, 50),
            tracked: limit("tracked", 1300, 200),
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
        Side { name: "two-threads".into(), needs, processes: 1, connections }
    }

    #[test]
    fn needs_at_the_limit_pass() {
        assert_eq!(compare(&[side(1000)], 1000, &machine()), Ok(()));
    }

    #[test]
    fn every_low_limit_is_reported_with_its_command() {
        let error = compare(&[side(1001)], 1001, &machine()).unwrap_err();
        assert_eq!(
            error.to_string().lines().collect::<Vec<_>>(),
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
    fn shared_limits_apply_to_the_sum_of_all_sides() {
        let error =
            compare(&[side(600), Side { name: "crowd".into(), ..side(600) }], 600, &machine()).unwrap_err();
        assert_eq!(error.0.len(), 2, "{error}");
        assert!(
            error.0[0].state.starts_with("two-threads and crowd needs 2400 threads for connections"),
            "{error}"
        );
        assert!(error.0[1].state.starts_with("two-threads and crowd needs 668 MiB of memory"), "{error}");
        let error = compare(&[Side { processes: 3, ..side(500) }], 500, &machine()).unwrap_err();
        let states: Vec<&str> = error.0[..2].iter().map(|shortage| shortage.state.as_str()).collect();
        assert_eq!(
            states,
            [
                "two-threads needs 1800 open files in all, and all files is 1750 with 50 in use",
                "two-threads needs 1500 tracked connections, and tracked is 1300 with 200 in use",
            ]
        );
        assert!(error.0[2].state.starts_with("two-threads needs 3000 threads"), "{error}");
    }

    #[test]
    fn both_ends_of_a_connection_are_tracked_once() {
        let needs = Needs { threads_per_connection: 0, memory_mib: 0, ..side(1).needs };
        let needs = Needs { memory_per_connection_kib: 0, ..needs };
        let side = Side { needs, processes: 2, ..side(300) };
        assert_eq!(compare(&[side.clone(), side], 300, &machine()), Ok(()));
    }
}
