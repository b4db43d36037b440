//! `klatch simulate`: results that say that they are simulated, and wrong input.

use crate::support::{Finished, klatch};

fn simulate(arguments: &[&str]) -> Finished {
    Finished::run(klatch().arg("simulate").args(arguments))
}

#[test]
fn a_run_shows_where_the_time_went() {
    let finished = simulate(&["run", "--machine", "4 cpus", "--set", "rooms=2", "--set", "count=10"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for line in ["simulated throughput", "spinning on locks", "run queue"] {
        assert!(finished.out.contains(line), "{line}: {finished:?}");
    }
}

/// A study of two cells.
const SMALL: &str = "question = 'Do two CPUs carry more?'\nmachine = ['1 cpu', '2 cpus']\nschedulers = 'o1'\n\
                     [work]\nkind = 'chat'\nrooms = 1\ncount = 10\n";

#[test]
fn json_says_that_the_result_is_simulated() {
    let arguments = [
        "run",
        "--machine",
        "2 nodes x 2 cpus",
        "--scheduler",
        "o1",
        "--set",
        "rooms=2",
        "--set",
        "count=10",
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
fn a_study_has_a_result_and_a_report_that_say_that_it_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("two.toml");
    std::fs::write(&study, SMALL).unwrap();
    let run = |more: &[&str]| {
        let mut command = klatch();
        command.arg("simulate").arg(&study).arg("--out").arg(folder.path()).args(more);
        Finished::run(&mut command)
    };
    let finished = run(&[]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("simulated, not measured"), "{finished:?}");
    let results = finished.out.lines().find_map(|line| line.strip_prefix("results: ")).expect("a folder");
    let results = std::path::Path::new(results);
    let result = std::fs::read_to_string(results.join("result.json")).unwrap();
    assert!(result.contains("\"kind\": \"simulated\""), "{result}");
    let page = std::fs::read_to_string(results.join("report.html")).unwrap();
    for text in ["not measured", "2 CPUs carries the most", "run_queue_latency_p99_us"] {
        assert!(page.contains(text), "{text}");
    }
    // Everything is there, so nothing is simulated again, and only the claims are new.
    let resumed = run(&["--resume", results.to_str().unwrap(), "--sensitivity"]);
    assert!(!resumed.out.contains("seed 1"), "{resumed:?}");
    assert!(resumed.out.contains("2 CPUs over 1 CPU, o1"), "{resumed:?}");
    let claims = std::fs::read_to_string(results.join("report.html")).unwrap();
    assert!(claims.contains("Claims with other costs"));
    // Nothing of it stands beside a measurement.
    let mut compare = klatch();
    compare.arg("compare").arg(results).arg(folder.path());
    let refused = Finished::run(&mut compare);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("are simulated, and measurements are compared"), "{refused:?}");
    let measured = folder.path().join("measured");
    std::fs::create_dir(&measured).unwrap();
    std::fs::write(measured.join("result.json"), result.replace("\"kind\": \"simulated\",", "")).unwrap();
    let mut report = klatch();
    report.arg("report").arg(results).arg(&measured);
    let refused = Finished::run(&mut report);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("share no table"), "{refused:?}");
    std::fs::write(&study, SMALL.replace("rooms = 1", "rooms = 2")).unwrap();
    let changed = run(&["--resume", results.to_str().unwrap()]);
    assert_eq!(changed.status, Some(2), "{changed:?}");
    assert!(changed.err.contains("differs from the study file"), "{changed:?}");
}

#[test]
fn a_dry_run_names_the_cells_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("two.toml");
    std::fs::write(&study, SMALL).unwrap();
    let out = folder.path().join("results");
    let mut command = klatch();
    command.arg("simulate").arg(&study).arg("--out").arg(&out).arg("--dry-run");
    let finished = Finished::run(&mut command);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.out.contains("2 cells, 6 trials") && finished.out.contains("cpus-2_scheduler-o1"),
        "{finished:?}"
    );
    assert!(!out.exists());
}

#[test]
fn yields_of_contended_monitors_are_classified() {
    let settings = [
        "run",
        "--work",
        "locks",
        "--scheduler",
        "o1",
        "--set",
        "threads=16",
        "--set",
        "locks=1",
        "--set",
        "count=20",
    ];
    let finished = simulate(&settings);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("a yield found"), "{finished:?}");
}

#[test]
fn every_workload_runs_on_this_machine_under_every_scheduler() {
    for work in ["chat", "locks", "requests", "hackbench"] {
        let short = match work {
            "chat" => "count=1",
            "locks" => "count=10",
            "requests" => "count=200",
            _ => "groups=1",
        };
        for scheduler in ["fifo", "goodness", "multiqueue", "o1", "shards", "sleepers"] {
            let run = ["run", "--work", work, "--set", short, "--scheduler", scheduler, "--machine", "host"];
            let finished = simulate(&run);
            assert_eq!(finished.status, Some(0), "{work} under {scheduler}: {finished:?}");
        }
    }
}

#[test]
fn wrong_input_is_refused_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let costs = folder.path().join("costs.toml");
    std::fs::write(&costs, "[element]\nvalue = \"many\"\n").unwrap();
    let costs = costs.to_str().unwrap();
    for (arguments, message) in [
        (&["run", "--machine", "9 apples"][..], "write it like `2 nodes x 8 llcs x 16 cores x 2 threads`"),
        (&["run", "--scheduler", "cfs"], "there are fifo, goodness, multiqueue, o1, shards, sleepers"),
        (&["run", "--scheduler", "o1", "--knob", "yield=4"], "its knobs: yield=1|2|3, idle_pulls_warm=0|1"),
        (&["run", "--work", "mail"], "there are chat, locks, requests, hackbench"),
        (&["run", "--set", "groups=2"], "its settings: rooms=1..2000"),
        (&["run", "--machine", "/nowhere/lscpu.json"], "cannot read /nowhere/lscpu.json"),
        (&["nothing"], "no study is called nothing"),
        (&["run", "--costs", costs], "line 2, column 9"),
        (&["run", "--costs", "/nowhere/costs.toml"], "cannot read /nowhere/costs.toml"),
    ] {
        let finished = simulate(arguments);
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
    }
}

#[test]
fn a_simulated_trace_can_be_read_exported_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, perfetto, replay) = (path("chat.trace"), path("chat.json"), path("chat.replay.json"));
    let finished = simulate(&[
        "run",
        "--machine",
        "2 cpus",
        "--scheduler",
        "fifo",
        "--set",
        "rooms=1",
        "--trace",
        &trace,
    ]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let mut command = klatch();
    command.args(["trace", "export", &trace, "--perfetto", &perfetto, "--replay", &replay]);
    assert_eq!(Finished::run(&mut command).status, Some(0));
    let perfetto = std::fs::read_to_string(&perfetto).unwrap();
    assert!(perfetto.contains("waiting tasks") && perfetto.contains("room 1 user 1 client sender:2"));
    let run = ["run", "--machine", "2 cpus", "--scheduler", "fifo", "--replay", &replay];
    let replayed = simulate(&run);
    assert_eq!(replayed.status, Some(0), "{replayed:?}");
    for text in ["wake-ups/s", "in the trace, measured", "on 2 CPUs"] {
        assert!(replayed.out.contains(text), "{text}: {replayed:?}");
    }
    assert_eq!(replayed.out, simulate(&run).out);
    std::fs::write(&replay, r#"{"tasks": [], "outside": [[5, 7]], "waits_ns": [], "cpus": 1}"#).unwrap();
    let wrong = simulate(&run);
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("task 7 is woken, and there are 0 tasks"), "{wrong:?}");
}
