//! Whole series of trials under the stopping rule: how often the interval that is reported when it stops misses the true
//! mean. `cargo test -p klatch-stats --test it coverage:: -- --nocapture` prints the tables of docs/reference/method.md.

use crate::shared::{Rate, normal};
use fastrand::Rng;
use klatch_stats::{
    Design, Interval, Sample, Sequential, StopDecision, mean_interval, ratio_of_geometric_means,
};

const SERIES: u32 = 20_000;
/// Scatter from run to run, as a part of the mean.
const SCATTERS: [f64; 11] = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15];

/// How trials scatter about a mean of 1. Each has the scatter that it is asked for, outliers included.
#[derive(Clone, Copy, Debug)]
enum Scatter {
    Normal,
    LogNormal,
    /// One trial in twenty scatters five times as much (Tukey 1960's contaminated normal).
    OneOutlierInTwenty,
    /// One trial in twenty is slower by this number of standard deviations of the others.
    OneSlowInTwenty(f64),
}

impl Scatter {
    fn trial(self, rng: &mut Rng, scatter: f64) -> f64 {
        let z = normal(rng);
        let odd = rng.u32(..20) == 0;
        match self {
            Scatter::Normal => 1.0 + scatter * z,
            Scatter::LogNormal => {
                let variance = scatter.powi(2).ln_1p();
                (variance.sqrt() * z - variance / 2.0).exp()
            }
            Scatter::OneOutlierInTwenty => {
                let clean = scatter / (0.95f64 + 0.05 * 25.0).sqrt();
                1.0 + clean * z * if odd { 5.0 } else { 1.0 }
            }
            Scatter::OneSlowInTwenty(by) => {
                let clean = scatter / (1.0 + 0.05 * 0.95 * by * by).sqrt();
                1.0 + clean * (z + 0.05 * by - if odd { by } else { 0.0 })
            }
        }
    }
}

/// The default rule of studies.
fn rule() -> Sequential {
    Sequential::new(Sequential::FIRST_MIN, 20, 0.05, 0.95).unwrap()
}

/// What Klatch did before: Student's interval after each trial from the third to the tenth.
fn students_after_each_trial(values: &[f64]) -> StopDecision {
    if values.len() < 3 {
        return StopDecision::Open;
    }
    let interval = mean_interval(values, 0.95).unwrap();
    match (interval.is_within(0.05), values.len()) {
        (true, _) => StopDecision::Converged(interval),
        (false, 10..) => StopDecision::Exhausted(interval),
        (false, _) => StopDecision::Open,
    }
}

/// Counts over many simulated series.
#[derive(Default)]
struct Outcome {
    missed: Rate,
    converged: Rate,
    missed_of_converged: Rate,
    trials: u64,
}

/// All trials until the rule stops, with the interval that it reports and whether it converged.
fn series(
    mut trial: impl FnMut() -> f64,
    rule: impl Fn(&[f64]) -> StopDecision,
) -> (Vec<f64>, Interval, bool) {
    let mut values = Vec::new();
    loop {
        values.push(trial());
        match rule(&values) {
            StopDecision::Open => {}
            StopDecision::Converged(interval) => return (values, interval, true),
            StopDecision::Exhausted(interval) => return (values, interval, false),
        }
    }
}

fn outcome(scatter: Scatter, part: f64, rule: &impl Fn(&[f64]) -> StopDecision) -> Outcome {
    let mut rng = Rng::with_seed(11);
    let mut outcome = Outcome::default();
    for _ in 0..SERIES {
        let (values, interval, converged) = series(|| scatter.trial(&mut rng, part), rule);
        let missed = !interval.contains(1.0);
        outcome.missed.add(missed);
        outcome.converged.add(converged);
        if converged {
            outcome.missed_of_converged.add(missed);
        }
        outcome.trials += values.len() as u64;
    }
    outcome
}

/// Simulates every scatter, and prints a row of each.
fn outcomes(scatter: Scatter, rule: impl Fn(&[f64]) -> StopDecision) -> Vec<Outcome> {
    println!("{scatter:?}: scatter, missed, converged, missed of those, trials");
    let row = |part: f64| {
        let outcome = outcome(scatter, part, &rule);
        println!(
            "| {:.0} % | {:.1} % | {:.0} % | {:.1} % | {:.1} |",
            part * 100.0,
            outcome.missed.percent(),
            outcome.converged.percent(),
            outcome.missed_of_converged.percent(),
            outcome.trials as f64 / f64::from(SERIES)
        );
        outcome
    };
    SCATTERS.map(row).into_iter().collect()
}

fn new(values: &[f64]) -> StopDecision {
    thread_local!(static RULE: Sequential = rule());
    RULE.with(|rule| rule.evaluate(values).unwrap())
}

#[test]
fn the_interval_at_the_stop_misses_in_two_to_five_of_a_hundred() {
    for scatter in [Scatter::Normal, Scatter::LogNormal, Scatter::OneOutlierInTwenty] {
        for (outcome, part) in outcomes(scatter, new).iter().zip(SCATTERS) {
            let missed = outcome.missed;
            assert!(missed.can_be_at_most(5.0), "{scatter:?} {part}: {} %", missed.percent());
            assert!(missed.can_be_at_least(2.0), "{scatter:?} {part}: {} %", missed.percent());
            if outcome.converged.percent() >= 10.0 {
                let missed = outcome.missed_of_converged;
                assert!(missed.can_be_at_most(7.0), "{scatter:?} {part}: {} % of those", missed.percent());
            } else {
                // So few converge that those which do are lucky; what counts is how rarely one is and misses.
                let claims = Rate { of: SERIES, ..outcome.missed_of_converged };
                assert!(claims.can_be_at_most(1.0), "{scatter:?} {part}: {} % of all", claims.percent());
            }
        }
    }
}

/// A mean that one rare slow trial pulls down is not in the trials that met none: no rule on scatter can see it.
#[test]
fn rare_slow_trials_cost_less_than_one_more_in_a_hundred() {
    outcomes(Scatter::OneSlowInTwenty(10.0), new);
    for (outcome, part) in outcomes(Scatter::OneSlowInTwenty(4.0), new).iter().zip(SCATTERS) {
        assert!(outcome.missed.can_be_at_most(6.0), "{part}: {} %", outcome.missed.percent());
    }
}

/// The simulation sees a rule that does not keep its confidence.
#[test]
fn students_interval_after_each_trial_misses_too_often() {
    let outcomes = outcomes(Scatter::Normal, students_after_each_trial);
    let of = |part: f64| &outcomes[SCATTERS.iter().position(|other| *other == part).unwrap()];
    assert!(!of(0.05).missed.can_be_at_most(6.0) && !of(0.07).missed.can_be_at_most(8.0));
    assert!(of(0.10).converged.percent() > 10.0 && !of(0.10).missed_of_converged.can_be_at_most(20.0));
}

/// Two servers that are alike, both measured until the rule stops, and compared as `klatch compare` and reports do.
#[test]
fn ratios_of_series_that_stopped_keep_their_confidence() {
    let mut rng = Rng::with_seed(12);
    for part in [0.02, 0.05, 0.07, 0.10] {
        let (mut missed, mut missed_as_if_fixed) = (Rate::default(), Rate::default());
        for _ in 0..SERIES {
            let mut one = || series(|| Scatter::LogNormal.trial(&mut rng, part), new).0;
            let (a, b) = (one(), one());
            let sample = |values| Sample::stopped(values, Sequential::FIRST_MIN);
            let stopped = ratio_of_geometric_means(sample(&a), sample(&b), Design::Unpaired, 0.95).unwrap();
            missed.add(stopped.shows_difference());
            let fixed = ratio_of_geometric_means(&a, &b, Design::Unpaired, 0.95).unwrap();
            missed_as_if_fixed.add(fixed.shows_difference());
        }
        let [of, as_if] = [missed, missed_as_if_fixed].map(Rate::percent);
        println!(
            "ratio of two series, scatter {part}: {of:.1} %; as if their number were fixed: {as_if:.1} %"
        );
        assert!(missed.can_be_at_most(5.0) && missed.can_be_at_least(3.5), "{part}: {of} %");
        // The simulation sees what the scatter of all trials would cost.
        assert!(part != 0.05 || !missed_as_if_fixed.can_be_at_most(5.5), "{part}: {as_if} %");
    }
}

/// What the rules of 1999 and 2005 cost that pick trials: the part by which the mean of the picked is off, and how often
/// Student's interval of them misses.
#[test]
fn picked_trials_are_off_and_have_no_interval() {
    const SCATTER: f64 = 0.05;
    let mut rng = Rng::with_seed(13);
    let (mut best_two, mut agreed) = ([0.0, 0.0], Rate::default());
    let mut best_two_missed = Rate::default();
    for _ in 0..SERIES {
        let mut three = [(); 3].map(|()| Scatter::Normal.trial(&mut rng, SCATTER));
        three.sort_by(f64::total_cmp);
        best_two[0] += (three[1] + three[2]) / 2.0 / f64::from(SERIES);
        best_two[1] += three.iter().sum::<f64>() / 3.0 / f64::from(SERIES);
        best_two_missed.add(!mean_interval(&three[1..], 0.95).unwrap().contains(1.0));
        let mut last: Vec<f64> = Vec::new();
        while last.len() < 10 {
            last.push(Scatter::Normal.trial(&mut rng, SCATTER));
            let three = &last[last.len().saturating_sub(3)..];
            let spread = three
                .iter()
                .fold(0.0, |most: f64, one| three.iter().map(|other| one - other).fold(most, f64::max));
            if three.len() == 3 && spread <= 0.05 {
                break;
            }
        }
        agreed.add(!mean_interval(&last[last.len() - 3..], 0.95).unwrap().contains(1.0));
    }
    println!("best two of three: mean off by {:.2} %", (best_two[0] - 1.0) * 100.0);
    println!("Student's interval of them misses in {:.1} %", best_two_missed.percent());
    println!("three in a row within 5 %: Student's interval of them misses in {:.1} %", agreed.percent());
    // The second and third of three normal numbers have a mean of 0.423 standard deviations.
    assert!((best_two[0] - 1.0 - 0.423 * SCATTER).abs() < 0.001, "{best_two:?}");
    assert!((best_two[1] - 1.0).abs() < 0.001);
    assert!(!agreed.can_be_at_most(8.0), "{} %", agreed.percent());
}
