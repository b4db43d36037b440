//! Studies as a user runs them: planned, run, killed, resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Finished, children_of, klatch};
use klatch_record::{CellStatus, InstrumentName, Record, StudyResult};
use klatch_testing::{Need, needs};

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
    assert!(plan.out.contains("in 2 starts") && plan.out.contains("2 runs, about 12 s"), "{plan:?}");
    let first = result(&Finished::run(&mut study(folder.path(), DUETS, &["--json"])));
    let [pair] = first.pairs.as_slice() else { panic!("{first:?}") };
    assert!(pair.a.contains("nice-0") && pair.b.contains("nice-5") && pair.slices > 20, "{pair:?}");
    let cpu = pair.metrics.iter().find(|metric| metric.metric == "server_cpu_us_per_message").unwrap();
    assert!(cpu.ratio.is_some_and(|ratio| (0.5..2.0).contains(&ratio.estimate)), "{cpu:?}");
    assert!(first.cells.iter().all(|cell| cell.trials == 2), "{first:?}");
    let store = folder.path().join("results/latest");
    let report = std::fs::read_to_string(store.join("report.html")).unwrap();
    assert!(report.contains("nice-5 (B) against"), "no table of the pair");
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
    let text =
        SMALL.replace("preset = 'ibm-2000'\ntrials_max = 3", "within_percent = 0.001\ntrials_max = 16");
    let mut random = fastrand::Rng::with_seed(20261121);
    let mut earlier = BTreeMap::new();
    for kill in 0..10 {
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
    let expected = |id| (id, CellStatus::NotConverged, 16, 0);
    assert_eq!(cells, [expected("native-epoll_rooms-1"), expected("native-epoll_rooms-2")]);
    let now = records(&folder.path().join("results"));
    assert!(earlier.iter().all(|(path, text)| now.get(path) == Some(text)));
    let trials =
        now.keys().filter(|path| path.file_name().is_some_and(|name| name == "trial-1.json")).count();
    assert_eq!(trials, 32);
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
    refused(&format!("{SMALL}speed = 3\n"), &[], "small.toml:10:1: unknown field `speed`");
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
