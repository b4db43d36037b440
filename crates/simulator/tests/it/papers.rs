//! The table of published results. A change of the simulator that moves a verdict changes this file, so it is seen.

use klatch_simulator::{Costs, Role, Verdict, papers};

/// Predictions within their bands.
const WITHIN: [u32; 19] = [6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 30, 32, 33];
/// Predictions that cannot be simulated yet.
const NOT_RUN: [u32; 1] = [29];

#[test]
fn the_table_has_every_row_and_the_known_verdicts() {
    let rows = papers(&Costs::pentium_iii()).unwrap();
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), (1..=34).collect::<Vec<_>>());
    let numbers = |role: Role, verdict: Verdict| -> Vec<u32> {
        rows.iter().filter(|row| row.role == role && row.verdict == verdict).map(|row| row.number).collect()
    };
    assert_eq!(numbers(Role::Calibration, Verdict::Within), [1, 2, 3, 4, 5], "{rows:#?}");
    assert_eq!(numbers(Role::Prediction, Verdict::Within), WITHIN, "{rows:#?}");
    assert_eq!(numbers(Role::Prediction, Verdict::NotRun), NOT_RUN);
}
