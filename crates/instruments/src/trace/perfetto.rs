//! Export to Chrome's JSON trace format, which <https://ui.perfetto.dev> opens.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::json;

use super::file::{TraceEvent, TraceFile, TraceKind};

/// Tasks that wait for a CPU, as far as the trace shows.
#[derive(Default)]
struct Waiting(BTreeSet<u32>);

impl Waiting {
    /// Counts after an event; `None` if they are as before.
    fn update(&mut self, event: &TraceEvent) -> Option<usize> {
        let before = self.0.len();
        match event.kind {
            TraceKind::Switch => {
                if event.task != 0 && event.state == 0 {
                    self.0.insert(event.task);
                }
                self.0.remove(&event.other);
            }
            TraceKind::Waking => {
                self.0.insert(event.task);
            }
            TraceKind::Migrate => {}
        }
        (self.0.len() != before).then_some(self.0.len())
    }
}

/// Writes the time of each task on a CPU as a slice, wake-ups and migrations as instant events, and the number of waiting tasks as a
/// counter.
///
/// # Errors
/// `out` cannot be written.
pub fn write_perfetto(trace: &TraceFile, mut out: impl Write) -> io::Result<()> {
    let start_ns = trace.events.first().map_or(0, |event| event.ns);
    let us = |ns: u64| (ns - start_ns) as f64 / 1e3;
    let mut switched_at: BTreeMap<u16, u64> = BTreeMap::new();
    writeln!(out, "{{\"traceEvents\":[")?;
    writeln!(out, "{}", json!({ "ph": "M", "pid": 0, "name": "process_name", "args": { "name": "CPUs" } }))?;
    let mut waiting = Waiting::default();
    for event in &trace.events {
        if let Some(tasks) = waiting.update(event) {
            let counter = json!({ "ph": "C", "pid": 0, "ts": us(event.ns), "name": "waiting tasks",
                "args": { "tasks": tasks } });
            writeln!(out, ",{counter}")?;
        }
        let (at, cpu) = (us(event.ns), event.cpu);
        let line = match event.kind {
            TraceKind::Switch => {
                let since = switched_at.insert(cpu, event.ns).unwrap_or(start_ns);
                if event.task == 0 {
                    continue;
                }
                let end = if event.state == 0 { "could go on" } else { "waits" };
                json!({ "ph": "X", "pid": 0, "tid": cpu, "ts": us(since), "dur": at - us(since),
                    "name": trace.name(event.task), "args": { "end": end } })
            }
            TraceKind::Waking => json!({ "ph": "i", "s": "t", "pid": 0, "tid": cpu, "ts": at,
                "name": format!("wakes {}", trace.name(event.task)) }),
            TraceKind::Migrate => json!({ "ph": "i", "s": "t", "pid": 0, "tid": cpu, "ts": at,
                "name": format!("moves {} to CPU {}", trace.name(event.task), event.other) }),
        };
        writeln!(out, ",{line}")?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_export_is_json_with_a_slice_for_each_time_on_a_cpu() {
        let event = |ns, kind, task, other| TraceEvent { ns, kind, state: 1, cpu: 1, task, other, tgid: 0 };
        let events = vec![
            event(5_000, TraceKind::Switch, 0, 7),
            event(7_000, TraceKind::Waking, 8, 7),
            event(8_000, TraceKind::Switch, 7, 8),
        ];
        let mut text = Vec::new();
        write_perfetto(&TraceFile { events, lost: Some(0), names: BTreeMap::new() }, &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let phases: Vec<_> = events.iter().map(|event| event["ph"].as_str().unwrap()).collect();
        assert_eq!(phases, ["M", "C", "i", "C", "X"]);
        assert_eq!((&events[2]["name"], &events[4]["dur"]), (&json!("wakes thread 8"), &json!(3.0)));
        assert_eq!((&events[1]["args"]["tasks"], &events[3]["args"]["tasks"]), (&json!(1), &json!(0)));
    }
}
