//! What commands print about results, on terminals of 80, 100 and 140 columns: as it was, and no line is wider.

use klatch_record::{
    CellStatus, Claim, Class, CrowdResult, Estimate, FloorResult, Record, ResultKind, Sensitivity, Workload,
};
use klatch_report::{
    at_width, calibration, crowd, duet, fitted, floor, headline, judged_duet, one_line, requirements,
    simulated_claims, simulated_study, study, trials, warnings,
};

use crate::support::{add, add_failed, add_pair, duet as duet_of, in_stages, observe, study as study_of};

const WIDTHS: [usize; 3] = [80, 100, 140];

/// What `write` makes at each width.
pub(crate) fn at_widths(write: impl Fn() -> String) -> String {
    let at = |width: &usize| {
        let text = at_width(*width, || fitted(&write(), Some(*width)));
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > *width).collect();
        assert!(wide.is_empty(), "at {width}: {wide:#?}");
        format!("{width} columns\n{text}")
    };
    WIDTHS.iter().map(at).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_is_as_it_was() {
    let mut study = study_of("run", "");
    add(&mut study, &[("platform", "native-epoll")], Class::Classic, &[130_000.0, 131_000.0, 128_900.0]);
    let records: Vec<Record> = study.runs.into_iter().map(|run| run.record).collect();
    let write = || {
        let mut platform = records[0].platform.clone();
        platform.knobs.insert("socket_buffer".to_owned(), "65536".to_owned());
        platform.chosen_because = Some(
            "Java 17 or newer is not installed, so this is the native server, which needs no other program"
                .to_owned(),
        );
        let lines: Vec<String> = records.iter().map(one_line).collect();
        headline(&platform, "native (nice=5)", &Workload::default())
            + &lines.join("\n")
            + "\n\n"
            + &trials(&records)
            + &warnings(&records[0].warnings)
    };
    insta::assert_snapshot!("run.txt", at_widths(write));
}

#[test]
fn a_duet_is_as_it_was() {
    let variants = duet_of(["jetty@25:threads=platform", "jetty@25:threads=virtual"], 0.79, 0.83);
    insta::assert_snapshot!("duet_widths.txt", at_widths(|| duet(&variants)));
    let itself = duet_of(["base", "change"], 0.98, 1.04);
    insta::assert_snapshot!("calibration.txt", at_widths(|| calibration(&itself)));
}

#[test]
fn a_study_is_as_it_was() {
    let mut source = study_of("local", "Which platform carries the chat best, and at which cost?");
    for (platform, throughputs) in [
        ("java-threads", [52_000.0, 50_500.0, 51_700.0]),
        ("native-epoll", [130_000.0, 131_000.0, 128_900.0]),
    ] {
        for rooms in ["5", "10"] {
            add(&mut source, &[("platform", platform), ("rooms", rooms)], Class::Classic, &throughputs);
        }
    }
    add_failed(&mut source, &[("platform", "slow"), ("rooms", "5")], "room 3, user 7: timeout after 60 s");
    let result = source.result.expect("it is a study");
    insta::assert_snapshot!("study.txt", at_widths(|| study(&result)));
}

/// Whatever a narrow terminal leaves out, the numbers of the answer stay.
#[test]
fn a_narrow_study_keeps_the_columns_of_its_answer() {
    let mut source = study_of("collectors", "Which collector?");
    for (gc, throughputs) in
        [("g1", [52_000.0, 50_500.0, 51_700.0]), ("zgc", [130_000.0, 131_000.0, 128_900.0])]
    {
        let at = [("platform", "java-threads@25"), ("knob.gc", gc), ("rooms", "10"), ("pacing", "rounds")];
        add(&mut source, &at, Class::Classic, &throughputs);
    }
    let mut result = source.result.expect("it is a study");
    for (metric, kept, left_out) in [
        ("messages_per_s", &["messages/s", "CPU"] as &[&str], "p99"),
        ("latency_p99_us", &["p99"], "messages/s"),
        ("server_memory_peak_bytes", &["peak"], "messages/s"),
    ] {
        metric.clone_into(&mut result.metric);
        let text = at_width(80, || study(&result));
        let (head, rest) = text.split_once("verdict").unwrap();
        assert!(kept.iter().all(|title| head.contains(title)), "{metric}: {text}");
        assert!(!head.contains(left_out) && rest.contains(left_out), "{metric}: {text}");
    }
}

/// Servers of two classes under two pacings, each beside the reference of its pacing, and one that is not installed.
#[test]
fn a_study_of_duets_is_as_it_was() {
    let mut source = study_of("messaging-servers", "Which server delivers chat at the lowest cost?");
    for (platform, class, ratios) in [
        ("native-epoll", Class::Classic, None),
        ("inspircd", Class::Classic, Some([(0.57, 0.65), (0.83, 1.21)])),
        ("mosquitto", Class::Classic, Some([(1.47, 1.53), (1.21, 1.82)])),
        ("redis", Class::Open, Some([(0.95, 1.05), (0.11, 0.13)])),
    ] {
        for (at, pacing) in ["turns", "rounds"].into_iter().enumerate() {
            let axes = [("platform", platform), ("pacing", pacing)];
            add(&mut source, &axes, class, &[100_000.0, 101_000.0, 99_000.0]);
            if let Some(ratios) = ratios {
                let id = |platform: &str| format!("{platform}_{pacing}");
                add_pair(&mut source, &id("native-epoll"), &id(platform), ratios[at]);
            }
        }
    }
    for pacing in ["turns", "rounds"] {
        add(&mut source, &[("platform", "ergo"), ("pacing", pacing)], Class::Classic, &[]);
        let cell = source.result.as_mut().and_then(|result| result.cells.last_mut()).unwrap();
        cell.status = CellStatus::Absent;
        cell.verdict = "cannot run here: ergo needs ergochat, which is not installed; install it: Debian 13 and newer: apt-get install \
                        ergochat (its package also runs on Debian 12)"
            .to_owned();
    }
    let answer = klatch_report::report(&source).answer;
    let result = source.result.expect("it is a study");
    insta::assert_snapshot!("study_of_duets.txt", at_widths(|| format!("{}\n{answer}\n", study(&result))));
}

/// Load in stages, of which the second with a time does not keep up.
#[test]
fn a_run_in_stages_is_as_it_was() {
    let mut study = study_of("run", "");
    add(&mut study, &[("platform", "native-epoll")], Class::Classic, &[400.0, 401.0, 399.0]);
    in_stages(&mut study);
    let records: Vec<Record> = study.runs.into_iter().map(|run| run.record).collect();
    let lines =
        || records.iter().map(|record| one_line(record) + "\n").collect::<String>() + &trials(&records);
    insta::assert_snapshot!("run_in_stages.txt", at_widths(lines));
}

/// A run under instruments, with what they saw.
#[test]
fn a_run_under_instruments_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = study_of("run", "");
    add(&mut study, &[("platform", "java-threads")], Class::Classic, &[50_000.0]);
    observe(&mut study, folder.path(), "server;main 1\n");
    let records: Vec<Record> = study.runs.into_iter().map(|run| run.record).collect();
    insta::assert_snapshot!("run_under_instruments.txt", at_widths(|| trials(&records)));
}

/// The cells of a simulated study, and its claims with other costs.
#[test]
fn a_simulated_study_is_as_it_was() {
    let mut source = study_of("eight-cpus", "Do eight CPUs carry more than four?");
    for (cpus, rate) in [("4", 17_416.0), ("8", 13_404.0)] {
        let at = [("cpus", cpus), ("scheduler", "one queue (Linux 2.4.14)")];
        add(&mut source, &at, Class::Classic, &[rate * 0.99, rate, rate * 1.01]);
        let cell = source.result.as_mut().and_then(|result| result.cells.last_mut()).unwrap();
        for (name, mean) in [
            ("run_queue_length", 49.1),
            ("run_queue_latency_p99_us", 13_201.0),
            ("spin_share", 0.21),
            ("idle_share", 0.12),
        ] {
            let estimate = Estimate { mean, low: None, high: None, values: vec![mean] };
            cell.estimates.insert(name.to_owned(), estimate);
        }
    }
    let claim = Claim {
        at: "scheduler one queue (Linux 2.4.14)".to_owned(),
        value: "8 cpus".to_owned(),
        base: "4 cpus".to_owned(),
        ratio: 0.77,
        low: 0.72,
        low_with: "cache line of another CPU 300 cycles".to_owned(),
        high: 0.81,
        high_with: "walk of an element 120 cycles".to_owned(),
    };
    let found = Sensitivity {
        kind: ResultKind::Simulated,
        metric: "messages_per_s".to_owned(),
        costs: 24,
        claims: vec![claim.clone(), Claim { high: 1.04, ..claim }],
    };
    let result = source.result.expect("it is a study");
    let write = || format!("{}\n{}", simulated_study(&result), simulated_claims(&found));
    insta::assert_snapshot!("simulated_study.txt", at_widths(write));
}

/// Requirements before the result of a duet, and one in which no pair counts.
#[test]
fn a_judged_duet_and_an_empty_one_are_as_they_were() {
    let judged = duet_of(["base", "change"], 0.79, 0.83);
    let mut empty = judged.clone();
    for metric in &mut empty.metrics {
        (metric.ratio, metric.absent) = (None, Some("at least 20 values are needed, got 4".to_owned()));
    }
    let write = || format!("{}\n{}\n{}", requirements(&judged_duet(&judged)), duet(&judged), duet(&empty));
    insta::assert_snapshot!("judged_duet.txt", at_widths(write));
}

#[test]
fn a_floor_is_as_it_was() {
    let history = include_str!("../../../../bench/history/floor.jsonl");
    let first: FloorResult = serde_json::from_str(history.lines().next().unwrap()).unwrap();
    insta::assert_snapshot!("floor.txt", at_widths(|| floor(&first)));
}

#[test]
fn a_crowd_is_as_it_was() {
    let result = CrowdResult {
        sent: 20_000,
        received: 380_000,
        elapsed_s: 3.1,
        join_s: 0.12,
        latency_ns: (1..=100).map(|step| (step * 123_456, 3_800)).collect(),
        ..CrowdResult::default()
    };
    insta::assert_snapshot!("crowd.txt", at_widths(|| crowd(&result).unwrap()));
}
