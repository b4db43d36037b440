//! Whole runs: every pacing, the records, and processes that stop or die.

use std::process::Stdio;

use crate::support::{Finished, NativeServer, children_of, klatch, run_once, until_joined};
use klatch_record::{CrowdGap, FailureKind, Record, Status, WarningKind};
use rustix::process::{Pid, Signal, kill_process};

const SMALL: [&str; 6] = ["--rooms", "3", "--users", "4", "--count", "25"];

fn valid(platform: &str, more: &[&str]) -> Record {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(run_once(out.path(), &["--platform", platform]).args(SMALL).args(more));
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!((record.score.sent, record.score.received), (300, 900), "{finished:?}");
    let written = std::fs::read_to_string(out.path().join("latest/trial-1.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Record>(&written).unwrap(),
        record,
        "what is printed is what is written"
    );
    let (server, crowd) = (record.usage.server.as_ref().unwrap(), record.usage.crowd.as_ref().unwrap());
    assert!(server.cpu_s > 0.0 && crowd.cpu_s > 0.0 && record.score.messages_per_s > 0.0, "{record:?}");
    assert_eq!(record.latency.as_ref().unwrap().count, 900);
    let over_time = record.over_time.as_ref().unwrap();
    assert_eq!(over_time.intervals.iter().map(|interval| interval.deliveries).sum::<u64>(), 900);
    let last_begins_s = ((over_time.intervals.len() - 1) as u64 * over_time.interval_ms) as f64 / 1e3;
    assert!(last_begins_s <= record.score.elapsed_s, "{record:?}");
    record
}

#[test]
fn every_pacing_is_valid_on_the_native_server() {
    for pacing in ["turns", "rounds", "flood"] {
        valid("native-epoll", &["--pacing", pacing]);
    }
    valid("native-epoll", &["--pacing", "rounds", "--window", "8", "--size", "400"]);
    let record = valid("native-epoll", &["--start", "65533", "--crowd-loops", "8"]);
    assert_eq!((record.shards[0].rooms, record.shards[0].loops), (3, Some(3)), "a loop has whole rooms");
    let record = valid("native-epoll", &["--pacing", "rate", "--rate", "50"]);
    assert_eq!(record.send_lag.unwrap().count, 300);
    assert!(record.score.elapsed_s > 0.4, "24 periods of 20 ms");
    let record = valid("native-epoll", &["--pacing", "flood", "--pause", "0.02"]);
    assert!(record.score.elapsed_s > 0.4, "24 pauses of 20 ms");
}

/// A run of three rooms of four users for 300 ms.
fn timed(platform: &str, more: &[&str]) -> Record {
    let out = tempfile::tempdir().unwrap();
    let mut run = run_once(out.path(), &["--platform", platform, "--rooms", "3", "--users", "4"]);
    let finished = Finished::run(run.args(["--duration", "300ms"]).args(more));
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert_eq!(record.workload.duration_s(), Some(0.3));
    assert!(!finished.out.contains("\"count\":100000000"), "{finished:?}");
    let score = &record.score;
    assert!(score.sent > 0 && score.received == 3 * score.sent && score.elapsed_s > 0.2, "{finished:?}");
    assert!(!record.checks.finished, "its own time ended it, and not a parent");
    assert_eq!(record.latency.as_ref().unwrap().count, score.received);
    let again = klatch_report::run_again(&record).unwrap().join(" ");
    assert!(again.contains(" --duration 0.3") && !again.contains("--count"), "{again}");
    record
}

#[test]
fn a_chat_for_a_time_is_checked_to_its_last_delivery() {
    for pacing in ["turns", "rounds"] {
        timed("native-epoll", &["--pacing", pacing]);
    }
    // On a busy machine a flood of 300 ms can be more than the server queues for a connection.
    timed("native-epoll", &["--pacing", "flood", "--knob", "sendq=1000000000"]);
    timed("native-epoll", &["--pause", "40ms", "--churn", "5"]);
    let rate = ["--pacing", "rate", "--rate", "50"];
    assert_eq!(timed("native-epoll", &rate).score.sent, 12 * 15);
    let poisson = [&rate[..], &["--arrivals", "poisson"]].concat();
    let sent = timed("native-epoll", &poisson).score.sent;
    assert!((100..260).contains(&sent) && sent != 180, "{sent}");
    // Nothing may be due within the time.
    let sent = |crowd| {
        let finished = Finished::run(
            run_once(tempfile::tempdir().unwrap().path(), &["--platform", "native-epoll", "--crowd", crowd])
                .args([
                    "--rooms",
                    "1",
                    "--users",
                    "2",
                    "--duration",
                    "1ms",
                    "--pacing",
                    "rate",
                    "--rate",
                    "0.1",
                ]),
        );
        assert_eq!(finished.status, Some(0), "{finished:?}");
        finished.record().score.sent
    };
    assert_eq!((sent("native"), sent("native-threads")), (0, 0));
    let threads = ["--crowd", "native-threads"];
    timed("native-threads", &threads);
    assert_eq!(timed("native-threads", &[&threads[..], &poisson].concat()).score.sent, sent_by(&poisson));
}

#[test]
fn a_warm_up_of_a_length_is_one_run() {
    let out = tempfile::tempdir().unwrap();
    let mut run = klatch();
    run.args(["run", "--platform", "native-epoll", "--trials", "1", "--warmup", "200ms", "--out"])
        .arg(out.path());
    let finished = Finished::run(run.args(SMALL).args(["--percentiles", "50,99.9"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.out.contains("\np50  ") && finished.out.contains("needs 10,000 samples, had 900"));
    let record = |name: &str| -> Record {
        let text = std::fs::read_to_string(out.path().join("latest").join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (warmup, trial) = (record("warm-up-1.json"), record("trial-1.json"));
    assert_eq!((warmup.workload.duration_s(), trial.workload.duration_s()), (Some(0.2), None));
    assert!(warmup.score.elapsed_s > 0.1 && trial.score.sent == 300, "{trial:?}");
    assert_eq!(trial.options.unwrap().warmup_s, Some(0.2));
}

/// The messages that are due in the time of [`timed`], whoever sends them.
fn sent_by(options: &[&str]) -> u64 {
    timed("native-epoll", options).score.sent
}

#[test]
fn every_pacing_is_valid_with_two_native_threads_a_user_on_both_sides() {
    let threads = |more: &[&str]| {
        let record = valid("native-threads", &[&["--crowd", "native-threads"], more].concat());
        let threads = record.usage.server.unwrap().threads.min(record.usage.crowd.unwrap().threads);
        assert!(threads >= 24, "got {threads}");
        record.score.elapsed_s
    };
    for pacing in ["turns", "rounds", "flood"] {
        threads(&["--pacing", pacing]);
    }
    assert!(threads(&["--pacing", "rate", "--rate", "50"]) > 0.4, "24 periods of 20 ms");
    assert!(threads(&["--pacing", "turns", "--pause", "0.02"]) > 0.4, "24 pauses of 20 ms");
}

#[test]
fn the_volanomark_test_of_a_java_platform_is_valid() {
    for pacing in ["turns", "rounds", "flood"] {
        let record = valid("java-threads", &["--crowd", "java", "--pacing", pacing]);
        assert!(record.platform.runtime.is_some() && record.crowd.runtime.is_some());
        let threads = record.usage.server.unwrap().threads.min(record.usage.crowd.unwrap().threads);
        assert!(threads >= 24, "two threads a user on both sides, got {threads}");
    }
    timed("java-threads", &["--crowd", "java"]);
    let poisson = ["--pacing", "rate", "--rate", "50", "--arrivals", "poisson"];
    let java = timed("java-threads", &[&["--crowd", "java"], &poisson[..]].concat());
    assert_eq!(java.score.sent, sent_by(&poisson), "every crowd has the same schedule");
    valid("java-threads", &["--crowd", "java", "--pacing", "rate", "--rate", "50"]);
    valid("native-epoll", &["--crowd", "java"]);
    valid("java-threads", &[]);
}

#[test]
fn a_record_matches_its_schema() {
    let record = serde_json::to_value(valid("native-epoll", &[])).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&Finished::run(klatch().arg("schema")).out).unwrap();
    jsonschema::validate(&schema, &record).unwrap();
    // A record from before `over_time` existed.
    let mut old = record;
    old.as_object_mut().unwrap().remove("over_time");
    assert_eq!(serde_json::from_value::<Record>(old).unwrap().over_time, None);
}

#[test]
fn warm_ups_do_not_count_and_every_run_has_its_record() {
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command
        .args(["run", "--platform", "native-epoll", "--warmups", "1", "--trials", "2", "--out"])
        .arg(out.path());
    let finished = Finished::run(command.args(SMALL));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for line in ["warm-up 1: ", "trial 2: ", "messages received", "the middle one of 2 trials"] {
        assert!(finished.out.contains(line), "{line:?} is not in {}", finished.out);
    }
    // The end is the sentence of the report, the folder, and a command.
    let report = Finished::run(
        klatch().arg("report").arg(out.path().join("latest")).args(["--format", "json", "--out", "-"]),
    );
    let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    let lines: Vec<&str> = finished.out.lines().collect();
    let [answer, "", results, next] = lines[lines.len() - 4..] else { panic!("{}", finished.out) };
    assert_eq!(answer, report["answer"]);
    assert!(
        (answer.starts_with("native-epoll carries ") || answer.contains(". native-epoll needs "))
            && results.starts_with("results: "),
        "{finished:?}"
    );
    assert!(next.starts_with("next: klatch "), "{next}");
    let folder = std::fs::read_dir(out.path().join("latest")).unwrap();
    let mut files: Vec<String> =
        folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["trial-1.json", "trial-2.json", "warm-up-1.json"]);
}

#[test]
fn requirements_decide_the_exit_status_and_are_in_record_report_and_junit() {
    let out = tempfile::tempdir().unwrap();
    let junit = out.path().join("junit.xml");
    let run = |more: &[&str]| {
        let mut command = klatch();
        command.args(["run", "--platform", "native-epoll", "--warmups", "0", "--junit"]).arg(&junit);
        Finished::run(
            command.args(SMALL).args(more).arg("--out").arg(out.path()).env("GITHUB_ACTIONS", "true"),
        )
    };
    let met = run(&["--trials", "2", "--require", "errors == 0; p99 < 1000s", "--require", "p50 < 100s"]);
    assert_eq!(met.status, Some(0), "{met:?}");
    assert!(met.out.contains("\n\nmet: errors == 0: 0\nmet: p99 < 1000s: "), "{met:?}");
    assert!(std::fs::read_to_string(&junit).unwrap().contains("tests=\"3\" failures=\"0\" errors=\"0\""));
    let record = std::fs::read_to_string(out.path().join("latest/trial-1.json")).unwrap();
    let record: Record = serde_json::from_str(&record).unwrap();
    assert_eq!(record.options.unwrap().require, ["errors == 0", "p99 < 1000s", "p50 < 100s"]);
    let report = Finished::run(
        klatch().arg("report").arg(out.path().join("latest")).args(["--out", "-", "--format", "md"]),
    );
    assert!(
        report.out.contains("* met: errors == 0: 0\n") && report.out.contains("--require 'errors == 0'"),
        "{report:?}"
    );
    let undecided = run(&["--trials", "1", "--require", "throughput > 1"]);
    assert_eq!(undecided.status, Some(4), "{undecided:?}");
    assert!(
        undecided.err.contains("::warning title=klatch::cannot be decided: throughput > 1"),
        "{undecided:?}"
    );
    let not_met = run(&["--trials", "2", "--json", "--require", "errors > 0"]);
    assert_eq!(not_met.status, Some(5), "{not_met:?}");
    assert!(
        not_met.err.contains("not met: errors > 0: 0")
            && not_met.err.contains("::error title=klatch::not met")
    );
    assert_eq!(not_met.out.lines().count(), 2, "standard output has the records alone: {not_met:?}");
    assert!(std::fs::read_to_string(&junit).unwrap().contains("<failure type=\"not met\""));
    let starts = run(&["--starts", "2", "--trials", "2", "--require", "errors == 1"]);
    assert_eq!(starts.status, Some(5), "{starts:?}");
    let wrong = run(&["--require", "p98 < 5ms"]);
    assert!(
        wrong.status == Some(2) && wrong.err.contains("there is no metric p98; there are throughput"),
        "{wrong:?}"
    );
    let foreign = run(&["--require", "tops > 5"]);
    assert!(foreign.status == Some(2) && foreign.err.contains("there is no metric tops"), "{foreign:?}");
}

/// Several platforms, or several starts, are a study with its folder, its page and its answer.
#[test]
fn several_platforms_or_starts_are_a_study() {
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["run", "--platform", "native-epoll,native-threads", "--starts", "2", "--trials", "2"]);
    let finished = Finished::run(
        command
            .args(["--warmups", "0", "--rooms", "2", "--users", "4", "--count", "50", "--out"])
            .arg(out.path()),
    );
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let folder = std::fs::canonicalize(out.path().join("latest")).unwrap();
    let text = std::fs::read_to_string(folder.join("result.json")).unwrap();
    let result: klatch_record::StudyResult = serde_json::from_str(&text).unwrap();
    let cells: Vec<(&str, u32)> = result.cells.iter().map(|cell| (cell.id.as_str(), cell.trials)).collect();
    assert_eq!(cells, [("native-epoll", 4), ("native-threads", 4)]);
    let results = result_folder(&finished);
    let end = format!("results: {results}\nreport: {results}/report.html\nnext: klatch ");
    assert!(finished.out.contains(&end), "{end:?} is not in {finished:?}");
    let target = Finished::run(klatch().args(["run", "--target", "irc://127.0.0.1:1", "--starts", "2"]));
    assert!(target.status == Some(2) && target.err.contains("which has no --target"), "{target:?}");
}

/// The folder that a command names as that of its results.
fn result_folder(finished: &Finished) -> String {
    let line = finished.out.lines().find_map(|line| line.strip_prefix("results: "));
    line.expect("a line with the folder").to_owned()
}

/// A run of about ten seconds that the test interrupts.
fn slow_run(out: &std::path::Path, arguments: &[&str]) -> std::process::Child {
    let slow = ["--pacing", "rate", "--rate", "5", "--count", "50", "--rooms", "2", "--users", "4"];
    let mut command = run_once(out, arguments);
    command.args(slow).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_server_paused_for_a_second_shows_in_the_latency() {
    let out = tempfile::tempdir().unwrap();
    let server = NativeServer::start();
    let target = format!("irc://{}", server.address);
    let pid = Pid::from_child(&server.child);
    let mut run = slow_run(out.path(), &["--target", &target]);
    until_joined(&mut run);
    kill_process(pid, Signal::STOP).unwrap();
    // The pause itself is under test, so there is no event to wait for.
    std::thread::sleep(std::time::Duration::from_secs(1));
    kill_process(pid, Signal::CONT).unwrap();
    let record = Finished::from(run.wait_with_output().unwrap()).record();
    assert_eq!(record.verdict.status, Status::Valid, "{record:?}");
    let latency = record.latency.unwrap();
    // One second of ten: messages scheduled in it waited for 0 to 1 s, evenly distributed.
    assert!(latency.p99_us > 700_000.0, "p99 was {} µs", latency.p99_us);
    assert!(latency.p50_us < 100_000.0, "p50 was {} µs", latency.p50_us);
}

#[test]
fn a_server_that_is_killed_makes_the_run_invalid() {
    let out = tempfile::tempdir().unwrap();
    let mut run = slow_run(out.path(), &["--platform", "native-epoll"]);
    until_joined(&mut run);
    let children = children_of(run.id());
    let (server, _) = children.iter().find(|(_, line)| line.contains(" serve ")).expect("a server");
    kill_process(Pid::from_raw(*server as i32).unwrap(), Signal::KILL).unwrap();
    let finished = Finished::from(run.wait_with_output().unwrap());
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
    assert!(
        record.verdict.reasons[0].message.starts_with("the server died: killed by SIGKILL"),
        "{record:?}"
    );
    assert_eq!(record.checks.failure.unwrap().kind, FailureKind::Disconnect);
}

#[test]
fn ctrl_c_stops_server_and_crowd_and_keeps_finished_records() {
    for signal in [Signal::INT, Signal::TERM] {
        let out = tempfile::tempdir().unwrap();
        let mut run = slow_run(out.path(), &["--platform", "native-epoll"]);
        until_joined(&mut run);
        let children = children_of(run.id());
        assert_eq!(children.len(), 2, "{children:?}");
        kill_process(Pid::from_child(&run), signal).unwrap();
        let finished = Finished::from(run.wait_with_output().unwrap());
        assert_eq!(finished.status, Some(130), "{finished:?}");
        assert!(finished.out.is_empty(), "an unfinished run has no record: {finished:?}");
        for (pid, line) in children {
            assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{line} still runs");
        }
    }
}

#[test]
fn nothing_outlives_a_klatch_that_is_killed() {
    let out = tempfile::tempdir().unwrap();
    let mut run = slow_run(out.path(), &["--platform", "native-epoll"]);
    until_joined(&mut run);
    let children: Vec<Pid> =
        children_of(run.id()).iter().filter_map(|(pid, _)| Pid::from_raw(*pid as i32)).collect();
    assert_eq!(children.len(), 2);
    let open = |pid: &Pid| rustix::process::pidfd_open(*pid, rustix::process::PidfdFlags::empty()).unwrap();
    let handles: Vec<_> = children.iter().map(open).collect();
    run.kill().unwrap();
    run.wait().unwrap();
    for handle in handles {
        let mut waiting = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
        let limit = rustix::event::Timespec { tv_sec: 10, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut waiting, Some(&limit)), Ok(1), "it still runs after 10 s");
    }
}

/// In a closed loop nothing is late: only the crowd itself can know.
#[test]
fn a_crowd_that_was_stopped_is_named_and_the_server_is_not() {
    for crowd in ["native", "java"] {
        let out = tempfile::tempdir().unwrap();
        let mut command = run_once(out.path(), &["--platform", "native-epoll", "--crowd", crowd]);
        command
            .args(["--pacing", "rounds", "--pause", "0.05", "--count", "90", "--rooms", "2", "--users", "4"]);
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until_joined(&mut run);
        let children = children_of(run.id());
        let (pid, _) = children.iter().find(|(_, line)| line.contains(" crowd ")).expect("a crowd");
        let pid = Pid::from_raw(*pid as i32).unwrap();
        // The gate opens now; what follows is the gap under test, so there is no event to wait for.
        let stop = |before_ms, length_ms| {
            std::thread::sleep(std::time::Duration::from_millis(before_ms));
            kill_process(pid, Signal::STOP).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(length_ms));
            kill_process(pid, Signal::CONT).unwrap();
        };
        stop(500, 1_000);
        // Longer than the pauses, so that timers of the native crowd's loop end within it; several, since a loop that waits for a server
        // without a CPU is due at no known time.
        (0..6).for_each(|_| stop(200, 120));
        let record = Finished::from(run.wait_with_output().unwrap()).record();
        assert_eq!(record.verdict.status, Status::Valid, "{record:?}");
        let gaps = &record.shards[0].gaps;
        assert!(gaps.iter().any(|gap| gap.length_s() > 0.7 && gap.from_s > 0.0), "{crowd}: {gaps:?}");
        // What is too short to freeze a crowd is noticed by a loop, and not by threads of users.
        let is_short = |gap: &CrowdGap| (0.03..0.25).contains(&gap.length_s());
        assert!(crowd == "java" || gaps.iter().any(is_short), "{gaps:?}");
        let warned = record.warnings.iter().find(|warning| warning.kind == WarningKind::CrowdFrozen);
        let message = &warned.expect("a warning").message;
        assert!(message.starts_with("the crowd itself did not run for "), "{message}");
    }
}
