//! The JSON Schema of a study file, with a type for each value that is read by code of its own.

use std::collections::BTreeMap;

use super::{PlatformTable, StudyFile};

/// The JSON Schema of a study file, as pretty-printed JSON that ends with a newline.
pub fn study_schema() -> String {
    let schema = schemars::schema_for!(StudyFile);
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

/// A name, or a table with knobs of its own.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(super) enum PlatformSchema {
    Name(String),
    Table(PlatformTable),
}
