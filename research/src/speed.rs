//! Events per second of the simulator itself, measured, with a history.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use klatch_simulator::{Cell, Costs, Hardware, Workload, simulate};
use serde_json::json;

use crate::command::print_line;

/// Scheduler, machine, workload and one of its settings.
const CELLS: [(&str, &str, &str, (&str, &str)); 5] = [
    ("goodness", "1 cpu", "chat", ("rooms", "10")),
    ("goodness", "8 cpus", "chat", ("rooms", "10")),
    ("multiqueue", "8 cpus", "chat", ("rooms", "10")),
    ("o1", "8 cpus", "chat", ("rooms", "10")),
    ("shards:cpus=8", "4 nodes x 32 llcs x 8 cores", "hackbench", ("groups", "256")),
];

#[derive(Args)]
pub(crate) struct Speed {
    /// File to append the result to, as a line of JSON
    #[arg(long, default_value = "bench/history/simulator.jsonl", value_name = "FILE")]
    history: PathBuf,
}

impl Speed {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        let costs = Costs::pentium_iii();
        let mut rows = Vec::new();
        for (scheduler, machine, work, (setting, value)) in CELLS {
            let cell = Cell {
                scheduler: scheduler.parse()?,
                hardware: Hardware::new(&costs, machine.parse()?),
                work: Workload::named(work)?.with(setting, value)?,
                placement: Vec::new(),
                seed: 1,
            };
            let started = Instant::now();
            let outcome = simulate(&cell, &costs);
            let elapsed_s = started.elapsed().as_secs_f64();
            // The events of the first tenth are not counted, but take time.
            let events_per_s = outcome.counts.events as f64 / 0.9 / elapsed_s;
            print_line(format_args!(
                "{:>6.1} M events/s  {scheduler} on {machine}, {work} with {setting} {value}",
                events_per_s / 1e6
            ))?;
            rows.push(json!({
                "scheduler": scheduler, "machine": machine, "work": work, "events": outcome.counts.events,
                "events_per_s": events_per_s,
            }));
        }
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let line = json!({ "kind": "measured", "measured_at": now, "commit": commit(), "rows": rows });
        let append = || {
            self.history.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            writeln!(OpenOptions::new().create(true).append(true).open(&self.history)?, "{line}")
        };
        append().with_context(|| format!("cannot append to {}", self.history.display()))?;
        print_line(format_args!("history: {}", self.history.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The commit of the source, with `-dirty` if it has changed since; `None` without git.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let described = git.args(["describe", "--always", "--dirty", "--abbrev=12"]).output().ok()?;
    let text = String::from_utf8(described.stdout).ok()?;
    described.status.success().then(|| text.trim().to_owned())
}
