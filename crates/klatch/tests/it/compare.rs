//! `klatch compare` and `klatch calibrate` with records of real runs.

use std::path::Path;

use crate::support::{Finished, klatch};
use klatch_testing::{Need, needs};

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
    let sentences = [" more (", " fewer (", "no difference shown; "];
    assert!(sentences.iter().any(|sentence| throughput.contains(sentence)), "{throughput}");
    let lines: Vec<&str> = finished.out.lines().collect();
    let [answer, "", next] = lines[lines.len() - 3..] else { panic!("{finished:?}") };
    assert!(answer.contains(" a") && answer.contains("b "), "{answer}");
    // Both are the same platform, so there is no duet.
    assert!(next.starts_with("next: klatch report "), "{next}");
    let finished = compare(&a, &b, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((&json["schema"], &json["a"]["trials"]), (&"klatch-comparison/2".into(), &3.into()));
    // Both are one platform, so their names are those of the folders.
    assert_eq!((&json["a"]["name"], &json["b"]["name"]), (&"a".into(), &"b".into()));
    assert!(json["metrics"][0]["ratio"]["low"].as_f64().unwrap() > 0.0, "{json}");
    // A result that `compare` takes for a condition would be listed here.
    let caveats: Vec<&str> =
        json["caveats"].as_array().unwrap().iter().filter_map(|one| one.as_str()).collect();
    let is_difference = |one: &&str| one.contains(" differ: ") || one.contains(" mix");
    assert!(!caveats.iter().any(is_difference), "{caveats:?}");
}

#[test]
fn incomparable_records_are_refused() {
    let out = tempfile::tempdir().unwrap();
    std::fs::write(out.path().join("odd.json"), "not JSON").unwrap();
    let (odd, gone) = (out.path().join("odd.json"), out.path().join("gone"));
    for (a, b, arguments, message) in [
        (&gone, &odd, &[] as &[&str], "klatch: cannot read "),
        (&odd, &odd, &[], "are the same; name two records or folders"),
        (&odd, &out.path().to_owned(), &[], "odd.json is no record: it is not JSON: expected ident"),
        (&odd, &gone, &["--confidence", "100"], "klatch: confidence must be 50 to 99.99 %, got 100"),
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
fn instrument_cost_is_a_duet_within_one_run() {
    needs!(Need::Bpf);
    let out = tempfile::tempdir().unwrap();
    let options = ["--instruments", "runqueue,wakeups", "--duration", "5s", "--starts", "1", "--rooms", "1"];
    let schedule = ["--slice", "50ms", "--warmup", "100ms", "--json"];
    let finished =
        Finished::run(klatch().args(["calibrate", "--out"]).arg(out.path()).args(options).args(schedule));
    let json: serde_json::Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    assert_eq!((finished.status, &json["end"]["kind"]), (Some(0), &"complete".into()));
    assert!(json["b"]["platform"].as_str().unwrap().ends_with(", with runqueue, wakeups"), "{json}");
    assert!(!json["starts"][0]["pairs"].as_array().unwrap().is_empty(), "{json}");
    let metrics = json["metrics"].as_array().unwrap();
    let cpu = metrics.iter().find(|metric| metric["metric"] == "cpu_us_per_message").unwrap();
    assert!(cpu["a"].as_f64() > Some(0.1) && cpu["b"].as_f64() > Some(0.1), "{cpu}");
}

#[test]
fn a_calibration_is_a_duet_of_a_platform_with_itself() {
    let out = tempfile::tempdir().unwrap();
    let schedule = ["--duration", "9s", "--starts", "3", "--slice", "20ms", "--warmup", "100ms", "--json"];
    let in_state = |command: &mut std::process::Command| {
        Finished::run(command.env("XDG_STATE_HOME", out.path().join("state")))
    };
    let workload = ["--rooms", "1", "--users", "4"];
    let mut calibrate = klatch();
    let finished =
        in_state(calibrate.args(["calibrate", "--out"]).arg(out.path()).args(workload).args(schedule));
    let json: serde_json::Value =
        serde_json::from_str(&finished.out).unwrap_or_else(|_| panic!("{finished:?}"));
    // A slow machine has no time for the third.
    let starts = json["starts"].as_array().map_or(0, Vec::len);
    assert!(finished.status == Some(0) && (2..=3).contains(&starts), "{json}");
    let once =
        ["run", "--platform", "native-epoll", "--warmups", "0", "--trials", "1", "--json", "--rooms", "1"];
    let record = in_state(klatch().args(once).args(["--count", "10", "--out"]).arg(out.path())).record();
    let noise = record.environment.noise.unwrap();
    assert_eq!(
        (noise.platform.as_str(), noise.starts),
        (json["a"]["platform"].as_str().unwrap(), 2 * starts as u32)
    );
    assert!(noise.between_starts["messages_per_s"] > 0.0, "{noise:?}");
}
