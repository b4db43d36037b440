//! Studies as a user runs them: planned, run, killed, resumed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Finished, children_of, decided, klatch};
use klatch_record::{CellStatus, InstrumentName, Record, StudyResult};
use klatch_testing::{Need, needs};
use rustix::process::{Pid, Signal, kill_process};

const SMALL: &str = "question = 'Are two rooms slower than one?'
platforms = ['native-epoll']
[workload]
rooms = [1, 2]
users = 5
count = 20
[rules]
preset = 'ibm-2000'
trials_max = 3
";

/// A study of the lab with one cell and two boots.
const EMULATED: &str = "question = 'What does a decision cost?'
schedulers = ['goodness:version=24']
seeds = [1, 2]
command = 'probe yield --tasks {tasks}'
show = ['cost']
[vary]
tasks = [10]
";

/// A simulated study of two cells.
const SIMULATED: &str = "question = 'Do two CPUs carry more?'
machine = ['1 cpu', '2 cpus']
schedulers = 'o1'
[work]
kind = 'chat'
rooms = 1
count = 10
";

fn study(folder: &Path, text: &str, arguments: &[&str]) -> Command {
    let file = folder.join("small.toml");
    std::fs::write(&file, text).unwrap();
    let mut command = klatch();
    command.arg("study").arg(file).arg("--out").arg(folder.join("results")).args(arguments);
    command
}

fn result(finished: &Finished) -> StudyResult {
    assert_eq!(finished.status, Some(0), "{finished:?}");
    serde_json::from_str(&finished.out).unwrap_or_else(|error| panic!("no result ({error}): {finished:?}"))
}

#[test]
fn a_study_is_planned_run_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Finished::run(&mut study(folder.path(), SMALL, &["--dry-run"]));
    assert!(plan.out.contains("native-epoll_rooms-2") && plan.out.contains("8 runs, about "), "{plan:?}");
    assert!(!folder.path().join("results").exists());
    let finished = Finished::run(&mut study(folder.path(), SMALL, &[]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.out.contains("Are two rooms slower than one?")
            && finished.out.contains("complete: 3 trials"),
        "{finished:?}"
    );
    let one = result(&Finished::run(&mut study(folder.path(), SMALL, &["--only", "rooms-1", "--json"])));
    assert_eq!((one.cells.len(), one.cells[0].trials), (1, 3));
    assert!(one.cells[0].estimates["messages_per_s"].mean > 0.0);
}

const DUETS: &str = "question = 'Does it matter that the server is nice?'
platforms = ['native-epoll']
[workload]
rooms = 1
users = 5
[server]
nice = [0, 5]
[rules]
preset = 'duet'
compare = 'nice'
trials_max = 2
";

/// An interrupted study of duets goes on where it stopped.
#[test]
fn a_study_of_duets_compares_each_cell_with_its_reference() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Finished::run(&mut study(folder.path(), DUETS, &["--dry-run"]));
    assert!(plan.out.contains("in 2 starts") && plan.out.contains("2 runs, about 18 s"), "{plan:?}");
    let first = result(&Finished::run(&mut study(folder.path(), DUETS, &["--json"])));
    let [pair] = first.pairs.as_slice() else { panic!("{first:?}") };
    assert!(pair.a.contains("nice-0") && pair.b.contains("nice-5") && pair.slices > 0, "{pair:?}");
    let cpu = pair.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    assert!(decided("the pair", cpu).is_none_or(|ratio| (0.2..5.0).contains(&ratio.estimate)), "{cpu:?}");
    assert!(first.cells.iter().all(|cell| cell.trials == 2), "{first:?}");
    let store = folder.path().join("results/latest");
    let report = std::fs::read_to_string(store.join("report.html")).unwrap();
    assert!(report.contains("nice-5 against"), "no table of the pair");
    // Without the result and with the stored start, nothing is measured again.
    std::fs::remove_file(store.join("result.json")).unwrap();
    let again = result(&Finished::run(&mut study(folder.path(), DUETS, &["--json", "--resume"])));
    assert_eq!(again.pairs, first.pairs);
    let wrong = DUETS.replace("compare = 'nice'", "compare = 'tea'");
    let refused = Finished::run(&mut study(folder.path(), &wrong, &[]));
    assert!(refused.status == Some(2) && refused.err.contains("tea does not have two values"), "{refused:?}");
}

/// All record files below a folder with their contents.
fn records(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut records = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            records.extend(self::records(&path));
        } else if path.extension().is_some_and(|ending| ending == "json")
            && path.parent().is_some_and(is_block)
        {
            records.insert(path.clone(), std::fs::read_to_string(&path).unwrap());
        }
    }
    records
}

fn is_block(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("block-"))
}

#[test]
fn a_killed_study_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace("preset = 'ibm-2000'\ntrials_max = 3", "trials_max = 8");
    let mut random = fastrand::Rng::with_seed(20261121);
    let mut earlier = BTreeMap::new();
    for kill in 0..5 {
        let arguments: &[&str] =
            if earlier.is_empty() && kill == 0 { &["--json"] } else { &["--json", "--resume"] };
        let mut command = study(folder.path(), &text, arguments);
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // An arbitrary moment, except that the first kill waits for a finished run.
        let begun = || std::fs::read_dir(folder.path().join("results")).is_ok_and(|all| all.count() > 1);
        while kill == 0 && !begun() && running.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(random.u64(50..700)));
        let children = children_of(running.id());
        let ended = running.try_wait().unwrap();
        assert!(ended.is_none_or(|status| status.success()), "{ended:?}");
        let _ = running.kill();
        running.wait().unwrap();
        for (child, line) in children {
            crate::support::gone(child).unwrap_or_else(|| panic!("{line} ({child}) was left running"));
        }
        let now = records(&folder.path().join("results"));
        assert!(
            earlier.iter().all(|(path, text)| now.get(path) == Some(text)),
            "a finished run was lost or repeated"
        );
        earlier = now;
    }
    let whole = result(&Finished::run(&mut study(folder.path(), &text, &["--json", "--resume"])));
    let cells: Vec<_> = whole
        .cells
        .iter()
        .map(|cell| (cell.id.as_str(), cell.status, cell.trials, cell.failures.len()))
        .collect();
    let expected = |id| (id, CellStatus::Complete, 8, 0);
    assert_eq!(cells, [expected("native-epoll_rooms-1"), expected("native-epoll_rooms-2")]);
    let now = records(&folder.path().join("results"));
    assert!(earlier.iter().all(|(path, text)| now.get(path) == Some(text)));
    let trials =
        now.keys().filter(|path| path.file_name().is_some_and(|name| name == "trial-1.json")).count();
    assert_eq!(trials, 16);
}

#[test]
fn invalid_studies_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, arguments: &[&str], expected: &str| {
        let finished = Finished::run(&mut study(folder.path(), text, arguments));
        assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
        assert!(finished.err.contains(expected), "{finished:?}");
        assert!(!folder.path().join("results").exists());
    };
    refused(&format!("{SMALL}speed = 3\n"), &[], "small.toml:10:1: unknown field speed; there are ");
    refused(&SMALL.replace("[1, 2]", "[1, 5000]"), &[], "small.toml:4:9: ");
    let sysctls = format!("{SMALL}[sysctls]\n'vm.swappiness' = [10, 60]\n");
    refused(&sysctls, &[], "small sets sysctls of this machine; allow it with --allow-sysctl");
    refused(SMALL, &["--only", "redis"], "no cell of small has redis in its name");
    refused(SMALL, &["--resume"], "no study small in ");
}

#[test]
fn a_study_with_instruments_records_their_observations() {
    needs!(Need::Bpf);
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace("platforms =", "instruments = ['usage', 'trace']\nplatforms =");
    let plan = Finished::run(&mut study(folder.path(), &text, &["--dry-run"]));
    assert!(plan.out.contains("instruments: usage, trace"), "{plan:?}");
    let one = result(&Finished::run(&mut study(folder.path(), &text, &["--only", "rooms-1", "--json"])));
    assert_eq!(one.cells[0].trials, 3);
    let earlier = records(&folder.path().join("results"));
    let is_trial =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trial-"));
    let trials: Vec<_> = earlier.iter().filter(|(path, _)| is_trial(path)).collect();
    assert_eq!(trials.len(), 3, "{:?}", earlier.keys());
    for (path, text) in trials {
        let record: Record = serde_json::from_str(text).unwrap();
        let seen: Vec<_> = record.observations.iter().map(|one| one.instrument).collect();
        assert_eq!(seen, [InstrumentName::Usage, InstrumentName::Trace]);
        let files = record.observations.iter().flat_map(|one| &one.files);
        let there: Vec<_> = files.map(|file| path.with_file_name(file).is_file()).collect();
        assert_eq!(there, [true], "the trace is beside its record: {record:?}");
    }
}

#[test]
fn the_list_has_every_study_with_its_kind() {
    let finished = Finished::run(klatch().arg("study"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let of = |name: &str| finished.out.lines().find(|line| line.split_whitespace().next() == Some(name));
    for (name, kind) in
        [("threads-2000", "measured"), ("goodness-cost", "emulated"), ("eight-cpus", "simulated")]
    {
        assert_eq!(of(name).and_then(|line| line.split_whitespace().nth(1)), Some(kind), "{finished:?}");
    }
    let json = Finished::run(klatch().args(["study", "--json"]));
    let listed: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The first line names the columns.
    assert_eq!(listed.len(), finished.out.lines().count() - 1);
    assert!(listed.iter().any(|study| study["name"] == "survive" && study["kind"] == "emulated"), "{json:?}");
}

#[test]
fn a_file_of_each_kind_is_planned_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let boot = "    klatch sched run goodness --out scheduler.json --knob version=24 -- /klatch probe yield --tasks 10 --json\n";
    for (text, expected) in [
        (SMALL, ["  native-epoll_rooms-2\n", "8 runs, about "]),
        (EMULATED, [boot, "  goodness-version-24\n"]),
        (EMULATED, ["rules: each cell with 2 seeds", "1 cell, 2 trials\n"]),
        (SIMULATED, ["  cpus-2_o1\n", "2 cells, 6 trials\n"]),
    ] {
        let plan = Finished::run(&mut study(folder.path(), text, &["--dry-run"]));
        assert_eq!(plan.status, Some(0), "{plan:?}");
        assert!(expected.iter().all(|part| plan.out.contains(part)), "{plan:?}");
        let one = Finished::run(&mut study(folder.path(), text, &["--dry-run", "--only", "nothing"]));
        assert!(one.status == Some(2) && one.err.contains("no cell of small has nothing"), "{one:?}");
    }
    assert!(!folder.path().join("results").exists());
}

#[test]
fn an_option_for_another_kind_of_study_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (text, option, message) in [
        (SMALL, "--twice", "--twice is for studies of the lab; small is a measured study"),
        (
            SMALL,
            "--jobs=2",
            "--jobs is for studies of the lab and simulated studies; small is a measured study",
        ),
        (EMULATED, "--seed=3", "--seed is for measured studies; small is a study of the lab"),
        (EMULATED, "--sensitivity", "--sensitivity is for simulated studies; small is a study of the lab"),
        (
            SIMULATED,
            "--java=x",
            "--java is for measured studies and studies of the lab; small is a simulated study",
        ),
        (SIMULATED, "--web", "--web is for measured studies; small is a simulated study"),
    ] {
        for more in [&[][..], &["--dry-run"]] {
            let arguments = [&[option], more].concat();
            let refused = Finished::run(&mut study(folder.path(), text, &arguments));
            assert_eq!(refused.status, Some(2), "{refused:?}");
            assert_eq!(refused.err, format!("klatch: {message}\n"), "{refused:?}");
        }
    }
    assert!(!folder.path().join("results").exists());
}

#[test]
fn a_simulated_study_has_a_result_and_a_report_that_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| Finished::run(&mut study(folder.path(), SIMULATED, more));
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
    let other = SIMULATED.replace("rooms = 1", "rooms = 2");
    let changed = Finished::run(&mut study(folder.path(), &other, &["--resume", results.to_str().unwrap()]));
    assert_eq!(changed.status, Some(2), "{changed:?}");
    assert!(changed.err.contains("differs from the study file"), "{changed:?}");
}

#[test]
fn an_interrupted_simulated_study_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{}[rules]\nseeds = 200\n", SIMULATED.replace("'1 cpu', ", ""));
    let mut command = study(folder.path(), &text, &["--jobs", "1"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with(", seed 1")), "no trial ended");
    kill_process(Pid::from_child(&running), Signal::INT).unwrap();
    let printed = lines.count();
    let stopped = running.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(130), "{error}");
    assert!(error.contains("continue with: klatch study "), "{error}");
    assert!(printed < 199, "the study ended before the signal");
    let whole = result(&Finished::run(&mut study(folder.path(), &text, &["--json", "--resume"])));
    assert_eq!((whole.cells.len(), whole.cells[0].trials), (1, 200));
    assert_eq!(whole.kind.name(), "simulated");
    let again = Finished::run(&mut study(folder.path(), &text, &["--resume"]));
    assert!(again.status == Some(0) && !again.out.contains(", seed "), "{again:?}");
}
