//! Instruments in whole runs: as root, as nobody, and when Klatch is killed. The tests need root, as the instruments do.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::{Finished, klatch, run_once, unshared};
use klatch_record::{InstrumentName, ObservationData, Status, Support};
use klatch_testing::{Need, needs};
use rustix::process::{Pid, Signal, kill_process};

const SMALL: [&str; 6] = ["--rooms", "3", "--users", "4", "--count", "25"];

fn all() -> String {
    InstrumentName::ALL.map(InstrumentName::name).join(",")
}

#[test]
fn a_run_with_every_instrument_has_all_observations_within_the_bounds() {
    needs!(Need::Root, Need::Bpf);
    let out = tempfile::tempdir().unwrap();
    let names = all();
    let arguments = ["--platform", "java-threads", "--instrument", &names];
    let finished = Finished::run(run_once(out.path(), &arguments).args(SMALL));
    let record = finished.record();
    assert_eq!(record.verdict.status, Status::Valid, "{finished:?}");
    assert_eq!(record.environment.instruments.len(), InstrumentName::ALL.len());
    assert_eq!(record.observations.len(), InstrumentName::ALL.len());
    for one in &record.observations {
        // Some CPUs hide their counters. The record then states that and contains no substitute.
        let counter = matches!(
            one.instrument,
            InstrumentName::Instructions | InstrumentName::CacheMisses | InstrumentName::ModelledCycles
        );
        if let (true, Support::NotAvailable { why, .. }) = (counter, &one.support) {
            assert!(why.contains("no counter") || why.contains("only the lab"), "{one:?}");
            assert!(one.data.is_none(), "{one:?}");
            continue;
        }
        assert!(one.data.is_some() && one.failure.is_none(), "{one:?}");
        for file in &one.files {
            assert!(out.path().join("latest").join(file).is_file(), "{file}");
        }
    }
    let memory: u64 = record.observations.iter().filter_map(|one| Some(one.cost?.memory_bytes)).sum();
    assert!(memory < 200 << 20, "{memory} bytes of tables");
    let schema: serde_json::Value = serde_json::from_str(&Finished::run(klatch().arg("schema")).out).unwrap();
    jsonschema::validate(&schema, &serde_json::to_value(&record).unwrap()).unwrap();
    let trace = out.path().join("latest/trial-1.trace");
    let summary = Finished::run(klatch().args(["trace", "summary"]).arg(&trace)).out;
    assert!(summary.contains("switch"), "{summary}");
    // The summary has the busiest threads, which may be of other programs.
    let events = Finished::run(klatch().args(["trace", "show"]).arg(&trace)).out;
    assert!(events.contains("klatch:"), "{summary}");
    let exported = out.path().join("trace.json");
    Finished::run(klatch().args(["trace", "export"]).arg(&trace).arg("--perfetto").arg(&exported));
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(exported).unwrap()).unwrap();
    assert!(json["traceEvents"].as_array().unwrap().len() > 10);
}

#[test]
fn without_root_some_instruments_work_and_the_others_give_a_remedy() {
    needs!(Need::Root);
    // A copy of the program that every user can execute.
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let program = place.path().join("klatch");
    std::fs::copy(env!("CARGO_BIN_EXE_klatch"), &program).unwrap();
    let nobody = || {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .env("HOME", place.path());
        command
    };
    let finished = Finished::run(nobody().arg("instruments"));
    assert!(finished.out.contains("need root") && finished.out.contains("sudo klatch"), "{finished:?}");
    let mut run = nobody();
    run.args(["run", "--platform", "native-epoll", "--warmups", "0", "--trials", "1", "--json", "--out"]);
    let record =
        Finished::run(run.arg(place.path().join("out")).args(SMALL).args(["--instrument", &all()])).record();
    assert_eq!(record.verdict.status, Status::Valid);
    for one in &record.observations {
        let without_rights =
            [InstrumentName::Usage, InstrumentName::Tcp, InstrumentName::Jvm, InstrumentName::Jfr];
        assert!(one.support.works() || !without_rights.contains(&one.instrument), "{one:?}");
        // What says that it works has data.
        assert_eq!(one.data.is_some(), one.support.works(), "{one:?}");
        if let Support::NotAvailable { remedy, .. } = &one.support {
            assert!(!remedy.is_empty());
        }
    }
}

/// Ids of the BPF programs that a process holds.
fn programs_of(pid: u32) -> Vec<u32> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    let number =
        |text: String| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok());
    texts.filter_map(number).collect()
}

#[test]
fn nothing_stays_loaded_when_klatch_is_killed_or_interrupted() {
    needs!(Need::Root, Need::Bpf);
    [Signal::KILL, Signal::INT].into_iter().for_each(nothing_stays_loaded_after);
}

fn nothing_stays_loaded_after(signal: Signal) {
    let out = tempfile::tempdir().unwrap();
    let names = all();
    let slow = ["--pacing", "rate", "--rate", "5", "--count", "100", "--rooms", "2", "--users", "4"];
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut run = run_once(out.path(), &["--platform", "native-epoll", "--instrument", &names])
        .args(slow)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The crowd reports progress only after the gate, when the instruments have started.
    let lines = std::io::BufRead::lines(std::io::BufReader::new(run.stderr.as_mut().unwrap()));
    assert!(lines.map_while(Result::ok).any(|line| line.contains(" of ")), "the run never went on");
    let programs = programs_of(run.id());
    assert!(programs.len() > 10, "{programs:?}");
    kill_process(Pid::from_child(&run), signal).unwrap();
    run.wait().unwrap();
    // The kernel frees programs a moment after the process has ended.
    let left = || {
        let there: Vec<u32> = libbpf_rs::query::ProgInfoIter::default().map(|program| program.id).collect();
        programs.iter().filter(|program| there.contains(program)).count()
    };
    let begin = std::time::Instant::now();
    while left() > 0 {
        assert!(begin.elapsed().as_secs() < 20, "{} programs are still loaded", left());
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_to_string("/proc/self/mounts").unwrap(), mounts);
}

#[test]
fn in_a_pid_namespace_what_recognizes_processes_is_refused() {
    needs!(Need::Root, Need::Bpf);
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--platform", "native-epoll", "--instrument", "wakeups,runqueue"];
    let mut run = run_once(out.path(), &arguments);
    run.args(SMALL);
    let record = Finished::run(&mut unshared(&["--pid", "--fork", "--mount-proc"], "", &run)).record();
    assert_eq!(record.verdict.status, Status::Valid);
    for one in &record.environment.instruments {
        let by_process = matches!(
            one.instrument,
            InstrumentName::Profile
                | InstrumentName::Wakeups
                | InstrumentName::Locks
                | InstrumentName::Syscalls
                | InstrumentName::Trace
        );
        if by_process {
            let Support::NotAvailable { why, remedy } = &one.support else { panic!("{one:?}") };
            assert!(why.contains("PID namespace") && remedy.contains("hostPID: true"), "{one:?}");
        }
    }
    let [runqueue, wakeups] = record.observations.try_into().unwrap();
    assert!(wakeups.data.is_none(), "{wakeups:?}");
    // It has no sides.
    assert!(runqueue.data.is_some(), "{runqueue:?}");
    let trace = out.path().join("one.trace");
    let mut record = klatch();
    record.args(["trace", "record", "--duration", "1s"]).arg(&trace);
    let refused = Finished::run(&mut unshared(&["--pid", "--fork", "--mount-proc"], "", &record));
    assert!(refused.status == Some(2) && refused.err.contains("PID namespace"), "{refused:?}");
}

#[test]
fn a_wrong_list_of_cpus_changes_no_result() {
    needs!(Need::Root, Need::Bpf);
    let cpus = libbpf_rs::num_possible_cpus().unwrap();
    for listed in ["0".to_owned(), format!("0-{}", 8 * cpus)] {
        let out = tempfile::tempdir().unwrap();
        let cover = |file: &str| {
            format!("mount --bind {} /sys/devices/system/cpu/{file}", out.path().join("cpus").display())
        };
        std::fs::write(out.path().join("cpus"), &listed).unwrap();
        let script = format!("{}\n{}", cover("possible"), cover("online"));
        let names = "runqueue,wakeups,profile,trace";
        let mut run = run_once(out.path(), &["--platform", "native-epoll", "--instrument", names]);
        run.args(SMALL);
        let finished = Finished::run(&mut unshared(&["--mount"], &script, &run));
        let record = finished.record();
        assert_eq!(record.verdict.status, Status::Valid, "{listed}: {finished:?}");
        for one in &record.observations {
            assert!(one.failure.is_none(), "{listed}: {one:?}");
            match one.data.as_ref().unwrap() {
                ObservationData::Runqueue(runqueue) => {
                    assert_eq!(runqueue.cpus.len(), cpus, "{listed}: {runqueue:?}");
                    // The whole is less than a second: memory of something else would hardly be so little.
                    assert!((1..1_000_000).contains(&runqueue.all.decisions), "{listed}: {runqueue:?}");
                }
                ObservationData::Wakeups(wakeups) => {
                    let server = wakeups.server.as_ref().unwrap();
                    assert!(
                        server.wakeups < 1_000_000 && server.latency_us.max < 1e9,
                        "{listed}: {server:?}"
                    );
                }
                ObservationData::Trace(trace) => {
                    let by_kind: u64 = trace.kinds.values().sum();
                    assert!(
                        trace.events > 0 && by_kind == trace.events && trace.lost == 0,
                        "{listed}: {trace:?}"
                    );
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_clock_of_the_machine_that_stands_still_is_no_idle_machine() {
    needs!(Need::Root);
    let out = tempfile::tempdir().unwrap();
    let (stat, load) = (out.path().join("stat"), out.path().join("loadavg"));
    // As gVisor prints them.
    std::fs::write(&stat, "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n").unwrap();
    std::fs::write(&load, "0.00 0.00 0.00 0/0 0\n").unwrap();
    let mount = |from: &std::path::Path, to: &str| format!("mount --bind {} {to}", from.display());
    let run = |script: &str| {
        let mut run = run_once(out.path(), &["--platform", "native-epoll"]);
        run.args(SMALL);
        Finished::run(&mut unshared(&["--mount"], script, &run)).record()
    };
    let environment =
        run(&format!("{}\n{}", mount(&stat, "/proc/stat"), mount(&load, "/proc/loadavg"))).environment;
    let unknown = (None, None, None, None);
    let found = (
        environment.steal_share_since_boot,
        environment.steal_share_in_run,
        environment.others_share_in_run,
        environment.load_1min,
    );
    assert_eq!(found, unknown);
    // The load average is what is left.
    std::fs::write(&load, "1000.00 9.00 9.00 2/100 1\n").unwrap();
    let record = run(&format!("{}\n{}", mount(&stat, "/proc/stat"), mount(&load, "/proc/loadavg")));
    assert!(
        record.warnings.iter().any(|warning| warning.message.contains("load average was 1000.00")),
        "{record:?}"
    );
}
