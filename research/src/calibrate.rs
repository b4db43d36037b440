//! Fits the calibrated costs, each to the one published result that it names.

use klatch_simulator::Costs;
use serde::Serialize;

use crate::simulated::cells::{Cells, GOODNESS_2_4_14, MQ, O1};
use crate::simulated::one_cpu;

/// How far a cost may move in each round. All points are fitted in turn several times, because each depends on the others.
const FACTORS: [f64; 10] = [3.0, 1.7, 1.4, 1.2, 1.1, 1.05, 1.05, 1.05, 1.03, 1.03];
/// Simulations per point and round.
const STEPS: usize = 7;

/// A calibrated cost and the published result that it is fitted to.
struct Point {
    cost: &'static str,
    /// The lowest and the highest result that is good enough.
    target: (f64, f64),
    result: fn(&mut Cells) -> f64,
}

/// A published value, met within 0.4 %: many pairs of `lines_per_message` and `collector_share` give both results of MQ within 1 %.
const fn about(published: f64) -> (f64, f64) {
    (0.996 * published, 1.004 * published)
}

/// In the order of fitting. Each result falls when its cost grows. O(1) on one CPU was published five times, with different results; of the
/// scheduler's share in 2000 only that it was more than 25 % in some cases.
const POINTS: [Point; 6] = [
    Point {
        cost: "cold_kernel_factor",
        target: about(11_024.0),
        result: |cells| cells.rate(GOODNESS_2_4_14, 1),
    },
    Point {
        cost: "user_message",
        target: about(0.60),
        result: |cells| cells.get(GOODNESS_2_4_14, 1).kernel_share(),
    },
    Point { cost: "lines_per_message", target: about(24_864.0), result: |cells| cells.rate(MQ, 4) },
    Point { cost: "collector_share", target: about(37_007.0), result: |cells| cells.rate(MQ, 8) },
    Point { cost: "footprint", target: (10_415.0, 13_015.0), result: |cells| cells.rate(O1, 1) },
    Point {
        cost: "user_message_2000",
        target: (0.25, 0.27),
        result: |cells| one_cpu::scheduler_share_of_all(cells),
    },
];

/// A cost that was fitted to a published result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Fit {
    /// The name of the cost.
    pub(crate) cost: &'static str,
    /// Its fitted value, in the unit of the cost.
    pub(crate) value: f64,
    /// The published result, as the range that is good enough.
    pub(crate) target: (f64, f64),
    /// The simulated result with all fitted costs.
    pub(crate) reached: f64,
    /// The best value is an end of the cost's range, so the point could not be met.
    pub(crate) at_edge: bool,
}

/// Fits the calibrated costs, to three digits. Takes more than a minute of CPU time.
pub(crate) fn calibrate(costs: &Costs) -> (Costs, Vec<Fit>) {
    let mut costs = costs.clone();
    for factor in FACTORS {
        for point in &POINTS {
            costs = fit(point, costs, factor);
        }
        if POINTS.iter().all(|point| is_met(point, (point.result)(&mut Cells::new(costs.clone())))) {
            break;
        }
    }
    for point in &POINTS {
        let value = rounded(costs.get(point.cost).value);
        costs = costs.with(point.cost, value);
    }
    let fits = POINTS.iter().map(|point| {
        let cost = costs.get(point.cost);
        let at_edge = cost.range.iter().any(|edge| (cost.value / edge - 1.0).abs() < 0.01);
        let reached = (point.result)(&mut Cells::new(costs.clone()));
        Fit { cost: point.cost, value: cost.value, target: point.target, reached, at_edge }
    });
    let fits = fits.collect();
    (costs, fits)
}

fn is_met(point: &Point, result: f64) -> bool {
    (point.target.0..=point.target.1).contains(&result)
}

/// Fits one cost by bisection within a factor of its present value.
fn fit(point: &Point, costs: Costs, factor: f64) -> Costs {
    let cost = costs.get(point.cost);
    let (mut low, mut high) =
        (cost.range[0].max(cost.value / factor), cost.range[1].min(cost.value * factor));
    let mut value = cost.value;
    for _ in 0..STEPS {
        let result = (point.result)(&mut Cells::new(costs.clone().with(point.cost, value)));
        if is_met(point, result) {
            break;
        }
        if result > point.target.1 {
            low = value
        } else {
            high = value
        }
        value = f64::midpoint(low, high);
    }
    costs.with(point.cost, value)
}

/// The value with three significant digits.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powi(value.abs().log10().floor() as i32 - 2);
    // Divides by the inverse where the unit is below 1, so that 0.136 is not 0.13600000000000001.
    if unit < 1.0 { (value / unit).round() / (1.0 / unit).round() } else { (value / unit).round() * unit }
}

#[test]
fn costs_are_rounded_to_three_digits() {
    assert_eq!(
        [19_734.7, 81.02, 1.9941, 0.136_125, 100.0].map(rounded),
        [19_700.0, 81.0, 1.99, 0.136, 100.0]
    );
}
