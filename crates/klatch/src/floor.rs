//! `klatch floor`: the study `floor` with a loopback probe, and its history file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use klatch_record::WorkloadKind;
use klatch_report::{Ending, StudyProgress, floor_history};
use klatch_runner::Machine;
use klatch_study::compare::{FloorHistory, FloorProbe};
use klatch_study::{StopRule, Store, load, run_study};

use crate::INTERRUPTED;
use crate::next;
use crate::output::{print, print_error, print_line, print_text};
use crate::platforms::PlatformArgs;
use crate::study;

/// Starts of each server by default. With fewer, intervals are too wide to be useful.
const BLOCKS: u32 = 3;

/// Compare servers and crowd with the cost of the loopback itself
///
/// Runs the study `floor`, `floor-rr` or `floor-web` with server and crowd on one CPU each. The load generators wrk and redis-benchmark run
/// beside the crowd where they are installed. Probes the loopback before each start. Appends the result to
/// the history as one line of JSON.
///
/// Exit status: 0 measured, 2 could not measure.
#[derive(Args)]
pub(crate) struct Floor {
    /// Workload: chat, rr or web
    #[arg(long, default_value_t = WorkloadKind::Chat, value_name = "WORKLOAD")]
    workload: WorkloadKind,
    /// Starts of each server; intervals need two
    #[arg(long, default_value_t = BLOCKS, value_name = "N", value_parser = crate::quantity::whole::<1, 100>)]
    blocks: u32,
    /// Cells to run: those with one of these texts in the name
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Seed of the random order of visits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder)]
    out: PathBuf,
    /// File to append the result to [default: bench/history/floor.jsonl, floor-rr.jsonl or floor-web.jsonl]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Floor {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let name = match self.workload {
            WorkloadKind::Chat => "floor",
            WorkloadKind::Rr => "floor-rr",
            WorkloadKind::Web => "floor-web",
            kind if kind.has_database() => {
                anyhow::bail!("workload {kind} has no floor: a probe would need the database's work as well")
            }
            kind => anyhow::bail!("workload {kind} has no floor of the loopback"),
        };
        let history =
            self.history.unwrap_or_else(|| PathBuf::from("bench/history").join(name).with_extension("jsonl"));
        // After minutes of measuring it would be too late.
        let history = FloorHistory::open(history)?;
        let file = load(name)?;
        let mut plan = file.measured(&study::base(&self.platforms, &self.out), self.seed)?;
        if !self.only.is_empty() {
            plan.cells.retain(|cell| self.only.iter().any(|only| cell.id.contains(only.as_str())));
            anyhow::ensure!(
                !plan.cells.is_empty(),
                "no cell has one of {} in its name; klatch study {name} --dry-run lists the cells",
                self.only.join(", ")
            );
        }
        plan.rules.stop = StopRule::Trials(self.blocks);
        let store = Store::begin(&self.out, &plan.head.name, file.text(), self.seed)?;
        let all = crate::interrupt::interruptible_processes()?;
        let mut probe = FloorProbe::new(Machine { processes: &all }).with_clients(&all);
        let mut display = StudyProgress::new(self.json);
        let done = run_study(&plan, &store, &mut probe, |event| display.update(event).iter().for_each(print));
        display.end(done.is_ok());
        if all.interrupted() {
            let folder = store.folder().display();
            print_error(format_args!("klatch: interrupted; the records of finished runs stay in {folder}"));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let result = probe.finish(&done?)?;
        if self.json {
            print_line(serde_json::to_string(&result)?);
        } else {
            print_text(format_args!("\n{}", klatch_report::floor(&result)));
        }
        history.append(&result).context("the result is above and not in the history")?;
        if !self.json {
            let report = floor_history(history.path(), std::slice::from_ref(&result));
            let next = match self.blocks < BLOCKS {
                true => next::again(&[("--blocks", &BLOCKS.to_string())]),
                false => next::words(&["klatch", "report", &history.path().display().to_string()]),
            };
            let places = vec![("results", store.folder().to_owned()), ("history", history.path().to_owned())];
            next::print_ending(Ending { answer: report.answer, places, next });
        }
        Ok(ExitCode::SUCCESS)
    }
}
