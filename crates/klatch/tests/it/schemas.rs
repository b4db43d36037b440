//! The JSON Schemas in docs/, and the page that is made of one, are those of the types, and the program prints the schemas.
//! `KLATCH_WRITE_SCHEMAS=1` writes them.

use std::path::{Path, PathBuf};

use crate::record_page;
use crate::support::{Finished, klatch};

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn committed(name: &str) -> PathBuf {
    docs(&format!("{name}.schema.json"))
}

#[test]
fn committed_schemas_are_those_of_the_types() {
    let schemas = [
        ("record", klatch_record::schema()),
        ("result", klatch_record::study_result_schema()),
        ("duet", klatch_record::duet_schema()),
        ("history", klatch_record::history_schema()),
        ("study", klatch_study::study_schema()),
        ("report", klatch_report::report_schema()),
        ("platform", klatch_platforms::schema()),
    ];
    let schemas = schemas.map(|(name, schema)| (committed(name), schema));
    for (path, text) in schemas.into_iter().chain([(docs("reference/record.md"), record_page::page())]) {
        klatch_testing::assert_committed(&path, &text, "KLATCH_WRITE_SCHEMAS");
    }
}

#[test]
fn the_program_prints_the_committed_schemas() {
    let kinds = ["record", "result", "duet", "history", "study", "report"];
    let commands = kinds.map(|kind| (kind, ["schema", kind]));
    for (name, arguments) in commands.into_iter().chain([("platform", ["platforms", "--schema"])]) {
        let finished = Finished::run(klatch().args(arguments));
        assert_eq!(finished.status, Some(0), "{finished:?}");
        assert!(finished.out == std::fs::read_to_string(committed(name)).unwrap(), "{arguments:?}");
    }
}

#[test]
fn every_shipped_study_is_valid_by_the_one_schema() {
    let schema = serde_json::from_str(&klatch_study::study_schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let invalid = klatch_study::shipped().into_iter().filter(|study| {
        let file: serde_json::Value = toml::from_str(study.text).unwrap();
        !validator.is_valid(&file)
    });
    assert_eq!(invalid.map(|study| study.name).collect::<Vec<_>>(), [""; 0]);
    let wrong =
        serde_json::json!({ "question": "q", "machine": "1 cpu", "schedulers": "o1", "platforms": [] });
    assert!(!validator.is_valid(&wrong));
}
