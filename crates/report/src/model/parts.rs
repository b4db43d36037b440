//! The parts of a report that are not charts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use klatch_record::{CellStatus, Estimate};

/// Whether the answer can be relied on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The verdict itself.
    pub standing: Standing,
    /// The same in words.
    pub text: String,
}

/// How much of what was to be measured can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// All of it.
    Valid,
    /// All of it, but some intervals are wider than was asked for.
    Wide,
    /// A part of it: some cells failed, could not run, or are not finished.
    Partly,
    /// Nothing.
    Nothing,
}

/// Something to know, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// The cells that it is about; the message is that of the first.
    pub cells: Vec<String>,
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRow {
    /// Its name in the study.
    pub id: String,
    /// Its name in charts: where it is on the axes.
    pub label: String,
    /// Its value on every axis.
    pub at: BTreeMap<String, String>,
    /// How its server writes: `classic`, `open`, or empty where unknown.
    pub class: String,
    /// Whether its estimates can be used.
    pub status: CellStatus,
    /// The same in words.
    pub verdict: String,
    /// Trials that the estimates are made of.
    pub trials: u32,
    /// Estimates by metric.
    pub estimates: BTreeMap<String, Estimate>,
    /// The numbers of its footnotes.
    pub footnotes: Vec<u32>,
}

/// How B compares with A in a cell that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioTable {
    /// The cell; empty where runs were compared.
    pub cell: String,
    /// How they were compared.
    pub method: String,
    /// A row for each metric.
    pub rows: Vec<RatioRow>,
    /// What to know: what differs besides, what was left out.
    pub notes: Vec<String>,
}

/// How B compares with A in one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioRow {
    /// The metric, with its unit last.
    pub metric: String,
    /// What people call it.
    pub name: String,
    /// Median of A.
    pub a: Option<f64>,
    /// Median of B.
    pub b: Option<f64>,
    /// B / A with its interval; `null` if it cannot be told.
    pub ratio: Option<Number>,
    /// What it says, in words.
    pub says: String,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Number {
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
    /// Its place in the order in which they ran, from 1.
    pub order: u32,
    /// The cell it belongs to.
    pub cell: String,
    /// `trial 2`.
    pub name: String,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// Throughput.
    pub messages_per_s: f64,
    /// CPU time of server and crowd per message; `null` unless both were measured.
    pub cpu_us_per_message: Option<f64>,
    /// The 99th percentile of the latency.
    pub latency_p99_us: Option<f64>,
    /// `valid`, `invalid` or `unknown`.
    pub verdict: String,
    /// Why it is not valid.
    pub reasons: Vec<String>,
    /// The environment it ran in.
    pub environment: String,
    /// Its record, below the folder of its source.
    pub record: String,
}

/// Something about the environments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value in each environment.
    pub values: Vec<String>,
    /// Whether these are not all the same.
    pub differs: bool,
}

/// What to type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// What for.
    pub what: String,
    /// The command line, for a shell.
    pub line: String,
}

/// An instrument that watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentRow {
    /// Its name.
    pub name: String,
    /// How it worked, or why it did not.
    pub state: String,
    /// Runs that it watched.
    pub runs: u32,
    /// Mean CPU time of its programs as a share of what server and crowd used, 0..=1: a lower bound of its cost.
    pub share_of_cpu: Option<f64>,
    /// Kernel memory of its tables, bytes.
    pub memory_bytes: Option<u64>,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footnote {
    /// Its number, from 1.
    pub number: u32,
    /// The cell.
    pub cell: String,
    /// What happened.
    pub text: String,
}

/// How often a routine was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequency {
    /// The routine.
    pub name: String,
    /// Samples in it by itself.
    pub own: u64,
    /// Samples with it on the stack.
    pub inclusive: u64,
}
