//! What commands print about results, on terminals of 80, 100 and 140 columns: as it was, and no line is wider.

use klatch_record::{Class, FloorResult, Record, Workload};
use klatch_report::{
    at_width, calibration, duet, fitted, floor, headline, one_line, study, trials, warnings,
};

use crate::support::{add, add_failed, duet as duet_of, study as study_of};

const WIDTHS: [usize; 3] = [80, 100, 140];

/// What `write` makes at each width.
fn at_widths(write: impl Fn() -> String) -> String {
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

#[test]
fn a_floor_is_as_it_was() {
    let history = include_str!("../../../../bench/history/floor.jsonl");
    let first: FloorResult = serde_json::from_str(history.lines().next().unwrap()).unwrap();
    insta::assert_snapshot!("floor.txt", at_widths(|| floor(&first)));
}
