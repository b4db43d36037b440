//! Over 1,000 comparisons of like with like, a 95 % interval misses 1 in 3 to 7 of a hundred.

use fastrand::Rng;
use klatch_stats::{
    Design, POWER, Ratio, StatsError, ratio_of_geometric_means, ratio_of_means, ratio_of_medians,
};

const COMPARISONS: usize = 1_000;
/// Scatter from run to run, and the drift of the machine that both of a pair meet.
const SCATTER: f64 = 0.03;
const DRIFT: f64 = 0.10;
/// t(0.975) + t(0.8) with 9 degrees of freedom, to that with many.
const TEN_TO_MANY: f64 = (2.262_157 + 0.883_404) / (1.959_964 + 0.841_621);

/// A standard normal number (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Throughputs of A and of B, which are alike. Pairs drift together.
fn alike(rng: &mut Rng, n: usize, design: Design) -> (Vec<f64>, Vec<f64>) {
    let drift = if design == Design::Paired { DRIFT } else { 0.0 };
    let one = |_| {
        let both = 50_000.0 * (drift * normal(rng)).exp();
        (both * (1.0 + SCATTER * normal(rng)), both * (1.0 + SCATTER * normal(rng)))
    };
    (0..n).map(one).unzip()
}

type Comparison = fn(&[f64], &[f64], Design, u64) -> Result<Ratio, StatsError>;

/// The part of comparisons that miss 1.
fn misses(n: usize, design: Design, compare: Comparison) -> f64 {
    let mut rng = Rng::with_seed(7 + n as u64);
    let miss = |_: &usize| {
        let (a, b) = alike(&mut rng, n, design);
        compare(&a, &b, design, rng.u64(..)).unwrap().shows_difference()
    };
    (0..COMPARISONS).filter(miss).count() as f64 / COMPARISONS as f64
}

fn holds_its_confidence(sizes: &[usize], compare: Comparison) {
    for &n in sizes {
        for design in [Design::Paired, Design::Unpaired] {
            let misses = misses(n, design, compare);
            assert!((0.03..=0.07).contains(&misses), "{misses} of those of {n}, {design:?}");
        }
    }
}

#[test]
fn ratios_of_geometric_means() {
    holds_its_confidence(&[5, 10, 20], |a, b, design, _| ratio_of_geometric_means(a, b, design, 0.95));
}

#[test]
fn ratios_of_means() {
    holds_its_confidence(&[6, 10], |a, b, design, seed| ratio_of_means(a, b, design, 0.95, seed));
}

#[test]
fn ratios_of_medians() {
    holds_its_confidence(&[6, 10, 20], |a, b, design, _| ratio_of_medians(a, b, design, 0.95));
}

#[test]
fn the_smallest_difference_is_shown_in_four_cases_of_five() {
    let mut rng = Rng::with_seed(8);
    let mut shown = 0;
    // What ten pairs show whose scatter is known: the same in every comparison, but for the scatter of the estimate.
    let (a, b) = alike(&mut rng, 5_000, Design::Paired);
    let many = ratio_of_geometric_means(&a, &b, Design::Paired, 0.95).unwrap();
    let of_ten = many.smallest_difference.ln_1p() * (5_000.0_f64 / 10.0).sqrt() * TEN_TO_MANY;
    for _ in 0..COMPARISONS {
        let (a, b) = alike(&mut rng, 10, Design::Paired);
        let slower: Vec<f64> = b.iter().map(|b| b / of_ten.exp()).collect();
        let ratio = ratio_of_geometric_means(&a, &slower, Design::Paired, 0.95).unwrap();
        shown += usize::from(ratio.shows_difference());
    }
    let part = shown as f64 / COMPARISONS as f64;
    assert!((part - POWER).abs() < 0.04, "shown in {part}");
}
