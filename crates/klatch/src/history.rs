//! `klatch history`: metrics over time, and between which builds they changed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_record::{METRICS, Metric};
use klatch_report::{Ending, Progress};
use klatch_study::history::{HistoryOrder, HistoryTerms, history};

use crate::interrupt::{NOTHING_KEPT, end_at_once};
use crate::next;
use crate::output::{print_error, print_line, print_text};
use crate::quantity::Percent;

/// Files left out that are named, one a line; more are counted.
const NAMED: usize = 10;

/// Show metrics over time, and between which builds they changed
///
/// Reads the records and duets in folders. Of each platform, workload and machine it shows every metric by build, and between which two
/// builds it changed. The build is --label of `klatch run` and `klatch study`; else the commit of Klatch for servers that are part of it;
/// else the day. Duets are taken together by the names of their sides (--name-a, --name-b), so that the machines may differ.
///
/// Exit status: 0 shown, 2 no result can be read.
#[derive(Args)]
pub(crate) struct History {
    /// Folders or files with results
    #[arg(required = true, value_name = "DIR")]
    results: Vec<PathBuf>,
    /// Metrics to show; a wrong name lists all [default: those that `klatch compare` has]
    #[arg(long = "metric", value_name = "NAME,…", value_delimiter = ',', value_parser = metric)]
    metrics: Vec<Metrics>,
    /// Order of the builds
    #[arg(long, value_enum, default_value_t = Order::Time)]
    order: Order,
    /// Most builds of a series; older ones are left out
    #[arg(long, default_value_t = HistoryTerms::default().points_max as u32, value_name = "N", value_parser = crate::quantity::whole::<2, 2000>)]
    last: u32,
    /// Share of the series without a change that may seem to have one
    #[arg(long, default_value = "1%", value_name = "PERCENT", value_parser = significance)]
    false_alarms: Percent,
    /// Print the history as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// When they were first measured
    Time,
    /// Paths of their results; for records of the lab, whose clock begins anew at each boot
    Path,
}

impl History {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let terms = HistoryTerms {
            metrics: self.metrics.into_iter().flat_map(|metrics| metrics.0).collect(),
            order: match self.order {
                Order::Time => HistoryOrder::Time,
                Order::Path => HistoryOrder::Path,
            },
            points_max: self.last as usize,
            significance: self.false_alarms.0 / 100.0,
        };
        end_at_once(NOTHING_KEPT.to_owned())?;
        let waiting = Progress::waiting("reading results");
        let found = history(&self.results, &terms)?;
        drop(waiting);
        for skipped in found.skipped.iter().take(NAMED) {
            print_error(format_args!("klatch: left out: {skipped}"));
        }
        if found.skipped.len() > NAMED {
            let more = found.skipped.len() - NAMED;
            print_error(format_args!("klatch: {more} more files are left out; --json names all"));
        }
        if self.json {
            print_line(serde_json::to_string(&found)?);
            return Ok(ExitCode::SUCCESS);
        }
        print_text(klatch_report::history(&found));
        let folder = self.results.first().filter(|path| path.is_dir() && self.results.len() == 1);
        next::print_ending(Ending {
            answer: klatch_report::history_answer(&found),
            next: folder.map(|folder| next::open(folder)).unwrap_or_default(),
            ..Ending::default()
        });
        Ok(ExitCode::SUCCESS)
    }
}

/// The metrics that a name means: that of each unit of work.
#[derive(Clone)]
struct Metrics(Vec<&'static Metric>);

/// The metrics with this name or alias.
///
/// # Errors
/// Records have none.
fn metric(name: &str) -> Result<Metrics, String> {
    let known: Vec<&'static Metric> = METRICS.iter().filter(|metric| metric.is_estimated()).collect();
    let means = |metric: &&'static Metric| metric.name == name || metric.aliases.contains(&name);
    let found: Vec<&'static Metric> = known.iter().copied().filter(means).collect();
    match found.is_empty() {
        true => Err(format!("no such metric of records; {}", Metric::instead_of(name, &known))),
        false => Ok(Metrics(found)),
    }
}

/// A rate of false alarms that a permutation test can keep.
///
/// # Errors
/// It is out of range, or no percentage.
fn significance(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse()?;
    match (0.1..=20.0).contains(&percent.0) {
        true => Ok(percent),
        false => Err(format!("must be 0.1 to 20 %, got {text}")),
    }
}

/// The name of a build.
///
/// # Errors
/// It is empty, or too long for a table.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let label = text.trim();
    match label.chars().count() {
        1..=80 => Ok(label.to_owned()),
        _ => Err(format!("a label has 1 to 80 characters, got {text:?}")),
    }
}
