//! `klatch simulate run`: one simulated run, its trace, and recorded schedules as work.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use klatch_instruments::{TraceEvent, TraceFile, TraceKind};
use klatch_platforms::Setting;
use klatch_record::{Replay, ReplayStep};
use klatch_report::{Ending, MeasuredWaits, Progress, described, simulated_answer, simulated_run};
use klatch_simulator::{
    Cell, Hardware, Recorded, ScheduleEvent, Scheduled, SchedulerSpec, Workload, simulate_recorded,
};
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

/// Writes a trace file, with thread ids from 1 as 0 is the idle task.
fn save_trace(path: &Path, recorded: &Recorded) -> anyhow::Result<()> {
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
    let trace = TraceFile {
        events: recorded.events.iter().map(event).collect(),
        lost: Some(0),
        names: names.collect(),
    };
    let cannot_write = |error| anyhow::anyhow!("cannot write {}: {error}", path.display());
    let out = std::fs::File::create_new(path).map_err(cannot_write)?;
    trace.write(std::io::BufWriter::new(out)).map_err(cannot_write)
}

fn replay(path: &Path) -> anyhow::Result<Replay> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let replay: Replay = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let tasks = replay.tasks.len() as u32;
    let steps = replay.tasks.iter().flat_map(|task| &task.steps);
    let woken = steps.filter_map(|step| match step {
        ReplayStep::Wake(task) => Some(*task),
        ReplayStep::Run(_) | ReplayStep::Sleep => None,
    });
    let unknown = woken.chain(replay.outside.iter().map(|(_, task)| *task)).find(|task| *task >= tasks);
    if let Some(task) = unknown {
        anyhow::bail!("{}: task {task} is woken, and there are {tasks} tasks", path.display());
    }
    anyhow::ensure!(
        replay.wake_ups() > 0,
        "{}: no task is woken in it, and wake-ups are what a replay counts",
        path.display()
    );
    Ok(replay)
}
