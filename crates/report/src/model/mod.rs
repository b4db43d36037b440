//! The report as plain data, the source of every output format. Its JSON Schema is `docs/report.schema.json`.

mod chart;
mod parts;

use klatch_record::Build;
use serde::{Deserialize, Serialize};

pub use chart::{Axis, Chart, ChartKind, Flame, Frame, Mark, Place, Point, Scale};
pub(crate) use parts::percentile_value;
pub use parts::{
    CellRow, Command, Fact, Footnote, Frequency, InstrumentRow, Judged, Number, PercentileRow, RatioRow,
    RatioTable, RunRow, SectionTable, Standing, Verdict, WarningRow,
};

/// The schema name that every report carries in [`Report::schema`].
pub const REPORT_SCHEMA_NAME: &str = "klatch-report/2";

/// The beginning of an answer by CPU time.
pub(crate) const DISTURBED: &str = "Others disturbed the throughput, so CPU time decides.";

/// The complete content of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The schema of this JSON, always `klatch-report/2`.
    pub schema: String,
    /// Name of the study, or of the platform of single runs.
    pub title: String,
    /// The question that the study answers; empty for single runs.
    pub question: String,
    /// The answer in a sentence, with its interval.
    pub answer: String,
    /// Whether the answer is reliable.
    pub verdict: Verdict,
    /// The requirements that the result was judged by.
    pub requirements: Vec<Judged>,
    /// Caveats for the reader, one of each kind.
    pub warnings: Vec<WarningRow>,
    /// The results, a row for each cell.
    pub cells: Vec<CellRow>,
    /// Percentiles of latency that were asked for, of all trials of a cell together; absent if none were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<PercentileRow>,
    /// Names of the study's axes, in their order.
    pub axes: Vec<String>,
    /// Ratios of B to A; empty unless two sources are compared.
    pub ratios: Vec<RatioTable>,
    /// The charts, grouped by subject.
    pub sections: Vec<Section>,
    /// The run rules, one sentence each.
    pub rules: Vec<String>,
    /// Every run with its verdict, in the order of their start.
    pub runs: Vec<RunRow>,
    /// Names of the distinct environments, `A`, `B` … in chronological order.
    pub environments: Vec<String>,
    /// Properties of the environments.
    pub facts: Vec<Fact>,
    /// Command lines that repeat the measurement.
    pub commands: Vec<Command>,
    /// The instruments, with their cost.
    pub instruments: Vec<InstrumentRow>,
    /// The failures, numbered from 1.
    pub footnotes: Vec<Footnote>,
    /// Folders and files from which the report was made.
    pub sources: Vec<String>,
    /// The build of Klatch that measured; `null` without runs.
    pub klatch: Option<Build>,
    /// Start of the first run, RFC 3339 in UTC.
    pub started_at: Option<String>,
    /// Start of the last run, RFC 3339 in UTC.
    pub ended_at: Option<String>,
}

/// The charts of one subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section {
    /// Identifier in links, unique in the report.
    pub id: String,
    /// The heading above the charts.
    pub title: String,
    /// An introduction above the charts.
    pub lead: Option<String>,
    /// Tables, above the charts.
    pub tables: Vec<SectionTable>,
    /// The charts in reading order.
    pub charts: Vec<Chart>,
    /// The flame graphs, below the charts.
    pub flames: Vec<Flame>,
}

impl Report {
    /// The charts of all sections, without flame graphs.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.charts)
    }

    /// Whether the answer is by CPU time, as the throughput was disturbed.
    pub(crate) fn is_decided_by_cpu(&self) -> bool {
        self.answer.starts_with(DISTURBED)
    }
}

/// The JSON Schema of a [`Report`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn report_schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text + "\n"
}
