//! Export to Chrome's JSON trace format, which <https://ui.perfetto.dev> opens.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;

use super::file::{TraceFile, TraceKind};

/// Writes the time of each task on a CPU as a slice, and wake-ups and migrations as instant events.
///
/// # Errors
/// `out` cannot be written.
pub fn write_perfetto(trace: &TraceFile, mut out: impl Write) -> io::Result<()> {
    let start_ns = trace.events.first().map_or(0, |event| event.ns);
    let us = |ns: u64| (ns - start_ns) as f64 / 1e3;
    let mut switched_at: BTreeMap<u16, u64> = BTreeMap::new();
    writeln!(out, "{{\"traceEvents\":[")?;
    writeln!(out, "{}", json!({ "ph": "M", "pid": 0, "name": "process_name", "args": { "name": "CPUs" } }))?;
    for event in &trace.events {
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
    use super::super::file::TraceEvent;
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
        assert_eq!(events.len(), 3);
        assert_eq!((&events[1]["name"], &events[2]["dur"]), (&json!("wakes thread 8"), &json!(3.0)));
    }
}
