//! Text output of traces.

use std::collections::BTreeMap;
use std::fmt::Write;

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

/// Formats the counts by kind, the lost events, and the threads that ran longest.
pub fn summary(trace: &TraceFile) -> String {
    let (first, last) = match (trace.events.first(), trace.events.last()) {
        (Some(first), Some(last)) => (first.ns, last.ns),
        _ => return "no events\n".to_owned(),
    };
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
    let length_s = (last - first) as f64 / 1e9;
    let mut text = format!("{length_s:.3} s on {} CPUs\n", switched_at.len());
    for (kind, count) in kinds {
        let _ = writeln!(text, "{:<10}{count:>12}{:>14.0}/s", kind.name(), count as f64 / length_s.max(1e-9));
    }
    let lost = trace.lost.map_or("unknown: the trace was not ended".to_owned(), |lost| lost.to_string());
    let _ = writeln!(text, "{:<10}{lost:>12}\n", "lost");
    let _ = writeln!(
        text,
        "{:<28}{:>12}{:>10}{:>10}{:>10}{:>10}",
        "thread", "ran s", "runs", "waits", "woken", "moved"
    );
    let mut rows: Vec<_> = threads.into_iter().filter(|(pid, _)| *pid != 0).collect();
    rows.sort_by_key(|(_, thread)| std::cmp::Reverse(thread.ran_ns));
    for (pid, thread) in rows.into_iter().take(ROWS) {
        let Thread { ran_ns, runs, waits, woken, moved } = thread;
        let (name, ran_s) = (trace.name(pid), ran_ns as f64 / 1e9);
        let _ = writeln!(text, "{name:<28}{ran_s:>12.6}{runs:>10}{waits:>10}{woken:>10}{moved:>10}");
    }
    text
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
        let text = summary(&trace);
        let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(row("lost").ends_with('4') && row("switch").contains(" 2 "), "{text}");
        assert!(row("talker:7").contains("2.000000"), "{text}");
        assert_eq!(
            event_line(&trace, &trace.events[2], 1_000_000_000),
            "   2.000000000 CPU 0   switch   talker:7 (could go on) -> thread 8"
        );
        assert_eq!(summary(&TraceFile { events: vec![], lost: None, names: BTreeMap::new() }), "no events\n");
    }
}
