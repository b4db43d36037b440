//! Warns of trials that rise (a runtime that is not warmed up) or fall (a machine that heats or fills up).

use klatch_record::{Warning, WarningKind};
use klatch_stats::trend;

use super::warning;

/// Confidence at which a trend must be significant.
const CONFIDENCE: f64 = 0.99;
/// Smallest change from first to last trial that matters, relative.
const CHANGE_MIN: f64 = 0.02;

pub(super) fn guard(scores: &[f64]) -> Option<Warning> {
    let change = trend(scores, CONFIDENCE).ok()?;
    if change.contains(1.0) || (change.estimate - 1.0).abs() < CHANGE_MIN {
        return None;
    }
    let message = format!(
        "the throughput of the last trial is {:.2} × that of the first, by a line through all {} (99 % interval {:.2}–{:.2})",
        change.estimate,
        scores.len(),
        change.low,
        change.high
    );
    let advice = if change.estimate > 1.0 {
        "the platform was not warmed up: make more warm-up runs, until the trials are level"
    } else {
        "something heats or fills up: check the machine, and compare only trials that were made in turn"
    };
    Some(warning(WarningKind::Trend, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_and_falling_trials_give_different_advice() {
        let up = guard(&[1_000.0, 1_050.0, 1_110.0, 1_160.0, 1_220.0]).unwrap();
        assert!(
            up.message.contains("is 1.22 × that of the first") && up.advice.contains("more warm-up runs"),
            "{up:?}"
        );
        let down = guard(&[1_220.0, 1_160.0, 1_110.0, 1_050.0, 1_000.0]).unwrap();
        assert!(down.advice.contains("fills up"), "{down:?}");
    }

    #[test]
    fn scatter_and_a_negligible_trend_give_no_warning() {
        assert_eq!(guard(&[1_000.0, 1_050.0, 990.0, 1_040.0, 1_010.0]), None);
        assert_eq!(guard(&[1_000.0, 1_001.0, 1_002.0, 1_003.1, 1_004.0]), None);
    }
}
