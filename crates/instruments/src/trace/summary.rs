//! Text output of traces.

use std::collections::BTreeMap;

use super::file::{TraceEvent, TraceFile, TraceKind};

/// Threads in the summary.
const ROWS: usize = 20;

/// Formats an event as a line: seconds since `start_ns`, CPU, kind, tasks.
pub fn event_line(trace: &TraceFile, event: &TraceEvent, start_ns: u64) -> String {
    let (task, other) = (trace.name(event.task), || trace.name(event.other));
    let details = match (event.kind, event.state) {
        (TraceKind::Switch, 0) => format!("{task} (could go on) -> {}", other()),
        (TraceKind::Switch, _) => format!("{task} (waits) -> {}", other()),
        (TraceKind::Waking, _) => format!("{task} by {}", other()),
        (TraceKind::Migrate, _) => format!("{task} to CPU {}", event.other),
    };
    format!(
        "{:14.9} CPU {:<3} {:<8} {details}",
        (event.ns - start_ns) as f64 / 1e9,
        event.cpu,
        event.kind.name()
    )
}

/// Activity of one thread.
#[derive(Clone, Copy, Default)]
struct Thread {
    ran_ns: u64,
    runs: u64,
    waits: u64,
    woken: u64,
    moved: u64,
}

/// Counts of a trace, and the threads that ran longest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSummary {
    /// From the first event to the last, seconds.
    pub length_s: f64,
    /// CPUs that switched.
    pub cpus: usize,
    /// Number of events of each kind.
    pub kinds: Vec<(&'static str, u64)>,
    /// Events that were lost; `None` if the trace was not ended.
    pub lost: Option<u64>,
    /// The threads that ran longest, up to 20.
    pub threads: Vec<ThreadSummary>,
}

/// A thread of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadSummary {
    /// Name and id.
    pub name: String,
    /// Time on a CPU, seconds.
    pub ran_s: f64,
    /// Times that it left a CPU.
    pub runs: u64,
    /// Times that it left a CPU to wait.
    pub waits: u64,
    /// Wake-ups of it.
    pub woken: u64,
    /// Migrations of it.
    pub moved: u64,
}

/// Counts the events by kind, and what each thread did. `None` of a trace without events.
pub fn summary(trace: &TraceFile) -> Option<TraceSummary> {
    let (first, last) = (trace.events.first()?.ns, trace.events.last()?.ns);
    let mut kinds: BTreeMap<TraceKind, u64> = BTreeMap::new();
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    let mut switched_at: BTreeMap<u16, u64> = BTreeMap::new();
    for event in &trace.events {
        *kinds.entry(event.kind).or_default() += 1;
        let thread = threads.entry(event.task).or_default();
        match event.kind {
            TraceKind::Switch => {
                // The first task on a CPU has run since the trace began, as far as is known.
                let since = switched_at.insert(event.cpu, event.ns).unwrap_or(first);
                thread.ran_ns += event.ns - since;
                thread.runs += 1;
                thread.waits += u64::from(event.state != 0);
            }
            TraceKind::Waking => thread.woken += 1,
            TraceKind::Migrate => thread.moved += 1,
        }
    }
    let mut rows: Vec<_> = threads.into_iter().filter(|(pid, _)| *pid != 0).collect();
    rows.sort_by_key(|(_, thread)| std::cmp::Reverse(thread.ran_ns));
    let row = |(pid, thread): (u32, Thread)| {
        let Thread { ran_ns, runs, waits, woken, moved } = thread;
        ThreadSummary { name: trace.name(pid), ran_s: ran_ns as f64 / 1e9, runs, waits, woken, moved }
    };
    Some(TraceSummary {
        length_s: (last - first) as f64 / 1e9,
        cpus: switched_at.len(),
        kinds: kinds.into_iter().map(|(kind, count)| (kind.name(), count)).collect(),
        lost: trace.lost,
        threads: rows.into_iter().take(ROWS).map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_on_a_cpu_is_from_switch_in_to_switch_out() {
        let event =
            |ns, kind, state, task, other| TraceEvent { ns, kind, state, cpu: 0, task, other, tgid: task };
        let trace = TraceFile {
            events: vec![
                event(1_000_000_000, TraceKind::Switch, 1, 0, 7),
                event(1_500_000_000, TraceKind::Waking, 0, 8, 7),
                event(3_000_000_000, TraceKind::Switch, 0, 7, 8),
            ],
            lost: Some(4),
            names: BTreeMap::from([(7, "talker".to_owned())]),
        };
        let counted = summary(&trace).unwrap();
        assert_eq!((counted.lost, counted.kinds[0]), (Some(4), ("switch", 2)));
        let talker = counted.threads.iter().find(|thread| thread.name == "talker:7").unwrap();
        assert_eq!((talker.ran_s, talker.runs, talker.waits), (2.0, 1, 0));
        assert_eq!(
            event_line(&trace, &trace.events[2], 1_000_000_000),
            "   2.000000000 CPU 0   switch   talker:7 (could go on) -> thread 8"
        );
        assert_eq!(summary(&TraceFile { events: vec![], lost: None, names: BTreeMap::new() }), None);
    }
}
