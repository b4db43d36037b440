//! The commands.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use klatch_simulator::Costs;
use serde_json::json;

use crate::calibrate::{Fit, calibrate};
use crate::costs::CostArgs;
use crate::papers::{SimulatedResult, load, page, simulated_results};
use crate::simulated::{Computed, simulate_all};
use crate::speed::Speed;

/// Published results of 2000 to 2005 beside Klatch's
#[derive(Parser)]
#[command(name = "klatch-research", version, max_term_width = 110)]
struct Research {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print research/papers.md, which is made from the files in research/papers
    Page(Page),
    /// Simulate the published results that the simulator predicts; one minute
    ///
    /// Exit status: 0 simulated, 1 if a calibration point is outside its band, 2 if the costs are not frozen.
    Papers(Papers),
    /// Fit the calibrated costs, each to the published result that it names
    ///
    /// Predictions accept the fitted costs only after their hash is committed.
    Calibrate(Calibrate),
    /// Measure how fast the simulator is on this machine, and append that to a history
    Speed(Speed),
}

#[derive(Args)]
struct Page {
    /// File for the page [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct Papers {
    #[command(flatten)]
    costs: CostArgs,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Calibrate {
    #[command(flatten)]
    costs: CostArgs,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
    /// File for the fitted costs
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The command line, for parsing without running anything.
#[must_use]
pub fn command_line() -> clap::Command {
    Research::command()
}

/// Runs the command of this process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command_line().get_matches();
    let command = Research::from_arg_matches(&arguments).unwrap_or_else(|error| error.exit()).command;
    let status = match command {
        Command::Page(page) => page.execute(),
        Command::Papers(papers) => papers.execute(),
        Command::Calibrate(calibrate) => calibrate.execute(),
        Command::Speed(speed) => speed.execute(),
    };
    status.unwrap_or_else(|error| {
        eprintln!("klatch-research: {error:#}");
        ExitCode::from(2)
    })
}

/// Writes a line to standard output.
pub(crate) fn print_line(line: impl std::fmt::Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("cannot write to standard output")
}

fn save(text: &str, path: &std::path::Path) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

impl Page {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let page = page(&load()?);
        match &self.out {
            Some(path) => save(&page, path)?,
            None => print_line(page.trim_end())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Papers {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let papers = load()?;
        let published = simulated_results(&papers);
        let computed = simulate_all(&self.costs.read()?.0)?;
        if self.json {
            print_line(json!({ "kind": "simulated", "rows": computed }))?;
        } else {
            print_line(table(&published, &computed))?;
        }
        let points: Vec<u32> =
            published.iter().filter(|result| result.calibrated).map(|result| result.number).collect();
        let missed = computed.iter().any(|row| !row.holds && points.contains(&row.number));
        Ok(ExitCode::from(u8::from(missed)))
    }
}

/// The published results beside the simulated ones, and how many of them are within their bands.
fn table(published: &[&SimulatedResult], computed: &[Computed]) -> String {
    let mut table = plain_table(&["", "published", "", "band", "simulated", ""]);
    let mut counts = [(0, 0), (0, 0)];
    for result in published {
        let Some(row) = computed.iter().find(|row| row.number == result.number) else { continue };
        let (within, all) = &mut counts[usize::from(result.calibrated)];
        *within += u32::from(row.holds);
        *all += 1;
        let verdict = if row.holds { "within" } else { "outside" };
        let verdict = format!("{verdict}{}", if result.calibrated { " (calibrated)" } else { "" });
        let number = result.number.to_string();
        table.add_row([
            &number,
            &result.quantity,
            &result.published,
            &result.band,
            &row.simulated,
            verdict.as_str(),
        ]);
    }
    let [(predicted, predictions), (met, points)] = counts;
    format!(
        "{}\n\nsimulated, not measured: {met} of {points} calibration points and {predicted} of {predictions} predictions are \
         within their bands",
        table.trim_fmt()
    )
}

impl Calibrate {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let (costs, text) = self.costs.read()?;
        let (fitted, fits) = calibrate(&costs);
        if self.json {
            print_line(json!({ "kind": "simulated", "fits": fits, "hash": fitted.hash() }))?;
        } else {
            print_line(fits_table(&fits, &fitted))?;
        }
        if let Some(path) = &self.out {
            save(&fitted.write_into(&text), path)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The fitted costs beside the results that they were fitted to.
fn fits_table(fits: &[Fit], fitted: &Costs) -> String {
    let mut table = plain_table(&["cost", "value", "published", "reached"]);
    for fit in fits {
        let edge = if fit.at_edge { "  at the end of its range: the point cannot be met" } else { "" };
        table.add_row([
            fit.cost.to_owned(),
            fit.value.to_string(),
            format!("{} to {}", rounded(fit.target.0), rounded(fit.target.1)),
            format!("{}{edge}", rounded(fit.reached)),
        ]);
    }
    for column in 1..=3 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{}\n\nsimulated, not measured\nhash of the costs: {}", table.trim_fmt(), fitted.hash())
}

/// A share with three digits, a rate without decimals.
fn rounded(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.0}") }
}

fn plain_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(head);
    table
}
