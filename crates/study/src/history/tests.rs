//! Histories of written records and duets.

use std::path::{Path, PathBuf};

use klatch_record::samples::{record, usage};
use klatch_record::{
    Build, DUET_SCHEMA_NAME, Duet, DuetEnd, DuetMetric, DuetSide, HistorySeries, METRICS, Metric,
    RatioEstimate, Record, Role, SERVER_CPU, SeriesKind, UsageOfBoth, Workload,
};
use klatch_stats::{Design, ratio_of_geometric_means};

use super::*;

fn terms() -> HistoryTerms {
    HistoryTerms {
        metrics: vec![Metric::named(SERVER_CPU).unwrap()],
        order: HistoryOrder::Time,
        points_max: 300,
        significance: 0.01,
    }
}

fn save(path: PathBuf, value: &impl serde::Serialize) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, serde_json::to_string(value).unwrap()).unwrap();
}

/// A record of a build that needed so much CPU time, and began so many minutes after the first.
fn trial(label: &str, minute: usize, number: u32, cpu_us: f64) -> Record {
    let mut record = record(number, 0, 50_000.0);
    record.started_at =
        format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60);
    record.options.as_mut().unwrap().label = Some(label.to_owned());
    record.usage = UsageOfBoth { server: Some(usage(cpu_us * 0.4)), crowd: None, database: None };
    record
}

/// A scatter of about 1 %, the same in every test.
fn noise(rng: &mut fastrand::Rng) -> f64 {
    1.0 + 0.01 * ((0..12).map(|_| rng.f64()).sum::<f64>() - 6.0)
}

/// Level of a commit: slower by 5 % from the 14th, and by 20 % more from the 28th.
fn level(commit: usize) -> f64 {
    10.0 * if commit >= 14 { 1.05 } else { 1.0 } * if commit >= 28 { 1.2 } else { 1.0 }
}

fn found(series: &HistorySeries) -> Vec<(&str, &str)> {
    series.changes.iter().map(|change| (change.after.as_str(), change.since.as_str())).collect()
}

#[test]
fn slower_commits_are_named_with_the_size_of_the_change() {
    let out = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    for commit in 0..40 {
        for number in 1..=3 {
            let trial = trial(&format!("c{commit}"), commit * 7, number, level(commit) * noise(&mut rng));
            save(out.path().join(format!("run-{commit}/trial-{number}.json")), &trial);
        }
    }
    let all = history(&[out.path().to_owned()], &terms()).unwrap();
    assert_eq!((all.runs, all.series.len(), &all.skipped), (120, 1, &Vec::new()));
    let series = &all.series[0];
    assert_eq!(
        (series.points.len(), series.points[0].label.as_str(), series.points[0].starts),
        (40, "c0", 1)
    );
    assert_eq!(series.points[3].files.len(), 3);
    assert_eq!(found(series), [("c13", "c14"), ("c27", "c28")]);
    for (change, ratio) in series.changes.iter().zip([1.05, 1.2]) {
        assert!(change.low.unwrap() < ratio && ratio < change.high.unwrap(), "{change:?}");
        assert!(change.is_of_level());
    }
    // The newest points alone.
    let few = history(&[out.path().to_owned()], &HistoryTerms { points_max: 20, ..terms() }).unwrap();
    assert_eq!((few.series[0].points.len(), few.series[0].older), (20, 20));
    assert_eq!(found(&few.series[0]), [("c27", "c28")]);
}

/// The clock of the lab begins anew at each boot, and its times have no scatter.
#[test]
fn records_of_one_moment_are_ordered_by_path() {
    let out = tempfile::tempdir().unwrap();
    for commit in 0..20 {
        let second = 59 - commit;
        let mut trial = trial(&format!("x{}", commit * 7 % 20), 0, 1, if commit < 11 { 10.0 } else { 10.2 });
        trial.started_at = format!("2020-01-01T00:00:{second:02}Z");
        save(out.path().join(format!("c{commit:02}/trial-1.json")), &trial);
    }
    let terms = HistoryTerms { order: HistoryOrder::Path, ..terms() };
    let all = history(&[out.path().to_owned()], &terms).unwrap();
    let [change] = &all.series[0].changes[..] else { panic!("{all:?}") };
    assert_eq!((change.at, change.since.as_str()), (11, "x17"));
    let ends = [change.low, change.high].into_iter().flatten();
    assert!(ends.into_iter().all(|end| (end - 1.02).abs() < 1e-9), "{change:?}");
    assert!((change.ratio - 1.02).abs() < 1e-9 && change.is_of_level(), "{change:?}");
}

#[test]
fn runs_that_do_not_count_and_files_that_cannot_be_read_are_left_out_and_named() {
    let out = tempfile::tempdir().unwrap();
    let path = |name: &str| out.path().join(name);
    save(path("a/trial-1.json"), &trial("c0", 0, 1, 10.0));
    save(path("copy/trial-1.json"), &trial("c0", 0, 1, 10.0));
    save(path("a/warm-up-1.json"), &Record { role: Role::WarmUp, ..trial("c0", 0, 1, 10.0) });
    std::fs::write(path("a/broken.json"), "{\"schema\": \"klatch-record/2\", ").unwrap();
    std::fs::write(path("a/other.json"), "{\"schema\": \"else\"}").unwrap();
    std::fs::write(path("a/notes.txt"), "x").unwrap();
    let all = history(&[out.path().to_owned()], &terms()).unwrap();
    assert_eq!((all.runs, all.series[0].points.len()), (1, 1));
    assert_eq!(all.series[0].unjudged.as_deref(), Some("changes need at least 6 points"));
    let [broken, other, copy] = &all.skipped[..] else { panic!("{:?}", all.skipped) };
    assert!(broken.contains("a/broken.json: it is not JSON: EOF"), "{broken}");
    assert!(other.ends_with("a/other.json: it has no `schema` of Klatch"), "{other}");
    assert!(copy.contains("copy/trial-1.json is a copy of ") && copy.ends_with("a/trial-1.json"), "{copy}");
    let gone = history(&[path("gone")], &terms()).unwrap_err().to_string();
    assert!(gone.starts_with("cannot read ") && gone.contains("gone"), "{gone}");
    std::fs::create_dir(path("empty")).unwrap();
    let empty = history(&[path("empty")], &terms()).unwrap_err().to_string();
    assert!(empty.ends_with("empty has no result of a run or duet that counts"), "{empty}");
}

#[test]
fn records_one_after_another_in_a_file_are_runs_and_their_starts_are_told_apart() {
    let out = tempfile::tempdir().unwrap();
    let line =
        |build: &str, minute, number| serde_json::to_string(&trial(build, minute, number, 10.0)).unwrap();
    let lines = [line("c0", 0, 1), line("c0", 1, 2), line("c0", 2, 1), line("c1", 3, 1)].join("\n");
    std::fs::write(out.path().join("runs.jsonl"), lines).unwrap();
    std::fs::write(out.path().join("package.json"), "{\"name\": \"x\"}").unwrap();
    let all = history(&[out.path().to_owned()], &terms()).unwrap();
    let starts: Vec<u32> = all.series[0].points.iter().map(|point| point.starts).collect();
    assert_eq!((all.runs, starts), (4, vec![2, 1]));
    assert!(all.series[0].points[1].files[0].ends_with("runs.jsonl:4"), "{:?}", all.series[0].points[1]);
    let [foreign] = &all.skipped[..] else { panic!("{:?}", all.skipped) };
    assert!(foreign.ends_with("package.json: it has no `schema` of Klatch"), "{foreign}");
}

#[test]
fn a_server_of_klatch_is_labelled_by_its_commit_and_another_one_by_the_day() {
    let out = tempfile::tempdir().unwrap();
    let unnamed = |minute, number| {
        let mut record = trial("", minute, number, 10.0);
        record.options.as_mut().unwrap().label = None;
        record
    };
    save(out.path().join("a/1.json"), &unnamed(0, 1));
    let mut foreign = unnamed(3000, 1);
    foreign.platform.version = Some("nginx 1.2".to_owned());
    save(out.path().join("b/1.json"), &foreign);
    let mut dirty = unnamed(5000, 1);
    dirty.klatch = Build {
        commit: Some("c0ffee-dirty".into()),
        build_id: Some("12345678901234".into()),
        ..dirty.klatch
    };
    save(out.path().join("c/1.json"), &dirty);
    let all = history(&[out.path().to_owned()], &terms()).unwrap();
    let labels: Vec<&str> = all.series[0].points.iter().map(|point| point.label.as_str()).collect();
    assert_eq!(labels, ["c0ffee", "2026-01-03", "build 123456789012"]);
}

/// A duet of two builds with a ratio of the server's CPU time, measured by these starts.
fn duet(a: &str, b: &str, minute: usize, starts: &[f64]) -> Duet {
    let ones = vec![1.0; starts.len()];
    let ratio = ratio_of_geometric_means(&ones, &starts.to_vec(), Design::Paired, 0.95).unwrap();
    let side = |name: &str| DuetSide {
        name: name.to_owned(),
        platform: "mine".to_owned(),
        crowd: "native".to_owned(),
    };
    Duet {
        schema: DUET_SCHEMA_NAME.to_owned(),
        klatch: Build::default(),
        started_at: trial("", minute, 1, 1.0).started_at,
        a: side(a),
        b: side(b),
        workload: Workload::default(),
        slice_ms: 50.0,
        together: false,
        confidence: 0.95,
        seed: 1,
        starts: Vec::new(),
        metrics: vec![DuetMetric {
            metric: SERVER_CPU.to_owned(),
            a: Some(10.0),
            b: Some(10.0),
            ratio: Some(RatioEstimate {
                estimate: ratio.interval.estimate,
                low: ratio.interval.low,
                high: ratio.interval.high,
                smallest_difference: ratio.smallest_difference,
            }),
            absent: None,
            starts: starts.to_vec(),
            within_start: None,
            between_starts: None,
        }],
        explanation: None,
        unexplained: None,
        exact: None,
        uncounted: None,
        requirements: Vec::new(),
        end: DuetEnd::Complete,
    }
}

/// 40 duets; `base` names the base of each.
fn duets(out: &Path, starts: usize, base: impl Fn(usize) -> usize) -> History {
    let mut rng = fastrand::Rng::with_seed(2);
    for commit in 1..40 {
        let base = base(commit);
        let ratio = level(commit) / level(base);
        let starts: Vec<f64> = (0..starts).map(|_| ratio * noise(&mut rng)).collect();
        let duet = duet(&format!("c{base}"), &format!("c{commit}"), commit * 9, &starts);
        save(out.join(format!("duet-{commit}/duet.json")), &duet);
        // The records of its sides are part of the duet.
        save(out.join(format!("duet-{commit}/a/trial-1.json")), &trial("c0", commit, 1, 10.0));
    }
    history(&[out.to_owned()], &terms()).unwrap()
}

#[test]
fn duets_against_one_base_have_changes_of_level() {
    let out = tempfile::tempdir().unwrap();
    let all = duets(out.path(), 3, |_| 0);
    assert_eq!((all.duets, all.runs, all.series.len()), (39, 0, 1));
    let series = &all.series[0];
    assert_eq!(series.kind, SeriesKind::AgainstBase { base: "c0".to_owned() });
    // The end of the workload is one that no duet reaches.
    assert!(series.workload.starts_with("chat: rooms ") && !series.workload.contains("count"), "{series:?}");
    assert_eq!(found(series), [("c13", "c14"), ("c27", "c28")]);
    // A new base begins a series of its own.
    let all = duets(out.path(), 3, |commit| if commit <= 20 { 0 } else { 20 });
    let bases: Vec<_> = all.series.iter().map(|series| (&series.kind, found(series))).collect();
    let base = |name: &str| SeriesKind::AgainstBase { base: name.to_owned() };
    assert_eq!(bases, [(&base("c0"), vec![("c13", "c14")]), (&base("c20"), vec![("c27", "c28")])]);
}

#[test]
fn chained_duets_multiply_and_each_is_judged_by_itself() {
    let out = tempfile::tempdir().unwrap();
    let all = duets(out.path(), 12, |commit| commit - 1);
    let series = &all.series[0];
    assert_eq!(series.kind, SeriesKind::Chained { base: "c0".to_owned() });
    assert_eq!(found(series), [("c13", "c14"), ("c27", "c28")]);
    let last = series.points.last().unwrap();
    assert!((last.value / 1.26 - 1.0).abs() < 0.03, "{last:?}");
    assert_eq!((last.base.as_deref(), last.starts), (Some("c38"), 12));
    // A duet whose base is not known.
    save(out.path().join("odd/duet.json"), &duet("x", "y", 9000, &[1.0, 1.01, 0.99]));
    let odd = history(&[out.path().to_owned()], &terms()).unwrap();
    assert!(odd.skipped[0].ends_with("odd/duet.json: its base, x, is a build of no earlier duet"), "{odd:?}");
    let unnamed = tempfile::tempdir().unwrap();
    save(unnamed.path().join("duet.json"), &duet("base", "change", 0, &[1.0, 1.01, 0.99]));
    let unnamed = history(&[unnamed.path().to_owned()], &terms()).unwrap();
    assert!(unnamed.series.is_empty() && unnamed.skipped[0].contains("name both sides"), "{unnamed:?}");
}

/// 5,000 records of 100 builds on 10 platforms.
#[test]
fn five_thousand_records_take_less_than_two_seconds() {
    let out = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    for place in 0..5_000 {
        let (commit, number, platform) = (place % 100, place / 1_000, place / 100 % 10);
        let mut trial =
            trial(&format!("c{commit}"), commit * 11, number as u32 + 1, level(commit) * noise(&mut rng));
        trial.platform.name = format!("p{platform}");
        save(out.path().join(format!("p{platform}-{commit}/trial-{number}.json")), &trial);
    }
    let began = std::time::Instant::now();
    let all = history(&[out.path().to_owned()], &HistoryTerms { metrics: Vec::new(), ..terms() }).unwrap();
    let mut took = began.elapsed();
    // Others may need the CPUs, too.
    for _ in 0..4 {
        let began = std::time::Instant::now();
        history(&[out.path().to_owned()], &HistoryTerms { metrics: Vec::new(), ..terms() }).unwrap();
        took = took.min(began.elapsed());
    }
    assert_eq!((all.runs, all.series[0].points.len()), (5_000, 100));
    assert!(all.series.iter().any(|series| series.metric == SERVER_CPU && found(series).len() == 2));
    println!("5,000 records: {took:?}, series: {}", all.series.len());
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
    assert!(METRICS.iter().any(|metric| metric.name == all.series[0].metric));
}

#[test]
fn sessions_of_the_floor_are_points() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/history");
    let all = history(&[folder], &terms()).unwrap();
    let series =
        all.series.iter().find(|one| one.subject == "native-epoll" && one.workload == "floor, turns");
    let series = series.expect("the committed history has native-epoll in turns");
    assert!(series.points.len() >= 3 && series.points.iter().all(|point| point.starts > 1), "{series:?}");
    assert_eq!((series.metric.as_str(), &series.kind), (SERVER_CPU, &SeriesKind::Values));
    assert!(series.points.iter().all(|point| (2.0..30.0).contains(&point.value)), "{series:?}");
    let latency = HistoryTerms { metrics: vec![Metric::named("latency_p99_us").unwrap()], ..terms() };
    assert!(
        history(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/history")], &latency)
            .unwrap()
            .series
            .is_empty()
    );
}
