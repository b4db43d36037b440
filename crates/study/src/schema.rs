//! The JSON Schema of study files of every kind.

use klatch_record::lab::Study;

use crate::measured::MeasuredFile;
use crate::simulated::SimulatedFile;

/// A study file of Klatch. Its keys decide the kind.
#[derive(schemars::JsonSchema)]
#[schemars(title = "A study of Klatch")]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum AnyStudy {
    Measured(Box<MeasuredFile>),
    Emulated(Study),
    Simulated(SimulatedFile),
}

/// The JSON Schema of a study file of any kind, as pretty-printed JSON that ends with a newline.
pub fn study_schema() -> String {
    let schema = schemars::schema_for!(AnyStudy);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}
