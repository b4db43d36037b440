//! The JSON Schema of what code of its own reads: a platform, and the table `[workload]`, made of the settings that the workloads declare.

use std::borrow::Cow;

use klatch_record::settings::{Form, Setting};
use klatch_record::{CONNECTING, METRICS, WorkloadKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::PlatformTable;
use super::dimensions::SUBPROTOCOL;
use super::workload::settings_of_studies;

/// A name, or a table with knobs of its own.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(super) enum PlatformSchema {
    Name(String),
    Table(PlatformTable),
}

/// Stands for the name of a metric in the schema of a study file.
pub(crate) struct MetricSchema;

impl JsonSchema for MetricSchema {
    fn schema_name() -> Cow<'static, str> {
        "Metric".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> =
            METRICS.iter().filter(|metric| metric.is_estimated()).map(|metric| metric.name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Stands for the table in the schema of a study file.
pub(crate) struct WorkloadSchema;

impl JsonSchema for WorkloadSchema {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = WorkloadKind::ALL.map(WorkloadKind::name);
        let mut properties = Map::new();
        properties.insert(
            "kind".to_owned(),
            json!({ "description": "Kind of the workload.", "enum": names, "default": names[0] }),
        );
        properties.insert(
            "preset".to_owned(),
            json!({
                "description": "A named test: volanomark is the VolanoMark test, with its crowd and its yields.",
                "enum": ["volanomark"],
            }),
        );
        for kind in WorkloadKind::ALL {
            for setting in settings_of_studies(kind) {
                let text = format!("{kind}: {}.", setting.help);
                let one = properties.entry(setting.name).or_insert_with(|| one_or_many(setting));
                let described = one.get("description").and_then(Value::as_str);
                one["description"] = described.map_or(text.clone(), |other| format!("{other} {text}")).into();
            }
        }
        json_schema!({
            "description": "What the crowd does: its kind, and the settings of that kind. A list is an axis.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

/// Stands for the table of how the crowd connects in the schema of a study file.
pub(super) struct ConnectingSchema;

impl JsonSchema for ConnectingSchema {
    fn schema_name() -> Cow<'static, str> {
        "ConnectingSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = json!({ "type": ["string", "number"] });
        let property = |name: &str, help: &str| {
            let value = json!({ "description": format!("{help}."), "anyOf": [one, { "type": "array", "items": one }] });
            (name.to_owned(), value)
        };
        let mut properties: Map<String, Value> =
            CONNECTING.iter().map(|setting| property(setting.name, setting.help)).collect();
        properties
            .extend([property(SUBPROTOCOL, "ws, wss: subprotocol that the server must agree to, or none")]);
        json_schema!({
            "description": "How the crowd connects, beyond the address. A list is an axis.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

/// The schema of a value, or of a list of them.
fn one_or_many(setting: &Setting) -> Value {
    let one = match setting.form() {
        Form::Whole => json!({ "type": ["integer", "string"] }),
        Form::Number => json!({ "type": "number" }),
        Form::Switch => json!({ "type": "boolean" }),
        Form::Words(words) => {
            json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
        }
        Form::Time => json!({ "type": ["number", "string"] }),
        Form::Text | Form::Lines => json!({ "type": ["string", "integer"] }),
    };
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}
