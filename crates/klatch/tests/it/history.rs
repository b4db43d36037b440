//! `klatch history` with records of many commits: as text, as JSON by its schema, and as a page with links.

use std::path::Path;

use klatch_record::samples::{record, usage};
use klatch_record::{History, UsageOfBoth};

use crate::reports::{Open, get};
use crate::support::{Finished, klatch};

/// Records of 20 commits, of which those from the twelfth on need 20 % more CPU time.
fn records(out: &Path) {
    for commit in 0..20_u32 {
        let mut record = record(1, commit, 50_000.0);
        let us = if commit < 11 { 10.0 } else { 12.0 } * (1.0 + f64::from(commit * 7 % 5) * 0.003);
        record.options.as_mut().unwrap().label = Some(format!("c{commit}"));
        record.usage = UsageOfBoth { server: Some(usage(us * 0.4)), crowd: None, database: None };
        let folder = out.join(format!("run-{commit}"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("trial-1.json"), serde_json::to_string(&record).unwrap()).unwrap();
    }
    std::fs::write(out.join("run-3/broken.json"), "{").unwrap();
}

#[test]
fn the_slower_commit_is_named_on_the_terminal_in_json_and_on_the_page() {
    let out = tempfile::tempdir().unwrap();
    records(out.path());
    let run = |arguments: &[&str]| Finished::run(klatch().arg("history").arg(out.path()).args(arguments));
    let finished = run(&[]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.err.contains("left out: ") && finished.err.contains("run-3/broken.json: "),
        "{finished:?}"
    );
    let row = finished.out.lines().find(|line| line.starts_with("server CPU per message")).unwrap();
    assert!(row.contains("worse: ") && row.contains("since c11, after c10"), "{row}");
    assert!(
        finished.out.contains("1 change in 2 series. server CPU per message of x: worse: "),
        "{finished:?}"
    );

    let finished = run(&["--metric", "server_cpu_us", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    let schema = serde_json::from_str(&klatch_record::history_schema()).unwrap();
    jsonschema::validate(&schema, &json).unwrap();
    let history: History = serde_json::from_value(json).unwrap();
    let [series] = &history.series[..] else { panic!("{history:?}") };
    assert_eq!((series.points.len(), series.changes.len(), history.skipped.len()), (20, 1, 1));
    let change = &series.changes[0];
    assert!(change.low.unwrap() > 1.18 && change.high.unwrap() < 1.22, "{change:?}");

    let (_open, port) = Open::folder(out.path());
    let host = format!("127.0.0.1:{port}");
    let (status, page) = get(port, "/history", &host);
    assert!(status.contains("200"), "{status}");
    assert!(page.contains("since c11, after c10") && page.contains("<a href=\"/report/run-11\">"), "{page}");
    assert!(get(port, "/report/run-11", &host).0.contains("200"));
    assert!(get(port, "/", &host).1.contains("href=\"/history\""));
}

#[test]
fn folders_without_results_and_metrics_that_do_not_exist_are_refused() {
    let empty = tempfile::tempdir().unwrap();
    let folder = empty.path().to_str().unwrap();
    for (arguments, message) in [
        (vec![folder], "has no result of a run or duet that counts"),
        (vec!["/nowhere"], "cannot read /nowhere: "),
        (vec![folder, "--metric", "server_cpu"], "did you mean server_cpu_us?"),
        (vec![folder, "--false-alarms", "50%"], "must be 0.1 to 20 %, got 50%"),
        (vec![], "klatch history"),
    ] {
        let finished = Finished::run(klatch().arg("history").args(&arguments));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(message) && !finished.err.contains("panicked"), "{finished:?}");
    }
}
