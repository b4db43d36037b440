//! `klatch simulate run`: one simulated run, its trace, and recorded schedules as work.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use klatch_platforms::Setting;
use klatch_record::Replay;
use klatch_report::{
    Ending, MeasuredWaits, Progress, described, simulated_answer, simulated_run, simulated_trace,
};
use klatch_simulator::{Cell, Hardware, Recorded, SchedulerSpec, Workload, simulate_recorded};
use serde_json::json;

use super::{CostArgs, topology};
use crate::interrupt::{NOTHING_KEPT, end_at_once};
use crate::next;
use crate::output::{check_can_write, print_line, print_text};

const USUAL_SCHEDULER: &str = "goodness";

fn schedulers() -> String {
    format!("Scheduler: {}", SchedulerSpec::NAMES.join(", "))
}

#[derive(Args)]
pub(super) struct Run {
    /// Workload: chat, locks, requests or hackbench
    #[arg(long, default_value = "chat", value_name = "NAME")]
    work: String,
    /// Replay this file of `klatch trace export --replay` instead, in the CPU times of its tasks
    #[arg(long, value_name = "FILE", conflicts_with_all = ["work", "settings"])]
    replay: Option<PathBuf>,
    /// Setting of the workload; a wrong one is answered with all of them
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,
    #[arg(long, default_value = USUAL_SCHEDULER, value_name = "NAME", help = schedulers())]
    scheduler: String,
    /// Knob of the scheduler; a wrong one is answered with all of them
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// CPUs, as `8 cpus` or `2 nodes x 8 llcs x 16 cores x 2 threads`, a file with the output of `lscpu -e -J`, or `host`
    #[arg(long, default_value = "8 cpus", value_name = "TOPOLOGY")]
    machine: String,
    /// New file for a trace of the first simulated second; `klatch trace` reads it
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Seed of the run; equal seeds give equal results
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    costs: CostArgs,
}

impl Run {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let mut scheduler = SchedulerSpec::named(&self.scheduler)?;
        for knob in &self.knobs {
            scheduler = scheduler.with(&knob.name, &knob.value)?;
        }
        if let Some(path) = &self.trace {
            check_can_write(path)?;
            anyhow::ensure!(!path.exists(), "cannot write {}: it exists", path.display());
        }
        let mut work = match &self.replay {
            None => Workload::named(&self.work)?,
            Some(path) => Workload::Trace(Arc::new(replay(path)?)),
        };
        for setting in &self.settings {
            work = work.with(&setting.name, &setting.value)?;
        }
        let (name, unit) = (work.name(), work.unit());
        let measured = match &work {
            Workload::Trace(replay) => Some(MeasuredWaits {
                cpus: replay.cpus,
                us: [0.5, 0.9, 0.99, 0.999].map(|share| replay.wait_us(share)),
            }),
            _ => None,
        };
        let topology = topology(&self.machine)?;
        let described = match self.machine.contains("cpu") || self.machine.contains(" x ") {
            true => self.machine.clone(),
            false => topology.to_string(),
        };
        let costs = self.costs.read()?;
        let costs_name = self.costs.costs.clone();
        let hardware = Hardware::new(&costs, topology);
        let cell = Cell { scheduler, hardware, work, placement: Vec::new(), seed: self.seed };
        let record_ms = if self.trace.is_some() { 1_000 } else { 0 };
        end_at_once(NOTHING_KEPT.to_owned())?;
        let waiting = Progress::waiting(&format!("simulating {name} under {}", self.scheduler));
        let recorded = simulate_recorded(&cell, &costs, record_ms);
        drop(waiting);
        if let Some(path) = &self.trace {
            save_trace(path, &recorded)?;
        }
        let outcome = recorded.outcome;
        if self.costs.json {
            let messages_per_s = outcome.messages_per_s();
            print_line(json!({
                "kind": "simulated", "work": name, "scheduler": self.scheduler, "machine": topology.to_string(),
                "messages_per_s": messages_per_s, "outcome": outcome,
            }));
        } else {
            print_text(self.conditions(name, &described, &costs_name));
            print_text(simulated_run(&outcome, unit, measured.as_ref()));
            let answer = simulated_answer(&outcome, unit, &self.scheduler, &described);
            let places = self.trace.iter().map(|path| ("trace", path.clone())).collect();
            next::print_ending(Ending { answer, places, next: self.next() });
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Run {
    /// What is simulated, before the result.
    fn conditions(&self, work: &str, machine: &str, costs: &str) -> String {
        let with = |settings: &[Setting]| match settings {
            [] => String::new(),
            set => format!(" with {}", set.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        };
        let (of_work, of_scheduler) = (with(&self.settings), with(&self.knobs));
        let scheduler = &self.scheduler;
        described([
            ("machine", machine.to_owned()),
            ("scheduler", format!("{scheduler}{of_scheduler}")),
            ("costs", format!("{costs}; klatch simulate costs {costs} prints them")),
            ("workload", format!("{work}{of_work}, seed {}", self.seed)),
        ]) + "\n"
    }

    /// The trace that was written, or the same run under another scheduler.
    fn next(&self) -> Vec<String> {
        let other = if self.scheduler == "o1" { USUAL_SCHEDULER } else { "o1" };
        match &self.trace {
            Some(path) => next::words(&["klatch", "trace", "summary", &path.display().to_string()]),
            None => next::again(&[("--scheduler", other)]),
        }
    }
}

fn save_trace(path: &Path, recorded: &Recorded) -> anyhow::Result<()> {
    let cannot_write = |error| anyhow::anyhow!("cannot write {}: {error}", path.display());
    let out = std::fs::File::create_new(path).map_err(cannot_write)?;
    simulated_trace(recorded).write(std::io::BufWriter::new(out)).map_err(cannot_write)
}

fn replay(path: &Path) -> anyhow::Result<Replay> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let replay: Replay = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    replay.check().with_context(|| path.display().to_string())?;
    Ok(replay)
}
