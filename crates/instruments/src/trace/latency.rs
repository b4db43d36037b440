//! Run-queue latency of threads in a trace: from when a thread could run to when it ran.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{TraceFile, TraceKind};
use crate::usage::group_name;

/// How the waits of threads are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsBy {
    /// Each thread by itself.
    Thread,
    /// Threads of a process whose names differ in a trailing number.
    Group,
}

/// Waits for a CPU of a thread or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueWaits {
    /// Name and id of the thread, or process and name of the group.
    pub name: String,
    /// Number of threads that waited.
    pub threads: usize,
    /// Time of each wait, ns, shortest first.
    waits_ns: Vec<u64>,
}

impl QueueWaits {
    /// Number of waits.
    pub fn count(&self) -> usize {
        self.waits_ns.len()
    }

    /// Sum of all waits, µs.
    pub fn total_us(&self) -> f64 {
        self.waits_ns.iter().map(|ns| *ns as f64).sum::<f64>() / 1e3
    }

    /// Mean wait, µs.
    pub fn mean_us(&self) -> f64 {
        self.total_us() / self.count().max(1) as f64
    }

    /// The wait that a share of all waits, 0..=1, does not exceed, µs.
    pub fn quantile_us(&self, share: f64) -> f64 {
        let rank = (share * self.count() as f64).ceil() as usize;
        let at = rank.clamp(1, self.count().max(1)) - 1;
        self.waits_ns.get(at).map_or(0.0, |ns| *ns as f64 / 1e3)
    }
}

/// The waits in a trace, largest sum first. A wait begins when a thread is woken, or loses its CPU although it could go on, and ends when it
/// runs. One that the trace does not show whole is not counted.
pub fn queue_waits(trace: &TraceFile, by: WaitsBy) -> Vec<QueueWaits> {
    let mut since: BTreeMap<u32, u64> = BTreeMap::new();
    let mut waits: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut processes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut running: BTreeSet<u32> = BTreeSet::new();
    for event in &trace.events {
        match event.kind {
            TraceKind::Switch => {
                processes.insert(event.other, event.tgid);
                if let Some(start) = since.remove(&event.other) {
                    waits.entry(event.other).or_default().push(event.ns.saturating_sub(start));
                }
                running.remove(&event.task);
                running.insert(event.other);
                if event.state == 0 {
                    since.insert(event.task, event.ns);
                } else {
                    since.remove(&event.task);
                }
            }
            // One that is woken on its way to sleep keeps its CPU.
            TraceKind::Waking if running.contains(&event.task) => {}
            // A second wake-up of a thread that waits already changes nothing.
            TraceKind::Waking => {
                processes.insert(event.task, event.tgid);
                since.entry(event.task).or_insert(event.ns);
            }
            TraceKind::Migrate => {}
        }
    }
    // The idle task waits for nothing.
    waits.remove(&0);
    let mut all: BTreeMap<String, (BTreeSet<u32>, Vec<u64>)> = BTreeMap::new();
    for (thread, waits_ns) in waits {
        let name = match by {
            WaitsBy::Thread => trace.name(thread),
            WaitsBy::Group => group(trace, thread, processes.get(&thread).copied()),
        };
        let (threads, sum) = all.entry(name).or_default();
        threads.insert(thread);
        sum.extend(waits_ns);
    }
    let row = |(name, (threads, mut waits_ns)): (String, (BTreeSet<u32>, Vec<u64>))| {
        waits_ns.sort_unstable();
        QueueWaits { name, threads: threads.len(), waits_ns }
    };
    let mut rows: Vec<QueueWaits> = all.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.total_us().total_cmp(&a.total_us()));
    rows
}

/// The process and the name of a thread's group.
fn group(trace: &TraceFile, thread: u32, process: Option<u32>) -> String {
    let name = |id: u32| trace.names.get(&id).map(|name| group_name(name));
    let thread_name = name(thread).unwrap_or_else(|| "without a name".to_owned());
    match process.and_then(name) {
        Some(process) if process != thread_name => format!("{process}/{thread_name}"),
        _ => thread_name,
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::TraceEvent;
    use super::*;

    #[test]
    fn a_wait_is_from_waking_or_losing_the_cpu_to_running() {
        let event = |us: u64, kind, state, task, other, tgid| TraceEvent {
            ns: us * 1_000,
            kind,
            state,
            cpu: 0,
            task,
            other,
            tgid,
        };
        use TraceKind::{Switch, Waking};
        let trace = TraceFile {
            events: vec![
                event(10, Waking, 0, 8, 7, 6),
                // Woken again while it waits.
                event(12, Waking, 0, 8, 7, 6),
                // 7 could go on; 8 has waited 10 µs.
                event(20, Switch, 0, 7, 8, 6),
                // 8 is woken before it sleeps.
                event(40, Waking, 0, 8, 7, 6),
                // 8 sleeps; 7 has waited 30 µs.
                event(50, Switch, 1, 8, 7, 6),
                event(60, Waking, 0, 8, 7, 6),
                event(65, Switch, 1, 7, 8, 6),
                event(70, Switch, 1, 8, 0, 0),
            ],
            lost: Some(0),
            names: BTreeMap::from([
                (6, "server".to_owned()),
                (7, "pool-1".to_owned()),
                (8, "pool-2".to_owned()),
            ]),
        };
        let threads = queue_waits(&trace, WaitsBy::Thread);
        let row = |one: &QueueWaits| (one.name.clone(), one.count(), one.mean_us(), one.quantile_us(1.0));
        let rows: Vec<_> = threads.iter().map(row).collect();
        assert_eq!(rows, [("pool-1:7".to_owned(), 1, 30.0, 30.0), ("pool-2:8".to_owned(), 2, 7.5, 10.0)]);
        let groups = queue_waits(&trace, WaitsBy::Group);
        assert_eq!((groups.len(), groups[0].threads), (1, 2));
        assert_eq!(row(&groups[0]), ("server/pool-*".to_owned(), 3, 15.0, 30.0));
        assert_eq!((groups[0].quantile_us(0.5), groups[0].quantile_us(0.34)), (10.0, 10.0));
    }
}
