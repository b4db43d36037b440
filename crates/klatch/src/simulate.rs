//! `klatch simulate`: a machine with any number of CPUs under the schedulers of history, simulated.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use klatch_platforms::Setting;
use klatch_report::{
    html, simulated_fits, simulated_papers, simulated_run, simulated_scaling, simulated_scaling_table,
};
use klatch_simulator::{
    Cell, ChatSpec, Costs, Hardware, LocksSpec, Role, SchedulerSpec, Topology, Verdict, Workload, calibrate,
    papers, scaling, simulate,
};
use serde_json::json;

use crate::output::{print, print_error, print_line};
use crate::report::save;

/// Simulate a machine of many CPUs under the schedulers of history
///
/// Nothing in its results is measured. The policies are the lines that the BPF schedulers run; the prices of what they do are in
/// `klatch simulate costs`, each with its source.
#[derive(Args)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Compare published results of 2000 to 2005 with simulated ones
    ///
    /// Exit status: 0 compared, 1 if a calibration point is outside its band, 2 if the costs are not frozen.
    Papers(CostArgs),
    /// Simulate a chat, and print where the CPU time went
    Run(Run),
    /// Simulate threads that contend for Java monitors
    Locks(Locks),
    /// Simulate a chat on more and more CPUs under the schedulers that the papers compared
    Scaling(Scaling),
    /// Print the costs with their sources
    Costs,
    /// Fit the calibrated costs, each to the published result that it names
    ///
    /// Predictions accept the fitted costs only after their hash is committed.
    Calibrate(Calibrate),
}

#[derive(Args)]
struct CostArgs {
    /// Costs to use [default: those of `klatch simulate costs`]
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
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
    #[command(flatten)]
    machine: MachineArgs,
    /// Rooms of 20 users with four threads each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=2000))]
    rooms: u16,
    /// Messages that each user sends
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
    /// Heap of each of the two processes, in MB
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    heap_mb: u64,
}

#[derive(Args)]
struct Scaling {
    /// Numbers of CPUs, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 6, 8], value_name = "N,…",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    cpus: Vec<u16>,
    /// Rooms of 20 users with four threads each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=2000))]
    rooms: u16,
    /// Messages that each user sends
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
    /// File for a report with charts
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    costs: CostArgs,
}

#[derive(Args)]
struct Locks {
    #[command(flatten)]
    machine: MachineArgs,
    /// Threads of the one process
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Monitors, each as likely as the others
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    locks: u16,
    /// Mean CPU time between two critical sections, in µs
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    think_us: u64,
    /// Mean CPU time of a critical section, in µs
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    hold_us: u64,
    /// Critical sections of each thread
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..=1_000_000))]
    count: u64,
    /// Let blocked threads wait in a futex, not for a signal
    #[arg(long)]
    futex: bool,
}

#[derive(Args)]
struct MachineArgs {
    /// Scheduler: fifo, goodness, multiqueue, o1 or shards
    #[arg(long, default_value = "goodness", value_name = "NAME")]
    scheduler: String,
    /// Knob of the scheduler; a wrong one is answered with all of them
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// CPUs, as `8 cpus` or `2 nodes x 8 llcs x 16 cores x 2 threads`
    #[arg(long, default_value = "8 cpus", value_name = "TOPOLOGY")]
    machine: Topology,
    /// Seed of the run; equal seeds give equal results
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    costs: CostArgs,
}

impl Simulate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Papers(costs) => costs.papers(),
            Action::Run(run) => {
                let chat = ChatSpec { rooms: run.rooms.into(), count: run.count, heap_mb: run.heap_mb };
                run.machine.run(Workload::Chat(chat))
            }
            Action::Locks(locks) => {
                let spec = LocksSpec {
                    threads: locks.threads.into(),
                    locks: locks.locks.into(),
                    think_us: locks.think_us,
                    hold_us: locks.hold_us,
                    sections: locks.count,
                    futex: locks.futex,
                };
                locks.machine.run(Workload::Locks(spec))
            }
            Action::Scaling(scaling) => scaling.execute(),
            Action::Costs => {
                print(Costs::pentium_iii_text());
                Ok(ExitCode::SUCCESS)
            }
            Action::Calibrate(calibrate) => calibrate.execute(),
        }
    }
}

impl Scaling {
    fn execute(self) -> anyhow::Result<ExitCode> {
        let cpus: Vec<usize> = self.cpus.iter().map(|&cpus| cpus.into()).collect();
        anyhow::ensure!(cpus.is_sorted_by(|a, b| a < b), "--cpus: the numbers must be ascending");
        let chat = ChatSpec { rooms: self.rooms.into(), count: self.count, heap_mb: 64 };
        let rows = scaling(&self.costs.read()?.0, &cpus, chat);
        let list = cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let command =
            format!("klatch simulate scaling --cpus {list} --rooms {} --count {}", self.rooms, self.count);
        let report = simulated_scaling(&rows, &command);
        if self.costs.json {
            print(klatch_report::json(&report));
        } else {
            print(simulated_scaling_table(&rows));
        }
        if let Some(path) = &self.report {
            save(&html(&report)?, path)?;
            print_error(format_args!("klatch: report written to {}", path.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl CostArgs {
    /// The costs and their text.
    fn read(&self) -> anyhow::Result<(Costs, String)> {
        let Some(path) = &self.costs else {
            return Ok((Costs::pentium_iii(), Costs::pentium_iii_text().to_owned()));
        };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let costs = Costs::parse(&text).with_context(|| path.display().to_string())?;
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

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    print_error(format_args!("klatch: costs written to {}", path.display()));
    Ok(())
}

impl MachineArgs {
    fn run(self, work: Workload) -> anyhow::Result<ExitCode> {
        let mut scheduler = SchedulerSpec::named(&self.scheduler)?;
        for knob in &self.knobs {
            scheduler = scheduler.with(&knob.name, &knob.value)?;
        }
        let hardware = Hardware { topology: self.machine, mhz: 700, cache_bytes: 2 << 20, line_bytes: 32 };
        let cell = Cell { scheduler, hardware, work, placement: Vec::new(), seed: self.seed };
        let outcome = simulate(&cell, &self.costs.read()?.0);
        if self.costs.json {
            let messages_per_s = outcome.messages_per_s();
            print_line(json!({
                "kind": "simulated", "scheduler": self.scheduler, "machine": self.machine.to_string(),
                "messages_per_s": messages_per_s, "outcome": outcome,
            }));
        } else {
            print(simulated_run(&outcome));
        }
        Ok(ExitCode::SUCCESS)
    }
}
