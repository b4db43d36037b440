//! The JSON Schema of study files, with a type for each value that is read by code of its own.

use std::collections::BTreeMap;

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

/// Values of knobs, by the name of the knob.
pub(crate) type KnobsSchema = BTreeMap<String, OneOrMany<AnyScalar>>;

/// A value, or a list of values.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// Text, a number, `true` or `false`.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum AnyScalar {
    Text(String),
    Number(f64),
    Switch(bool),
}
