//! `klatch simulate`: results that say that they are simulated, and wrong input.

mod support;

use support::{Finished, klatch};

fn simulate(arguments: &[&str]) -> Finished {
    Finished::run(klatch().arg("simulate").args(arguments))
}

#[test]
fn a_run_shows_where_the_time_went() {
    let finished = simulate(&["run", "--machine", "4 cpus", "--rooms", "2", "--count", "10"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for line in ["simulated throughput", "spinning on locks", "run queue"] {
        assert!(finished.out.contains(line), "{line}: {finished:?}");
    }
}

#[test]
fn json_says_that_the_result_is_simulated() {
    let arguments = [
        "run",
        "--machine",
        "2 nodes x 2 cpus",
        "--scheduler",
        "o1",
        "--rooms",
        "2",
        "--count",
        "10",
        "--json",
    ];
    let finished = simulate(&arguments);
    let result: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(result["kind"], "simulated");
    assert_eq!(result["machine"], "2 nodes x 2 llcs x 1 core x 1 thread");
    assert!(result["outcome"]["counts"]["accounts"]["spin"].is_u64(), "{result}");
    assert_eq!(finished.out, simulate(&arguments).out, "equal seeds give equal bytes");
}

#[test]
fn a_report_of_scaling_says_that_it_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("scaling.html");
    let arguments = ["scaling", "--cpus", "1,2", "--rooms", "1", "--count", "10", "--report"];
    let finished = Finished::run(klatch().arg("simulate").args(arguments).arg(&page));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("simulated, not measured"), "{finished:?}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("2 CPUs carry, compared with 1:") && page.contains("not measured"),
        "{}",
        &page[..500]
    );
    let unordered = simulate(&["scaling", "--cpus", "2,1"]);
    assert_eq!(unordered.status, Some(2));
    assert!(unordered.err.contains("ascending"), "{unordered:?}");
}

#[test]
fn yields_of_contended_monitors_are_classified() {
    let finished =
        simulate(&["locks", "--scheduler", "o1", "--threads", "16", "--locks", "1", "--count", "20"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("a yield found"), "{finished:?}");
}

#[test]
fn costs_that_are_not_frozen_predict_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let costs = folder.path().join("costs.toml");
    let original = simulate(&["costs"]).out;
    std::fs::write(&costs, original.replacen("value = 115", "value = 114", 1)).unwrap();
    let finished = simulate(&["papers", "--costs", costs.to_str().unwrap()]);
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("are not frozen") && finished.out.is_empty(), "{finished:?}");
}

#[test]
fn wrong_input_is_refused_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let costs = folder.path().join("costs.toml");
    std::fs::write(&costs, "[element]\nvalue = \"many\"\n").unwrap();
    let costs = costs.to_str().unwrap();
    for (arguments, message) in [
        (&["run", "--machine", "9 apples"][..], "write it like `2 nodes x 8 llcs x 16 cores x 2 threads`"),
        (&["run", "--scheduler", "cfs"], "there are fifo, goodness, multiqueue, o1, shards"),
        (&["run", "--scheduler", "o1", "--knob", "yield=4"], "its knobs: yield=1|2|3, idle_pulls_warm=0|1"),
        (&["papers", "--costs", costs], "line 2, column 9"),
        (&["papers", "--costs", "/nowhere/costs.toml"], "cannot read /nowhere/costs.toml"),
    ] {
        let finished = simulate(arguments);
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
    }
}
