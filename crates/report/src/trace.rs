//! Traces of scheduler events as text, and the trace of a simulated run.

use klatch_instruments::{
    ThreadSummary, TraceEvent, TraceFile, TraceKind, TraceSummary, WaitsBy, queue_waits,
};
use klatch_record::{grouped, printable_line};
use klatch_simulator::{Recorded, ScheduleEvent, Scheduled};

use crate::number::three_digits;
use crate::table::{Column, TextTable};

/// Rows of a table of waits.
const ROWS: usize = 20;

/// Run-queue latency by group and by thread, as text.
pub fn trace_waits(trace: &TraceFile) -> String {
    let table = |title: &str, by: WaitsBy| {
        let numbers = ["count", "mean", "p50", "p99", "max", "sum"].map(Column::number);
        let mut table =
            TextTable::new([Column::name(title), Column::number("threads")].into_iter().chain(numbers));
        let rows = queue_waits(trace, by);
        for one in rows.iter().take(ROWS) {
            let times = [
                one.mean_us(),
                one.quantile_us(0.5),
                one.quantile_us(0.99),
                one.quantile_us(1.0),
                one.total_us(),
            ];
            // Programs choose the names of their threads.
            let name = printable_line(&one.name).to_string();
            let heads = [name, grouped(one.threads as u64), grouped(one.count() as u64)];
            table.row(heads.into_iter().chain(times.map(three_digits)));
        }
        let left_out = rows.len().saturating_sub(ROWS);
        let rest = if left_out > 0 { format!("and {left_out} more\n") } else { String::new() };
        (!rows.is_empty()).then(|| format!("\n{table}\n{rest}"))
    };
    let tables = [
        table("run-queue latency by group, µs", WaitsBy::Group),
        table("run-queue latency by thread, µs", WaitsBy::Thread),
    ];
    tables.into_iter().flatten().collect()
}

/// The summary of a trace as tables: events by kind, and the threads that ran longest. `None`: the trace has no events.
pub fn trace_summary(summary: Option<TraceSummary>) -> String {
    let Some(summary) = summary else { return "no events\n".to_owned() };
    let TraceSummary { length_s, cpus, kinds, lost, threads } = summary;
    let mut counts = TextTable::new([Column::name(""), Column::number("events"), Column::number("events/s")]);
    for (kind, count) in kinds {
        let per_s = (count as f64 / length_s.max(1e-9)).round() as u64;
        counts.row([kind.to_owned(), grouped(count), grouped(per_s)]);
    }
    let lost = lost.map_or("unknown: the trace was not ended".to_owned(), grouped);
    counts.row(["lost".to_owned(), lost, String::new()]);
    let mut table = TextTable::new([
        Column::name("thread"),
        Column::number("ran s"),
        Column::number("runs"),
        Column::number("waits").less(1),
        Column::number("woken").less(2),
        Column::number("moved").less(3),
    ]);
    for ThreadSummary { name, ran_s, runs, waits, woken, moved } in threads {
        let [runs, waits, woken, moved] = [runs, waits, woken, moved].map(grouped);
        table.row([name, format!("{ran_s:.6}"), runs, waits, woken, moved]);
    }
    format!("{length_s:.3} s on {cpus} CPUs\n\n{counts}\n\n{table}\n")
}

/// The events of a simulated run as a trace, with thread ids from 1 as 0 is the idle task.
pub fn simulated_trace(recorded: &Recorded) -> TraceFile {
    let thread = |task: Option<u32>| task.map_or(0, |task| task + 1);
    let event = |event: &ScheduleEvent| {
        let (kind, state, task, other) = match event.what {
            Scheduled::Switch { from, runnable, to } => {
                (TraceKind::Switch, u8::from(!runnable), thread(from), thread(to))
            }
            Scheduled::Wake { task, by } => (TraceKind::Waking, 0, thread(Some(task)), thread(by)),
        };
        TraceEvent { ns: event.ns, kind, state, cpu: event.cpu as u16, task, other, tgid: 1 }
    };
    let names = recorded.names.iter().enumerate().map(|(task, name)| (task as u32 + 1, name.clone()));
    TraceFile { events: recorded.events.iter().map(event).collect(), lost: Some(0), names: names.collect() }
}
