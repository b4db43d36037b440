//! A report as plain data, of which every format is written. Its JSON Schema is `docs/report.schema.json`.

mod chart;
mod parts;

use klatch_record::Build;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use chart::{Axis, Chart, ChartKind, Flame, Frame, Mark, Place, Point, Scale};
pub use parts::{
    CellRow, Command, Fact, Footnote, Frequency, InstrumentRow, Number, RatioRow, RatioTable, RunRow,
    Standing, Told, Verdict,
};

/// What [`Report::schema`] says.
pub const REPORT_SCHEMA_NAME: &str = "klatch-report/1";

/// Everything that a report tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `klatch-report/1`.
    pub schema: String,
    /// The name of the study, or what was run.
    pub title: String,
    /// The question that it answers, in words.
    pub question: String,
    /// The answer in a sentence, with its interval.
    pub answer: String,
    /// Whether that can be relied on.
    pub verdict: Verdict,
    /// What to know when reading it, each kind once.
    pub warnings: Vec<Told>,
    /// The results, a row for each cell.
    pub cells: Vec<CellRow>,
    /// The names of the cells' axes, in their order.
    pub axes: Vec<String>,
    /// How B compares with A, where two were laid side by side.
    pub ratios: Vec<RatioTable>,
    /// Charts by subject.
    pub sections: Vec<Section>,
    /// The run rules, a sentence each.
    pub rules: Vec<String>,
    /// Every run with its verdict, in the order in which they ran.
    pub runs: Vec<RunRow>,
    /// Where it ran: names of the environments that differ, `A`, `B` … in the order of time.
    pub environments: Vec<String>,
    /// What is known of each environment.
    pub facts: Vec<Fact>,
    /// What to type to repeat it.
    pub commands: Vec<Command>,
    /// The instruments, with what looking cost.
    pub instruments: Vec<InstrumentRow>,
    /// Failures, numbered.
    pub footnotes: Vec<Footnote>,
    /// The folders and files that it was made of.
    pub sources: Vec<String>,
    /// What measured.
    pub klatch: Option<Build>,
    /// When the first run began, RFC 3339 in UTC.
    pub started_at: Option<String>,
    /// When the last run began.
    pub ended_at: Option<String>,
}

/// Charts of one subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Its name in links.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What to know before the charts.
    pub lead: Option<String>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// Flame graphs.
    pub flames: Vec<Flame>,
}

impl Report {
    /// All charts of all sections.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.charts)
    }
}

/// The JSON Schema of a [`Report`], as pretty-printed JSON that ends with a newline.
pub fn report_schema() -> String {
    let schema = schemars::schema_for!(Report);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text + "\n"
}
