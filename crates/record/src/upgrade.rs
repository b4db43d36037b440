//! Reads results of this schema version and of the one before.
//!
//! Version 2 renamed fields and values to the field's terms and changed nothing else, so a result of version 1 is brought up to
//! date as JSON, before it is read.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{DUET_SCHEMA_NAME, SCHEMA_NAME, STUDY_SCHEMA_NAME};

/// Reads a result: a record, the result of a study, or JSON without a schema, as it is.
///
/// # Errors
/// The text is not JSON, or not what is to be read from it.
pub fn read_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut value: Value = serde_json::from_str(text)?;
    upgrade(&mut value);
    serde_json::from_value(value)
}

/// Brings a result of version 1 up to date; leaves everything else as it is.
pub fn upgrade(value: &mut Value) {
    let Some(result) = value.as_object_mut() else { return };
    match result.get("schema").and_then(Value::as_str) {
        Some("klatch-record/1") => {
            result.insert("schema".to_owned(), SCHEMA_NAME.into());
            upgrade_record(result);
            name_workload(result);
        }
        Some(SCHEMA_NAME | DUET_SCHEMA_NAME) => name_workload(result),
        Some("klatch-study/1") => {
            result.insert("schema".to_owned(), STUDY_SCHEMA_NAME.into());
            upgrade_study(result);
        }
        _ => {}
    }
}

fn upgrade_record(record: &mut Map<String, Value>) {
    rename(record.get_mut("platform"), &[("wire", "protocol")]);
    let faults = [("unsaid", "unsent"), ("repeated", "duplicated"), ("altered", "corrupted")];
    rename(record.get_mut("checks"), &faults);
    for fault in items(record.get_mut("checks").and_then(|checks| checks.get_mut("faults"))) {
        if let Some(kind) = fault.get_mut("kind")
            && let Some((_, new)) = faults.iter().find(|(old, _)| *old == *kind)
        {
            *kind = (*new).into();
        }
    }
    for observation in items(record.get_mut("observations")) {
        rename(Some(observation), &[("found", "data")]);
        let sides = observation.pointer_mut("/data/syscalls").and_then(Value::as_object_mut);
        for side in sides.into_iter().flat_map(|sides| sides.values_mut()) {
            rename(side.get_mut("yields"), &[("itself", "continued")]);
        }
    }
}

/// Records from before there were other workloads than chat do not name their workload.
fn name_workload(result: &mut Map<String, Value>) {
    if let Some(workload) = result.get_mut("workload").and_then(Value::as_object_mut) {
        workload.entry("kind").or_insert_with(|| "chat".into());
    }
}

fn upgrade_study(result: &mut Map<String, Value>) {
    for cell in items(result.get_mut("cells")) {
        rename(cell.get_mut("search"), &[("found", "value")]);
        for step in items(cell.pointer_mut("/search/steps")) {
            rename(Some(step), &[("seen", "observed")]);
        }
    }
}

/// Renames the fields of an object, where it has them.
fn rename(object: Option<&mut Value>, fields: &[(&str, &str)]) {
    let Some(object) = object.and_then(Value::as_object_mut) else { return };
    for (old, new) in fields {
        if let Some(value) = object.remove(*old) {
            object.insert((*new).to_owned(), value);
        }
    }
}

fn items(array: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    array.and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_of_version_1_has_the_fields_of_today() {
        let mut record = json!({
            "schema": "klatch-record/1",
            "platform": { "wire": "irc", "name": "a" },
            "checks": { "unsaid": 1, "repeated": 2, "altered": 3, "lost": 4, "faults": [{ "kind": "altered" }, { "kind": "lost" }] },
            "observations": [{ "found": { "syscalls": { "server": { "yields": { "itself": 5 } }, "crowd": null } } }, { "found": null }],
        });
        upgrade(&mut record);
        let expected = json!({
            "schema": SCHEMA_NAME,
            "platform": { "protocol": "irc", "name": "a" },
            "checks": { "unsent": 1, "duplicated": 2, "corrupted": 3, "lost": 4, "faults": [{ "kind": "corrupted" }, { "kind": "lost" }] },
            "observations": [{ "data": { "syscalls": { "server": { "yields": { "continued": 5 } }, "crowd": null } } }, { "data": null }],
        });
        assert_eq!(record, expected);
    }

    #[test]
    fn a_record_without_a_kind_of_workload_is_of_chat() {
        let mut old = json!({ "schema": SCHEMA_NAME, "workload": { "rooms": 3 } });
        upgrade(&mut old);
        assert_eq!(old["workload"], json!({ "kind": "chat", "rooms": 3 }));
        let mut rr = json!({ "schema": SCHEMA_NAME, "workload": { "kind": "rr" } });
        upgrade(&mut rr);
        assert_eq!(rr["workload"]["kind"], "rr");
    }

    #[test]
    fn a_study_of_version_1_has_the_fields_of_today() {
        let mut result = json!({
            "schema": "klatch-study/1",
            "cells": [{ "search": { "found": 7.0, "steps": [{ "seen": "latency p99 1.00 ms" }] } }, { "search": null }],
        });
        upgrade(&mut result);
        let expected = json!({
            "schema": STUDY_SCHEMA_NAME,
            "cells": [{ "search": { "value": 7.0, "steps": [{ "observed": "latency p99 1.00 ms" }] } }, { "search": null }],
        });
        assert_eq!(result, expected);
    }

    #[test]
    fn other_json_is_left_as_it_is() {
        for other in [json!({ "schema": "klatch-floor/1", "found": 1 }), json!([1]), json!({ "cause": "x" })]
        {
            let mut same = other.clone();
            upgrade(&mut same);
            assert_eq!(same, other);
        }
    }
}
