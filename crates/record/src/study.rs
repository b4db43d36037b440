//! The result of a study.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Build, DuetMetric, Judgement, Warning};

/// The schema name that every result carries in [`StudyResult::schema`].
pub const STUDY_SCHEMA_NAME: &str = "klatch-study/2";

/// The result of a study: its cells, each estimated from the records beside this file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyResult {
    /// The schema of this JSON, always `klatch-study/2`.
    pub schema: String,
    /// How its numbers were obtained; `measured` if it is missing.
    #[serde(default, skip_serializing_if = "ResultKind::is_measured")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub kind: ResultKind,
    /// Its name, that of its file.
    pub name: String,
    /// The question that it answers, in words.
    pub question: String,
    /// The program that ran the study.
    pub klatch: Build,
    /// When it was begun, RFC 3339 in UTC.
    pub started_at: String,
    /// When this was written, RFC 3339 in UTC.
    pub ended_at: String,
    /// Seed of the order of the cells within a block.
    pub seed: u64,
    /// Options of the command that affect the results, by name; a flag has an empty value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub options: BTreeMap<String, String>,
    /// The run rules, in words.
    pub rules: String,
    /// The metric whose interval decides whether the trials are enough.
    pub metric: String,
    /// With a stopping rule: the number of first trials of each cell whose scatter
    /// intervals and ratios use. The scatter of all trials would be too small, as it decided when to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_trials: Option<u32>,
    /// The axes along which its cells differ, with their values in the study's order.
    pub axes: Vec<StudyAxis>,
    /// Its cells, in the study's order.
    pub cells: Vec<CellResult>,
    /// In a study of duets: each cell compared with its reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub pairs: Vec<PairResult>,
}

/// How numbers were obtained. Numbers of different kinds never share a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// On this machine, by its clocks.
    #[default]
    Measured,
    /// In the lab's machine, whose clock counts instructions.
    Emulated,
    /// By the simulator, with a price for each operation.
    Simulated,
}

impl ResultKind {
    /// Its name in results and lists.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the numbers were measured.
    pub fn is_measured(&self) -> bool {
        *self == ResultKind::Measured
    }
}

/// One cell compared with its reference, slice by slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairResult {
    /// Name of the reference cell, the base of the ratios.
    pub a: String,
    /// Name of the cell that is compared with it.
    pub b: String,
    /// Starts of both servers that count.
    pub starts: u32,
    /// Pairs of slices in these starts.
    pub slices: u64,
    /// Probability that an interval contains the true ratio, above 0 and below 1.
    pub confidence: f64,
    /// The metrics, compared over the starts.
    pub metrics: Vec<DuetMetric>,
    /// The requirements of the study, judged by these metrics; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub requirements: Vec<Judgement>,
    /// Why starts failed, if some did.
    pub failures: Vec<String>,
}

/// Something that a study varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyAxis {
    /// `platform`, `rooms`, `heap` …; what belongs to the crowd begins with `crowd.`.
    pub name: String,
    /// All values, as in the file.
    pub values: Vec<String>,
}

/// One combination of the axes, and its estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellResult {
    /// Its name, and that of its folder below `cells/`.
    pub id: String,
    /// Its value on every axis.
    pub at: BTreeMap<String, String>,
    /// Whether its estimates can be used.
    pub status: CellStatus,
    /// The same in words, with the width reached or the cause.
    pub verdict: String,
    /// Trials that the estimates are made of.
    pub trials: u32,
    /// Estimates by metric: `messages_per_s`, `cpu_us_per_message`, `latency_p99_us` …
    pub estimates: BTreeMap<String, Estimate>,
    /// The requirements of the study, judged by these estimates; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub requirements: Vec<Judgement>,
    /// What failed on the way, also when others succeeded.
    pub failures: Vec<String>,
    /// Caveats for the reader of the estimates.
    pub warnings: Vec<Warning>,
    /// The result of a search, if the study is one.
    pub search: Option<SearchResult>,
}

/// Whether a cell's estimates can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CellStatus {
    /// The interval is as narrow as was asked for.
    Converged,
    /// It is not, after as many trials as were allowed.
    NotConverged,
    /// A fixed number of runs was asked for, and made.
    Complete,
    /// It failed; the verdict names the cause.
    Failed,
    /// The cell cannot run on this machine; the verdict gives the reason.
    Absent,
    /// The cell is not finished yet.
    Open,
}

/// A number with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Mean of the trials that count.
    pub mean: f64,
    /// Lower end of the interval of the mean; `null` where the trials were picked, or are too few.
    pub low: Option<f64>,
    /// Upper end of the interval of the mean.
    pub high: Option<f64>,
    /// The trials that count, in the order in which they ran; the means of the starts, if a start has several trials and there
    /// are several starts.
    pub values: Vec<f64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// What was varied: `rooms` or `rate`.
    pub axis: String,
    /// The highest value that held; of several passes, the geometric mean of theirs; `null` if even the first failed.
    pub value: Option<f64>,
    /// Lower end of its interval over the passes, at the study's confidence; `null` with fewer than two.
    pub low: Option<f64>,
    /// Upper end of its interval over the passes.
    pub high: Option<f64>,
    /// The value of each pass.
    pub passes: Vec<f64>,
    /// Why the next one failed; `null` if the search ended at its maximum.
    pub cause: Option<String>,
    /// Of a knee, the limit of the 99th percentile of latency, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_p99_max_ms: Option<f64>,
    /// All steps in their order.
    pub steps: Vec<SearchStep>,
}

impl SearchResult {
    /// Whether the search ended at its maximum, which held: then the limit is somewhere above.
    pub fn ended_at_maximum(&self) -> bool {
        self.value.is_some() && self.cause.is_none()
    }

    /// The key of the study file that raises the maximum.
    pub fn key_of_maximum(&self) -> &'static str {
        match self.axis.as_str() {
            "connections" => "connections_max",
            "lines" => "lines_max",
            "readers" => "readers_max",
            "rooms" | "traders" => "rooms_max",
            // An injection rate, or a rate of each user.
            _ => "rate_max",
        }
    }
}

/// One step of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchStep {
    /// The pass that it belongs to, from 1.
    pub pass: u32,
    /// The number of rooms or the rate that was tried.
    pub value: f64,
    /// Whether it held: at the first visit, or at two of three.
    pub held: bool,
    /// How many visits that took; a failure is repeated before it is believed.
    pub visits: u32,
    /// What was seen at the last of them.
    pub observed: String,
}
