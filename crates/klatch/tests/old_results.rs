//! Results that an earlier version wrote: `fixtures/version-1` is the folder of a study by the last program before schema version 2.

mod support;

use std::path::{Path, PathBuf};

use support::{Finished, klatch};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1")
}

#[test]
fn a_report_of_a_study_of_version_1_is_written() {
    let output = Finished::run(klatch().arg("report").arg(fixture()).args(["--format", "json", "-o", "-"]));
    assert_eq!(output.status, Some(0), "{output:?}");
    let report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    let text = report.to_string();
    assert!(text.contains("2 rooms"), "the value of the search is in the report: {text}");
    let syscalls = &report["instruments"][0];
    assert_eq!(
        (&syscalls["name"], &syscalls["runs"]),
        (&"syscalls".into(), &4.into()),
        "observations are read"
    );
}

#[test]
fn records_of_version_1_are_compared() {
    let block = |number: u32| fixture().join(format!("cells/native-epoll/block-00{number}"));
    let output =
        Finished::run(klatch().arg("compare").args([block(2), block(2).join("trial-1.json")]).arg("--json"));
    assert_eq!(output.status, Some(0), "{output:?}");
    let comparison: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(comparison["a"]["trials"], 1, "{comparison}");
}
