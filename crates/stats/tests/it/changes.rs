//! Changes of level: those that Apache Otava finds, how often a series without one seems to have one, and how large a step is found.

use crate::shared::{Rate, normal};
use fastrand::Rng;
use klatch_stats::changes;
use serde_json::Value;

/// `fixtures/change_points.py` asked Otava.
#[test]
fn the_changes_are_those_that_otava_finds() {
    let all: Value = serde_json::from_str(include_str!("../../fixtures/otava.json")).unwrap();
    let significance = all["significance"].as_f64().unwrap();
    let series = all["series"].as_array().unwrap();
    assert!(series.len() >= 12, "{}", series.len());
    for one in series {
        let numbers =
            |of: &Value| of.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect::<Vec<_>>();
        for seed in 0..5 {
            let found = changes(&numbers(&one["values"]), significance, seed).unwrap();
            let found: Vec<f64> = found.iter().map(|change| change.at as f64).collect();
            assert_eq!(found, numbers(&one["changes"]), "{}, seed {seed}", one["name"]);
        }
    }
}

/// Scatter from start to start.
const SCATTER: f64 = 0.02;

/// A series of starts with a step after `step_at` of them, by this ratio.
fn series(rng: &mut Rng, n: usize, step_at: usize, ratio: f64) -> Vec<f64> {
    let level = |place| if place < step_at { 100.0 } else { 100.0 * ratio };
    (0..n).map(|place| level(place) * (SCATTER * normal(rng)).exp()).collect()
}

#[test]
fn a_series_without_a_change_seldom_has_one() {
    for n in [10, 40] {
        let mut rng = Rng::with_seed(3 + n as u64);
        let mut found = Rate::default();
        for seed in 0..2_000 {
            let values = series(&mut rng, n, n, 1.0);
            found.add(!changes(&values, 0.01, seed).unwrap().is_empty());
        }
        println!("{n} numbers: {:.2} %", found.percent());
        assert!(found.can_be_at_most(1.0) && found.can_be_at_least(0.8), "{n}: {} %", found.percent());
    }
}

/// Outliers and skew do not matter to a test by permutations.
#[test]
fn a_skewed_series_without_a_change_seldom_has_one() {
    let mut rng = Rng::with_seed(4);
    let mut found = Rate::default();
    for seed in 0..2_000 {
        let values: Vec<f64> = (0..30).map(|_| 100.0 * (normal(&mut rng).powi(2) * 0.1).exp()).collect();
        found.add(!changes(&values, 0.01, seed).unwrap().is_empty());
    }
    assert!(found.can_be_at_most(1.0), "{} %", found.percent());
}

#[test]
fn most_steps_of_twice_the_scatter_are_found_where_they_are() {
    let mut rng = Rng::with_seed(5);
    let (mut found, mut near) = (Rate::default(), Rate::default());
    for seed in 0..200 {
        let values = series(&mut rng, 40, 25, 1.0 + 2.0 * SCATTER);
        let all = changes(&values, 0.01, seed).unwrap();
        found.add(!all.is_empty());
        near.add(all.iter().any(|change| change.at.abs_diff(25) <= 2));
    }
    println!(
        "steps of twice the scatter: found {:.0} %, within two starts {:.0} %",
        found.percent(),
        near.percent()
    );
    assert!(found.percent() > 85.0 && near.percent() > 75.0, "{} {}", found.percent(), near.percent());
}
