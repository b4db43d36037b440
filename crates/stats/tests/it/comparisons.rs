//! Comparisons of like with like: how often a 95 % interval shows a difference that is not there.

use crate::shared::{Rate, normal};
use fastrand::Rng;
use klatch_stats::{
    Design, POWER, Ratio, Sample, StatsError, best, ratio_of_geometric_means, ratio_of_means,
    ratio_of_medians,
};

/// Scatter from run to run, and the drift of the machine that both of a pair meet.
const SCATTER: f64 = 0.03;
const DRIFT: f64 = 0.10;
/// t(0.975) + t(0.8) with 9 degrees of freedom, to that with many.
const TEN_TO_MANY: f64 = (2.262_157 + 0.883_404) / (1.959_964 + 0.841_621);

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

/// The rate of comparisons that miss 1 must be one that this true rate, per cent, can lead to.
fn misses_in(percent: std::ops::RangeInclusive<f64>, comparisons: u32, sizes: &[usize], compare: Comparison) {
    for &n in sizes {
        for design in [Design::Paired, Design::Unpaired] {
            let mut rng = Rng::with_seed(7 + n as u64);
            let mut missed = Rate::default();
            for _ in 0..comparisons {
                let (a, b) = alike(&mut rng, n, design);
                missed.add(compare(&a, &b, design, rng.u64(..)).unwrap().shows_difference());
            }
            println!("{n} numbers a side, {design:?}: {:.1} %", missed.percent());
            assert!(missed.can_be_at_least(*percent.start()), "{} % of {n}, {design:?}", missed.percent());
            assert!(missed.can_be_at_most(*percent.end()), "{} % of {n}, {design:?}", missed.percent());
        }
    }
}

#[test]
fn ratios_of_geometric_means() {
    let compare: Comparison = |a, b, design, _| ratio_of_geometric_means(a, b, design, 0.95);
    misses_in(4.5..=5.0, 20_000, &[5, 10, 20], compare);
}

#[test]
fn ratios_of_means() {
    let compare: Comparison = |a, b, design, seed| ratio_of_means(a, b, design, 0.95, seed);
    misses_in(4.0..=5.5, 2_000, &[6, 10], compare);
}

/// Ranks have steps, so few numbers cannot have exactly the confidence that was asked for.
#[test]
fn ratios_of_medians() {
    let compare: Comparison = |a, b, design, _| ratio_of_medians(a, b, design, 0.95);
    misses_in(3.0..=5.0, 20_000, &[6, 10, 20], compare);
}

/// Of platforms that are alike, some are ahead by chance; in at most 5 of 100 studies is one shown to be the best, or one
/// shown not to be, though none is.
#[test]
fn the_best_of_many_alike_is_shown_in_at_most_five_of_a_hundred() {
    let mut rng = Rng::with_seed(9);
    for platforms in [2, 3, 10, 18] {
        let (mut claimed, mut uncorrected) = (Rate::default(), Rate::default());
        for _ in 0..5_000 {
            let values: Vec<[f64; 5]> =
                (0..platforms).map(|_| [(); 5].map(|()| (SCATTER * normal(&mut rng)).exp())).collect();
            let samples: Vec<Sample<'_>> = values.iter().map(Sample::from).collect();
            let best = best(&samples, true, 0.95).unwrap();
            claimed.add(!best.ratio.contains(1.0) || best.worse.contains(&true));
            let first = &values[best.place];
            let shown = |other: &[f64; 5]| {
                ratio_of_geometric_means(other, first, Design::Unpaired, 0.95).unwrap().shows_difference()
            };
            let mut places = 0..platforms;
            uncorrected.add(places.any(|place| place != best.place && shown(&values[place])));
        }
        let [of, without] = [claimed, uncorrected].map(Rate::percent);
        println!(
            "best of {platforms}: {of:.1} % of studies claim what is not there; {without:.0} % uncorrected"
        );
        assert!(claimed.can_be_at_most(5.0), "{of} % of {platforms}");
        // The simulation sees what picking costs.
        assert!(platforms < 10 || !uncorrected.can_be_at_most(30.0), "{without} % of {platforms}");
    }
}

#[test]
fn the_smallest_difference_is_shown_in_four_cases_of_five() {
    let mut rng = Rng::with_seed(8);
    let mut shown = Rate::default();
    // The smallest difference that ten pairs of known scatter show, apart from the scatter of the estimate.
    let (a, b) = alike(&mut rng, 5_000, Design::Paired);
    let many = ratio_of_geometric_means(&a, &b, Design::Paired, 0.95).unwrap();
    let of_ten = many.smallest_difference.ln_1p() * (5_000.0_f64 / 10.0).sqrt() * TEN_TO_MANY;
    for _ in 0..5_000 {
        let (a, b) = alike(&mut rng, 10, Design::Paired);
        let slower: Vec<f64> = b.iter().map(|b| b / of_ten.exp()).collect();
        let ratio = ratio_of_geometric_means(&a, &slower, Design::Paired, 0.95).unwrap();
        shown.add(ratio.shows_difference());
    }
    let (least, most) = (POWER * 100.0 - 1.0, POWER * 100.0 + 1.0);
    assert!(shown.can_be_at_least(least) && shown.can_be_at_most(most), "shown in {} %", shown.percent());
}
