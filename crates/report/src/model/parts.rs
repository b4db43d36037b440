//! The parts of a report other than charts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use klatch_record::{CellStatus, Estimate, Judgement, grouped};

use crate::number::time;

/// Whether the answer is reliable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The verdict as one of four values.
    pub standing: Standing,
    /// The verdict in words.
    pub text: String,
}

/// The usable part of the planned measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// All cells are usable.
    Valid,
    /// All cells are usable, but some intervals are wider than requested.
    Wide,
    /// Some cells failed, could not run, or are not finished.
    Partly,
    /// No cell is usable.
    Nothing,
    /// Nothing was measured: the numbers are those of a simulation.
    Simulated,
}

/// A judged requirement, with the cell that it concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Name of the cell, or of both sides of a pair; `null` if there is only one.
    pub cell: Option<String>,
    /// The requirement, its numbers and its status.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// A warning, with the cells that it concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarningRow {
    /// The observation that caused the warning, in words.
    pub message: String,
    /// Advice to the reader.
    pub advice: String,
    /// Labels of the cells; the message is that of the first.
    pub cells: Vec<String>,
}

/// The result of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellRow {
    /// Name of the cell in the study.
    pub id: String,
    /// Name of the cell in charts, made of its values on the axes.
    pub label: String,
    /// The value on every axis, by axis name.
    pub at: BTreeMap<String, String>,
    /// The server's class: `classic`, `open`, or empty if unknown.
    pub class: String,
    /// Whether the estimates are usable.
    pub status: CellStatus,
    /// The status in words, with the cause of a failure.
    pub verdict: String,
    /// Number of trials behind the estimates.
    pub trials: u32,
    /// Estimates by the name of the metric.
    pub estimates: BTreeMap<String, Estimate>,
    /// Numbers of the footnotes about this cell.
    pub footnotes: Vec<u32>,
}

/// A table of a section: a column of names, then columns of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionTable {
    /// The heading above the table.
    pub title: String,
    /// Titles of the columns.
    pub head: Vec<String>,
    /// The rows, with a text for each column.
    pub rows: Vec<Vec<String>>,
    /// Whether the last column is prose, as the first one is, and not numbers.
    pub last_is_prose: bool,
}

impl SectionTable {
    /// The class of a column in the style of the page.
    pub(crate) fn class(&self, column: usize) -> &'static str {
        let is_last = column + 1 == self.head.len();
        if column == 0 || (is_last && self.last_is_prose) { "text" } else { "number" }
    }
}

/// One percentile of the latency in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileRow {
    /// Label of the cell.
    pub cell: String,
    /// Name of the cell in the study.
    pub id: String,
    /// The percentile, above 0 and below 100.
    pub percentile: f64,
    /// The latency, µs; `null` if there are too few samples.
    pub latency_us: Option<f64>,
    /// Number of latencies in all trials of the cell.
    pub samples: u64,
    /// Number that this percentile needs.
    pub samples_needed: u64,
}

impl PercentileRow {
    /// The latency with its unit, or the reason why there is none.
    pub(crate) fn value(&self) -> String {
        percentile_value(self.latency_us, self.samples, self.samples_needed)
    }
}

/// A percentile of latency in words.
pub(crate) fn percentile_value(latency_us: Option<f64>, samples: u64, needed: u64) -> String {
    match latency_us {
        Some(us) => time(us),
        None => format!("needs {} samples, had {}", grouped(needed), grouped(samples)),
    }
}

/// The ratios of one side to the other in one cell that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioTable {
    /// Label of the cell; empty for single runs.
    pub cell: String,
    /// Name of A, the base of the ratios.
    pub a: String,
    /// Name of B.
    pub b: String,
    /// Estimator, unit and pairing in words.
    pub method: String,
    /// One row for each metric.
    pub rows: Vec<RatioRow>,
    /// What A's and B's columns are: `median`, or `mean` for geometric means.
    pub center: String,
    /// Other differences between the sides, and what was left out.
    pub caveats: Vec<String>,
}

impl RatioTable {
    /// The sides, and the cell if there are several.
    pub(crate) fn heading(&self) -> String {
        let sides = format!("{} against {}", self.b, self.a);
        if self.cell.is_empty() { sides } else { format!("{sides}: {}", self.cell) }
    }
}

/// The ratio of B to A in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioRow {
    /// Name of the metric, with the unit last.
    pub metric: String,
    /// Title of the metric for readers.
    pub name: String,
    /// Median or geometric mean of A's values.
    pub a: Option<f64>,
    /// Median or geometric mean of B's values.
    pub b: Option<f64>,
    /// B / A with its interval; `null` if the data do not allow one.
    pub ratio: Option<Number>,
    /// The conclusion in words: how much more or less B has than A.
    pub conclusion: String,
}

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Number {
    /// The estimate: B / A of the means or medians.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// One run with its main results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRow {
    /// Position in the order of all starts, from 1.
    pub order: u32,
    /// Label of the run's cell.
    pub cell: String,
    /// Role and number, such as `trial 2`.
    pub name: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started_at: String,
    /// Messages sent and received per second.
    pub messages_per_s: f64,
    /// CPU time of server and crowd per message, µs; `null` unless both were measured.
    pub cpu_us_per_message: Option<f64>,
    /// 99th percentile of the delivery latency, µs.
    pub latency_p99_us: Option<f64>,
    /// `valid`, `invalid` or `unknown`.
    pub verdict: String,
    /// The reasons why the run is not valid.
    pub reasons: Vec<String>,
    /// Name of the run's environment.
    pub environment: String,
    /// Path of the record, relative to its source.
    pub record: String,
}

/// One property of the environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Name of the property.
    pub name: String,
    /// The value in each environment.
    pub values: Vec<String>,
    /// Whether the environments differ in this property.
    pub differs: bool,
}

/// A command line with its purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Command {
    /// Purpose of the command.
    pub what: String,
    /// The command line, quoted for a shell.
    pub line: String,
}

/// An instrument that was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstrumentRow {
    /// Name of the instrument.
    pub name: String,
    /// Its mode of operation, or the reason why it did not work.
    pub state: String,
    /// Number of runs that it observed.
    pub runs: u32,
    /// Mean CPU time of its BPF programs as a share of that of server and crowd, 0..=1: a lower bound of its cost.
    pub share_of_cpu: Option<f64>,
    /// Kernel memory of its BPF maps, bytes.
    pub memory_bytes: Option<u64>,
}

/// A failure of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Footnote {
    /// Number of the footnote, from 1.
    pub number: u32,
    /// Label of the cell.
    pub cell: String,
    /// Cause of the failure, in words.
    pub text: String,
}

/// Number of samples of a routine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// Name of the routine; kernel routines end in `_[k]`.
    pub name: String,
    /// Samples in the routine itself.
    pub own: u64,
    /// Samples with it on the stack.
    pub inclusive: u64,
}
