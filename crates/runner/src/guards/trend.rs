//! Trials that go up (a runtime that is not warmed up) or down (a machine that gets hot or full).

use klatch_record::{Warning, WarningKind};
use klatch_stats::trend;

use super::warning;

/// How sure a trend must be.
const CONFIDENCE: f64 = 0.99;
/// A surer one may still be too small to matter.
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
        "it was not warmed up: raise --warmup until the trials are level"
    } else {
        "something wore out or filled up: look at the machine, and compare only what was measured in turn"
    };
    Some(warning(WarningKind::Trend, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warming_up_and_wearing_out_are_told_apart() {
        let up = guard(&[1_000.0, 1_050.0, 1_110.0, 1_160.0, 1_220.0]).unwrap();
        assert!(
            up.message.contains("is 1.22 × that of the first") && up.advice.contains("--warmup"),
            "{up:?}"
        );
        let down = guard(&[1_220.0, 1_160.0, 1_110.0, 1_050.0, 1_000.0]).unwrap();
        assert!(down.advice.contains("wore out"), "{down:?}");
    }

    #[test]
    fn scatter_and_a_trend_too_small_to_matter_are_not_told() {
        assert_eq!(guard(&[1_000.0, 1_050.0, 990.0, 1_040.0, 1_010.0]), None);
        assert_eq!(guard(&[1_000.0, 1_001.0, 1_002.0, 1_003.1, 1_004.0]), None);
    }
}
