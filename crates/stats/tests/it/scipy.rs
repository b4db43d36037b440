//! The numbers are those of SciPy; `fixtures/make.py` asked it.

use klatch_stats::{
    Design, Interval, linear_fit, mean_interval, ratio_of_geometric_means, ratio_of_means, ratio_of_medians,
};
use serde_json::Value;

fn fixture(part: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../fixtures/scipy.json")).unwrap();
    let cases = all[part].as_array().unwrap().clone();
    assert!(!cases.is_empty(), "no {part} in the fixture");
    cases
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

fn numbers(of: &Value) -> Vec<f64> {
    of.as_array().unwrap().iter().map(number).collect()
}

/// Both ends are at SciPy's, but for a part of the width.
fn same(got: Interval, wanted: &Value, part: f64) {
    let (low, high) = (number(&wanted["low"]), number(&wanted["high"]));
    let near = (high - low) * part;
    assert!((got.low - low).abs() < near && (got.high - high).abs() < near, "{got:?} is not {wanted}");
}

#[test]
fn intervals_of_means() {
    for case in fixture("means") {
        same(mean_interval(&numbers(&case["values"]), number(&case["confidence"])).unwrap(), &case, 1e-9);
    }
}

#[test]
fn straight_lines() {
    for case in fixture("lines") {
        let points: Vec<_> = numbers(&case["x"]).into_iter().zip(numbers(&case["y"])).collect();
        let fit = linear_fit(&points, 0.95).unwrap();
        same(fit.slope, &case, 1e-9);
        let got = [fit.slope.estimate, fit.intercept, fit.r2.unwrap()];
        let wanted = ["slope", "intercept", "r2"].map(|name| number(&case[name]));
        assert!(got.iter().zip(&wanted).all(|(got, wanted)| (got - wanted).abs() < 1e-9), "{fit:?}");
    }
}

#[test]
fn ratios() {
    for case in fixture("comparisons") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let design = if case["paired"] == true { Design::Paired } else { Design::Unpaired };
        same(
            ratio_of_geometric_means(&a, &b, design, 0.95).unwrap().interval,
            &case["geometric_means"],
            1e-9,
        );
        same(ratio_of_medians(&a, &b, design, 0.95).unwrap().interval, &case["medians"], 1e-9);
        // Both sides drew at random.
        same(ratio_of_means(&a, &b, design, 0.95, 1).unwrap().interval, &case["means"], 0.03);
    }
}
