//! `klatch simulate`: single runs that say that they are simulated, and wrong input.

use crate::support::{Finished, klatch};
use klatch_simulator::SchedulerSpec;

fn simulate(arguments: &[&str]) -> Finished {
    Finished::run(klatch().arg("simulate").args(arguments))
}

#[test]
fn a_run_shows_where_the_time_went() {
    let finished = simulate(&["run", "--machine", "4 cpus", "--set", "rooms=2", "--set", "count=10"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let next = "next: klatch simulate run --machine '4 cpus' --set rooms=2 --set count=10 --scheduler o1\n";
    for line in [
        "simulated throughput",
        "spinning on locks",
        "run queue",
        " messages/s on 4 cpus under goodness; ",
        next,
    ] {
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
        for scheduler in SchedulerSpec::NAMES {
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
    let schedulers = format!("there are {}", SchedulerSpec::NAMES.join(", "));
    for (arguments, message) in [
        (&["run", "--machine", "9 apples"][..], "write it like `2 nodes x 8 llcs x 16 cores x 2 threads`"),
        (&["run", "--scheduler", "cfs"], schedulers.as_str()),
        (&["run", "--scheduler", "o1", "--knob", "yield=4"], "its knobs: yield=1|2|3, idle_pulls_warm=0|1"),
        (&["run", "--work", "mail"], "there are chat, locks, requests, hackbench"),
        (&["run", "--set", "groups=2"], "the workload chat has no setting groups; it has rooms, count, "),
        (&["run", "--machine", "/nowhere/lscpu.json"], "cannot read /nowhere/lscpu.json"),
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

#[test]
fn a_schedule_without_wake_ups_is_no_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (text, trace, replay) = (path("perf.txt"), path("perf.trace"), path("perf.replay.json"));
    let script = "a 7 [000] 1.000001: sched:sched_switch: a:7 [120] R ==> b:8 [120]\n\
                  b 8 [000] 1.000005: sched:sched_stat_runtime: comm=b pid=8 runtime=3000 [ns]\n\
                  b 8 [000] 1.000009: sched:sched_switch: b:8 [120] R ==> a:7 [120]\n";
    std::fs::write(&text, script).unwrap();
    let imported = Finished::run(klatch().args(["trace", "import", &text, &trace]));
    assert_eq!(imported.status, Some(0), "{imported:?}");
    assert_eq!(imported.out, "2 events\nleft out: 1 sched_stat_runtime, for which a trace has no place\n");
    let exported = Finished::run(klatch().args(["trace", "export", &trace, "--replay", &replay]));
    assert_eq!(exported.status, Some(2), "{exported:?}");
    assert!(exported.err.contains("no task is woken in it"), "{exported:?}");
    assert!(!std::path::Path::new(&replay).exists());
    let task = r#"{"name": "a", "process": 0, "steps": [{"run": 1000}, "sleep"]}"#;
    std::fs::write(&replay, format!(r#"{{"tasks": [{task}], "outside": [], "waits_ns": [], "cpus": 1}}"#))
        .unwrap();
    let replayed = simulate(&["run", "--machine", "1 cpus", "--replay", &replay]);
    assert_eq!(replayed.status, Some(2), "{replayed:?}");
    assert!(replayed.err.contains("no task is woken in it"), "{replayed:?}");
    // One wake-up is enough for numbers.
    let one = format!(r#"{{"tasks": [{task}], "outside": [[5000, 0]], "waits_ns": [], "cpus": 1}}"#);
    std::fs::write(&replay, one).unwrap();
    let replayed = simulate(&["run", "--machine", "1 cpus", "--replay", &replay]);
    assert!(replayed.status == Some(0) && !replayed.out.contains("NaN"), "{replayed:?}");
}
