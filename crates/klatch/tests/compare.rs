//! `klatch compare` and `klatch calibrate` with records of real runs.

mod support;

use std::path::Path;

use klatch_testing::{Need, needs};
use support::{Finished, klatch};

/// Makes three small runs with records in a new folder below `out`.
fn run(out: &Path) {
    let workload = ["--platform", "native-epoll", "--rooms", "2", "--users", "4", "--count", "50"];
    let finished = Finished::run(klatch().args(["run", "--trials", "3", "--out"]).arg(out).args(workload));
    assert_eq!(finished.status, Some(0), "{finished:?}");
}

fn compare(a: &Path, b: &Path, arguments: &[&str]) -> Finished {
    Finished::run(klatch().arg("compare").args([a, b]).args(arguments))
}

#[test]
fn two_calls_of_run_are_compared_in_sentences_and_as_json() {
    let out = tempfile::tempdir().unwrap();
    let (a, b) = (out.path().join("a"), out.path().join("b"));
    run(&a);
    run(&b);
    let finished = compare(&a, &b, &[]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("native-epoll, 3 trials in one start of the server"), "{finished:?}");
    let throughput = finished.out.lines().find(|line| line.starts_with("throughput")).unwrap();
    let sentences = ["B is ", "no difference can be shown; this data would show one of "];
    assert!(sentences.iter().any(|sentence| throughput.contains(sentence)), "{throughput}");
    let finished = compare(&a, &b, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&json["schema"], &json["a"]["trials"]), (&"klatch-comparison/2".into(), &3.into()));
    assert!(json["metrics"][0]["ratio"]["low"].as_f64().unwrap() > 0.0, "{json}");
}

#[test]
fn incomparable_records_are_refused() {
    let out = tempfile::tempdir().unwrap();
    std::fs::write(out.path().join("odd.json"), "not JSON").unwrap();
    let (odd, gone) = (out.path().join("odd.json"), out.path().join("gone"));
    for (a, b, arguments, message) in [
        (&gone, &odd, &[] as &[&str], "klatch: cannot read "),
        (&odd, &odd, &[], "are the same; name two records or folders"),
        (&odd, &out.path().to_owned(), &[], "odd.json is no record: expected ident"),
        (&odd, &gone, &["--confidence", "100"], "klatch: confidence must be 50..=99.99 %, got 100"),
    ] {
        let finished = compare(a, b, arguments);
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(
            finished.err.contains(message) && !finished.err.contains("panicked"),
            "{message:?} is not in {finished:?}"
        );
    }
}

#[test]
fn instrument_cost_is_measured_by_turns_within_one_run() {
    needs!(Need::Bpf);
    let out = tempfile::tempdir().unwrap();
    let asked =
        ["--instruments", "runqueue,wakeups", "--time", "30", "--rooms", "1", "--count", "500", "--json"];
    let finished = Finished::run(klatch().args(["calibrate", "--out"]).arg(out.path()).args(asked));
    let json: serde_json::Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    assert_eq!((finished.status, &json["unit"], &json["a"]["starts"]), (Some(0), &"turn".into(), &1.into()));
    assert!(json["b"]["platform"].as_str().unwrap().ends_with(", with runqueue, wakeups"), "{json}");
    let metrics = json["metrics"].as_array().unwrap();
    let cpu = metrics.iter().find(|metric| metric["metric"] == "cpu_us_per_message").unwrap();
    let values = |side: &str| cpu[side].as_array().unwrap().clone();
    assert!(!values("a").is_empty() && values("a").len() == values("b").len(), "{json}");
    assert!(values("a").iter().chain(&values("b")).all(|value| value.as_f64() > Some(0.1)), "{json}");
}

#[test]
fn a_time_too_short_for_turns_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let asked = ["--instruments", "usage", "--time", "0.1", "--rooms", "1", "--users", "2", "--count", "1"];
    let finished = Finished::run(klatch().args(["calibrate", "--out"]).arg(out.path()).args(asked));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("--time"), "{finished:?}");
}

#[test]
fn a_calibration_compares_a_platform_with_itself_in_pairs() {
    let out = tempfile::tempdir().unwrap();
    let workload = ["--time", "0.1", "--rooms", "1", "--users", "4", "--count", "50", "--json"];
    let in_state = |command: &mut std::process::Command| {
        Finished::run(command.env("XDG_STATE_HOME", out.path().join("state")))
    };
    let finished = in_state(klatch().args(["calibrate", "--out"]).arg(out.path()).args(workload));
    let json: serde_json::Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    assert_eq!(
        (finished.status, &json["pairs"], &json["a"]["starts"]),
        (Some(0), &3.into(), &3.into()),
        "{json}"
    );
    let saved = std::fs::read_to_string(out.path().join("latest/calibration.json")).unwrap();
    assert_eq!(saved.trim(), finished.out.trim());
    let once =
        ["run", "--platform", "native-epoll", "--warmup", "0", "--trials", "1", "--json", "--rooms", "1"];
    let record = in_state(klatch().args(once).args(["--count", "10", "--out"]).arg(out.path())).record();
    let noise = record.environment.noise.unwrap();
    assert_eq!((noise.platform.as_str(), noise.starts), (json["a"]["platform"].as_str().unwrap(), 6));
    assert!(noise.between_starts["messages_per_s"] > 0.0, "{noise:?}");
}
