//! Types of the JSON Schema for values that are read by code of their own.

use std::collections::BTreeMap;

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
