//! `klatch simulate`: a machine with any number of CPUs under the schedulers of history, simulated.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_instruments::{TraceEvent, TraceFile, TraceKind};
use klatch_platforms::Setting;
use klatch_record::{Replay, ReplayStep, error_chain, save_json};
use klatch_report::{simulated_claims, simulated_fits, simulated_papers, simulated_run, simulated_study};
use klatch_simulator::{
    Cell, Costs, Hardware, Recorded, Role, ScheduleEvent, Scheduled, SchedulerSpec, Topology, Verdict,
    Workload, calibrate, papers, simulate_recorded,
};
use klatch_study::{Simulator, load_simulated, sensitivity, shipped_simulated};
use serde_json::json;

use crate::computed::{ComputedArgs, outline};
use crate::output::{print, print_error, print_line};
use crate::version::build;

/// Simulate a machine of many CPUs under the schedulers of history
///
/// With a study, simulates all its cells and writes a report. Nothing in the results is measured. The policies are the lines that
/// the BPF schedulers run; the prices of what they do are in `klatch simulate costs`, each with its source.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    study: StudyArgs,
}

#[derive(Args)]
struct StudyArgs {
    #[command(flatten)]
    computed: ComputedArgs,
    /// Also simulate every cell with each uncertain cost at both ends of its range, and show which claims hold for all of them
    #[arg(long)]
    sensitivity: bool,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Compare published results of 2000 to 2005 with simulated ones
    ///
    /// Exit status: 0 compared, 1 if a calibration point is outside its band, 2 if the costs are not frozen.
    Papers(CostArgs),
    /// Simulate one workload, and print where the CPU time went
    Run(Run),
    /// Print costs with their sources
    Costs {
        /// Machine that they describe: pentium-iii or epyc-milan
        #[arg(default_value = Costs::NAMES[0], value_name = "NAME")]
        name: String,
    },
    /// Fit the calibrated costs, each to the published result that it names
    ///
    /// Predictions accept the fitted costs only after their hash is committed.
    Calibrate(Calibrate),
}

#[derive(Args)]
struct CostArgs {
    /// Costs to use: pentium-iii, epyc-milan, or a file like `klatch simulate costs` prints
    #[arg(long, default_value = Costs::NAMES[0], value_name = "NAME|FILE")]
    costs: String,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Calibrate {
    #[command(flatten)]
    costs: CostArgs,
    /// File for the fitted costs
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct Run {
    /// Workload: chat, locks, requests or hackbench
    #[arg(long, default_value = "chat", value_name = "NAME")]
    work: String,
    /// Replay this file of `klatch trace export --replay` instead, in the CPU times of its tasks
    #[arg(long, value_name = "FILE", conflicts_with_all = ["work", "settings"])]
    replay: Option<PathBuf>,
    /// Setting of the workload; a wrong one is answered with all of them
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,
    /// Scheduler: fifo, goodness, multiqueue, o1, shards or sleepers
    #[arg(long, default_value = "goodness", value_name = "NAME")]
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

impl Simulate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            None => self.study.execute(),
            Some(Action::Papers(costs)) => costs.papers(),
            Some(Action::Run(run)) => run.execute(),
            Some(Action::Costs { name }) => {
                print(Costs::text(&name).with_context(|| no_costs(&name))?);
                Ok(ExitCode::SUCCESS)
            }
            Some(Action::Calibrate(calibrate)) => calibrate.execute(),
        }
    }
}

impl StudyArgs {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.computed.study else {
            for (name, question) in shipped_simulated() {
                print_line(format_args!("{name:<20}{question}"));
            }
            return Ok(ExitCode::SUCCESS);
        };
        let host = || this_machine().map_err(|error| error_chain(error.as_ref()));
        let mut plan = load_simulated(name, build(), &host)?;
        self.computed.select(&mut plan)?;
        if !self.json {
            print_line(outline(&plan));
        }
        if self.computed.dry_run {
            plan.cells.iter().for_each(|cell| print_line(format_args!("  {}", cell.id)));
            return Ok(ExitCode::SUCCESS);
        }
        let store = self.computed.store(&plan)?;
        let study = self.computed.run(&plan, &store, &Simulator, self.json)?;
        if self.sensitivity {
            let claims = sensitivity(&plan, &study.result, self.computed.jobs());
            save_json(&claims, &store.folder().join("sensitivity.json"))?;
            if !self.json {
                print_line(format_args!("\n{}", simulated_claims(&claims)));
            }
        }
        let report = crate::report::save_report(store.folder())?;
        if self.json {
            print_line(serde_json::to_string(&study.result)?);
        } else {
            print_line(format_args!("\n{}", simulated_study(&study.result)));
            print_line(format_args!("results: {}\nreport: {}", store.folder().display(), report.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl CostArgs {
    /// The costs and their text.
    fn read(&self) -> anyhow::Result<(Costs, String)> {
        let text = match Costs::text(&self.costs) {
            Some(text) => text.to_owned(),
            None if !self.costs.contains(['.', '/']) => anyhow::bail!(no_costs(&self.costs)),
            None => {
                std::fs::read_to_string(&self.costs).with_context(|| format!("cannot read {}", self.costs))?
            }
        };
        let costs = Costs::parse(&text).with_context(|| self.costs.clone())?;
        Ok((costs, text))
    }

    fn papers(&self) -> anyhow::Result<ExitCode> {
        let rows = papers(&self.read()?.0)?;
        if self.json {
            print_line(json!({ "kind": "simulated", "rows": rows }));
        } else {
            print(simulated_papers(&rows));
        }
        let missed = rows.iter().any(|row| row.role == Role::Calibration && row.verdict != Verdict::Within);
        Ok(ExitCode::from(u8::from(missed)))
    }
}

impl Calibrate {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let (costs, text) = self.costs.read()?;
        let (fitted, fits) = calibrate(&costs);
        if self.costs.json {
            print_line(json!({ "kind": "simulated", "fits": fits, "hash": fitted.hash() }));
        } else {
            print(simulated_fits(&fits));
            print_line(format_args!("hash of the costs: {}", fitted.hash()));
        }
        if let Some(path) = &self.out {
            write(path, &fitted.write_into(&text))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn no_costs(name: &str) -> String {
    format!("there are no costs {name}; there are {}, or name a file", Costs::NAMES.join(" and "))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    print_error(format_args!("klatch: costs written to {}", path.display()));
    Ok(())
}

impl Run {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let mut scheduler = SchedulerSpec::named(&self.scheduler)?;
        for knob in &self.knobs {
            scheduler = scheduler.with(&knob.name, &knob.value)?;
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
            Workload::Trace(replay) => measured_waits(replay),
            _ => String::new(),
        };
        let topology = topology(&self.machine)?;
        let costs = self.costs.read()?.0;
        let hardware = Hardware::new(&costs, topology);
        let cell = Cell { scheduler, hardware, work, placement: Vec::new(), seed: self.seed };
        let record_ms = if self.trace.is_some() { 1_000 } else { 0 };
        let recorded = simulate_recorded(&cell, &costs, record_ms);
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
            print(simulated_run(&outcome, unit) + &measured);
        }
        Ok(ExitCode::SUCCESS)
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
    Ok(replay)
}

/// What the trace measured, for comparison.
fn measured_waits(replay: &Replay) -> String {
    let shown = |share: f64| replay.wait_us(share).map_or("–".to_owned(), |us| format!("{us:.1} µs"));
    format!(
        "\nin the trace, measured      run-queue latency p50 {}, p90 {}, p99 {}, p99.9 {}, on {} CPUs\n",
        shown(0.5),
        shown(0.9),
        shown(0.99),
        shown(0.999),
        replay.cpus
    )
}

fn topology(text: &str) -> anyhow::Result<Topology> {
    match text {
        "host" => this_machine(),
        path if path.ends_with(".json") => {
            let json = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            Topology::from_lscpu(&json).with_context(|| path.to_owned())
        }
        line => Ok(line.parse()?),
    }
}

/// The topology of the machine that this program runs on.
fn this_machine() -> anyhow::Result<Topology> {
    let listing = Command::new("lscpu").args(["-e", "-J"]).output();
    let listing = listing.context("cannot run lscpu; it belongs to the package util-linux")?;
    anyhow::ensure!(listing.status.success(), "lscpu -e -J failed with {}", listing.status);
    Ok(Topology::from_lscpu(&String::from_utf8_lossy(&listing.stdout))?)
}
