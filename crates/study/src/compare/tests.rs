//! Comparisons of folders as a run or a study writes them.

use klatch_record::samples::{noise, record};
use klatch_record::{Cause, Class, Comparison, Estimator, Reason, Record, Role, Unit, Verdict, save};
use tempfile::TempDir;

use crate::compare::{Terms, compare};

const TERMS: Terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };

fn put(out: &TempDir, path: &str, record: &Record) {
    let path = out.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    save(record, &path).unwrap();
}

/// A study of cells a and b in turn; both drift by a fifth from block to block, and b is 5 % faster.
fn study() -> TempDir {
    study_of("2026")
}

/// The same in this year.
fn study_of(year: &str) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    let record = |number, minute, score| {
        let record = record(number, minute, score);
        Record { started_at: record.started_at.replace("2026", year), ..record }
    };
    for block in 1..=5 {
        let drift = 1.2_f64.powi(block as i32);
        // Without this wobble the ratios would not scatter.
        let noise = 1.0 + f64::from(block % 3) / 1_000.0;
        put(
            &out,
            &format!("s/cells/a/block-{block}/trial-1.json"),
            &record(block, 2 * block, 1_000.0 * drift),
        );
        let faster = record(block, 2 * block + 1, 1_050.0 * drift * noise);
        put(&out, &format!("s/cells/b/block-{block}/trial-1.json"), &faster);
    }
    std::fs::write(out.path().join("s/begun.json"), "{\"seed\": 1}").unwrap();
    out
}

fn one(out: &TempDir, a: &str, b: &str) -> Comparison {
    let mut all = compare(&out.path().join(a), &out.path().join(b), TERMS).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn fails(out: &TempDir, a: &str, b: &str) -> String {
    compare(&out.path().join(a), &out.path().join(b), TERMS).unwrap_err().to_string()
}

#[test]
fn cells_of_one_study_are_paired_by_block_and_drift_drops_out() {
    let comparison = one(&study(), "s/cells/a", "s/cells/b");
    assert_eq!((comparison.pairs, comparison.unit, comparison.a.starts), (Some(5), Unit::Start, 5));
    let ratio = comparison.metrics[0].ratio.unwrap();
    assert!(ratio.shows_difference() && (ratio.estimate - 1.05).abs() < 0.002, "{ratio:?}");
    assert_eq!(comparison.metrics[1].absent.as_deref(), Some("not every record has it"));
    assert_eq!(comparison.caveats, [""; 0]);
}

#[test]
fn the_first_trials_give_the_scatter_of_a_series_that_ended_by_its_scatter() {
    let out = tempfile::tempdir().unwrap();
    // Eight trials that scatter, and eight that do not, at which the series ended.
    for (cell, score) in [("a", 1_000.0), ("b", 1_010.0)] {
        for block in 1..=16_u32 {
            let scatter = if block <= 8 { 0.97 + 0.03 * f64::from(block % 3) } else { 1.0 };
            let path = format!("s/cells/{cell}/block-{block:03}/trial-1.json");
            let start = 2 * block + u32::from(cell == "b") * 100;
            put(&out, &path, &record(block, start % 60, score * scatter));
        }
    }
    let width = || {
        let ratio = one(&out, "s/cells/a", "s/cells/b").metrics[0].ratio.unwrap();
        (ratio.high / ratio.low).ln()
    };
    let over_all = width();
    let result = serde_json::json!({
        "schema": "klatch-study/2", "name": "s", "question": "q", "klatch": { "version": "0", "commit": null },
        "started_at": "", "ended_at": "", "seed": 1, "rules": "", "metric": "messages_per_s", "first_trials": 8,
        "axes": [], "cells": []
    });
    std::fs::write(out.path().join("s/result.json"), result.to_string()).unwrap();
    assert!(width() > 1.15 * over_all, "{} is not wider than {over_all}", width());
}

#[test]
fn a_block_without_a_partner_is_left_out() {
    let out = study();
    std::fs::remove_dir_all(out.path().join("s/cells/b/block-2")).unwrap();
    let comparison = one(&out, "s/cells/a", "s/cells/b");
    assert_eq!((comparison.pairs, comparison.metrics[0].a.len()), (Some(4), 4));
    assert_eq!(comparison.caveats, ["1 without a partner in the same block are left out"]);
}

#[test]
fn sides_measured_one_after_the_other_are_not_paired() {
    let out = tempfile::tempdir().unwrap();
    for number in 1..=4 {
        let wander = [10.0, -10.0, 20.0, 0.0][number as usize - 1];
        put(&out, &format!("a/trial-{number}.json"), &record(number, number, 1_000.0 + wander));
        put(&out, &format!("b/trial-{number}.json"), &record(number, 20 + number, 2_000.0 + wander));
    }
    let comparison = one(&out, "a", "b");
    assert_eq!((comparison.pairs, comparison.unit), (None, Unit::Trial));
    assert!(
        comparison.caveats[0].starts_with("with only one start of the server"),
        "{:?}",
        comparison.caveats
    );
    assert!((comparison.metrics[0].ratio.unwrap().estimate - 2.0).abs() < 0.02);
}

#[test]
fn every_common_cell_of_two_studies_is_compared() {
    let (old, new) = (study(), study_of("2027"));
    put(&new, "s/cells/c/block-1/trial-1.json", &record(1, 1, 1.0));
    let all = compare(&old.path().join("s"), &new.path().join("s"), TERMS).unwrap();
    let cells: Vec<_> = all.iter().filter_map(|one| one.cell.as_deref()).collect();
    assert_eq!(cells, ["a", "b"]);
}

#[test]
fn other_differences_are_listed_and_invalid_trials_are_left_out() {
    let out = study();
    let mut other = record(6, 50, 1.0);
    other.verdict = Verdict::from_reasons(vec![Reason::new(Cause::Crowd, "3 deliveries lost")]);
    put(&out, "s/cells/b/block-6/trial-1.json", &other);
    put(&out, "s/cells/b/block-7/warm-up-1.json", &Record { role: Role::WarmUp, ..record(1, 51, 1.0) });
    for block in 1..=5 {
        let mut slower = record(block, 2 * block, 1_000.0);
        slower.workload = slower.workload.with_parties(1, 5);
        slower.platform.class = Some(Class::Open);
        put(&out, &format!("c/block-{block}/trial-1.json"), &slower);
    }
    let comparison = one(&out, "c", "s/cells/b");
    assert!(
        comparison.caveats[0]
            .contains("block-6/trial-1.json is left out, its score does not count: 3 deliveries lost")
    );
    assert!(
        comparison.caveats[1]
            .starts_with("workloads differ: c chat: rooms 5, users 20, count 100, size 60, pacing turns")
    );
    assert!(comparison.caveats[2].starts_with("classes differ"), "{:?}", comparison.caveats);
    assert_eq!((comparison.b.trials, comparison.caveats.len()), (5, 3));
}

#[test]
fn sides_that_cannot_be_compared_give_an_error() {
    let out = study();
    put(&out, "warm/warm-up-1.json", &Record { role: Role::WarmUp, ..record(1, 1, 1.0) });
    std::fs::write(out.path().join("odd.json"), "{\"schema\": \"klatch-record/2\"}").unwrap();
    std::fs::write(out.path().join("other.json"), "{}").unwrap();
    put(&out, "mixed/a/trial-1.json", &record(1, 1, 1.0));
    let mut other = record(1, 1, 1.0);
    other.platform.name = "y".into();
    put(&out, "mixed/b/trial-1.json", &other);
    for (b, message) in [
        ("nothing", "cannot read "),
        ("s/cells/a", "are the same"),
        ("warm", "warm holds no valid trial (warm-ups: 1, trials that do not count: 0)"),
        ("odd.json", "odd.json is no record: missing field"),
        ("other.json", "other.json is no record: its `schema` is not klatch-record/2"),
        ("mixed", "mixed holds different runs, x, chat: rooms 10"),
    ] {
        let error = fails(&out, "s/cells/a", b);
        assert!(error.contains(message), "{message:?} is not in {error:?}");
    }
}

#[test]
fn a_copy_of_a_record_is_refused_on_one_side_and_on_both() {
    let out = study();
    let copy = |from: &str, to: &str| {
        let to = out.path().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(out.path().join(from), to).unwrap();
    };
    copy("s/cells/b/block-2/trial-1.json", "c/block-9/trial-1.json");
    let error = fails(&out, "s/cells/b", "c");
    assert!(
        error.contains("s/cells/b/block-2/trial-1.json and ") && error.contains("c/block-9/trial-1.json"),
        "{error}"
    );
    assert!(error.ends_with(" are the same record; remove the copy"), "{error}");
    copy("s/cells/b/block-2/trial-1.json", "s/cells/b/block-2/trial-1 (copy).json");
    assert!(fails(&out, "s/cells/a", "s/cells/b").ends_with("are the same record; remove the copy"));
}

#[test]
fn a_side_of_several_machines_is_refused() {
    let out = study();
    let mut other = record(6, 50, 1_000.0);
    other.environment.settings.insert("governor".to_owned(), "powersave".to_owned());
    put(&out, "s/cells/b/block-6/trial-1.json", &other);
    let error = fails(&out, "s/cells/a", "s/cells/b");
    let words = "s/cells/b holds runs under different conditions, values of the machine's governor: unknown and powersave; name";
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_difference_between_single_starts_is_checked_against_the_calibration() {
    let out = tempfile::tempdir().unwrap();
    for number in 1..=4 {
        let wander = [1.0, -1.0, 2.0, 0.0][number as usize - 1];
        for (side, minute, score) in [("a", number, 1_000.0), ("b", 20 + number, 1_030.0)] {
            let mut record = record(number, minute, score + wander);
            record.environment.noise = Some(noise(0.04));
            put(&out, &format!("{side}/trial-{number}.json"), &record);
        }
    }
    let comparison = one(&out, "a", "b");
    assert!(comparison.metrics[0].ratio.unwrap().shows_difference());
    assert!(
        comparison.caveats[0].ends_with(
            "two starts of x differ by up to 4.0 % in throughput on this machine (calibrated 2026-01-01)"
        ),
        "{:?}",
        comparison.caveats
    );
    let caveat = "messages_per_s: two starts of x differ by up to 4.0 % on this machine, so the platforms may not differ";
    assert_eq!(comparison.caveats[1..], [caveat]);
}
