//! The simulated results. A change of the simulator that moves a number changes a file in `papers/`, so it is seen.

use klatch_research::{BandVerdict, load, simulate_all, simulated_results};
use klatch_simulator::Costs;

#[test]
fn simulated_results_come_out_again() {
    let papers = load().unwrap();
    let published = simulated_results(&papers);
    let computed = simulate_all(&Costs::pentium_iii()).unwrap();
    let expected: Vec<_> = published
        .iter()
        .map(|of| (of.number, of.found.as_str(), of.verdict == BandVerdict::Within))
        .collect();
    let found: Vec<_> = computed.iter().map(|row| (row.number, row.simulated.as_str(), row.holds)).collect();
    assert_eq!(expected, found, "left: research/papers; right: simulated");
}

#[test]
fn calibration_points_are_within_their_bands() {
    let papers = load().unwrap();
    let points: Vec<_> = simulated_results(&papers).into_iter().filter(|of| of.calibrated).collect();
    assert_eq!(points.len(), 5);
    assert!(points.iter().all(|point| point.verdict == BandVerdict::Within));
}
