//! How often the interval by batch means misses the true mean of a series with autocorrelation.
//! `cargo test -p klatch-stats --test it batches:: -- --nocapture` prints the table of docs/reference/method.md.

use crate::shared::{Rate, normal};
use fastrand::Rng;
use klatch_stats::{BatchMean, batch_mean, ratio_of_log};

const SERIES: u32 = 4_000;

/// A first-order autoregressive series about 0.
fn series(rng: &mut Rng, length: usize, correlation: f64) -> Vec<f64> {
    let mut value = normal(rng) / (1.0 - correlation * correlation).sqrt();
    let next = |_| {
        value = correlation * value + normal(rng);
        value
    };
    (0..length).map(next).collect()
}

fn misses(length: usize, correlation: f64, batches: usize) -> Rate {
    let mut rng = Rng::with_seed(1);
    let mut rate = Rate::default();
    for _ in 0..SERIES {
        let BatchMean { mean, error, degrees } =
            batch_mean(&series(&mut rng, length, correlation), batches).unwrap();
        rate.add(!ratio_of_log(mean, error, degrees, 0.95).unwrap().interval.contains(1.0));
    }
    rate
}

#[test]
fn ten_batches_miss_one_interval_in_twenty_also_with_autocorrelation() {
    for length in [60, 165, 660] {
        for correlation in [0.0, 0.3, 0.6] {
            let row = [5, 10, 20, 30]
                .map(|batches| format!("{:5.1} %", misses(length, correlation, batches).percent()));
            println!("{length:4} values, autocorrelation {correlation}: {}", row.join(" "));
        }
    }
    // Series of a minute in slices of 200 ms, with more autocorrelation than was seen.
    for correlation in [0.0, 0.3] {
        let percent = misses(165, correlation, BatchMean::BATCHES).percent();
        assert!((3.5..=7.5).contains(&percent), "{percent} % at {correlation}");
    }
}
