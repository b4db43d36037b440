//! One trial far off the others.

use klatch_record::{Warning, WarningKind};
use klatch_stats::outlier;

use super::warning;

/// How often a clean series may be accused.
const SIGNIFICANCE: f64 = 0.01;

pub(super) fn guard(scores: &[f64]) -> Option<Warning> {
    let place = outlier(scores, SIGNIFICANCE).ok().flatten()?;
    let message = format!(
        "trial {} of {} is far off the others at {:.0} messages/s (Grubbs' test, 1 %)",
        place + 1,
        scores.len(),
        scores[place]
    );
    let advice =
        "see what else ran then; the first is often cold: more --warmup; or compare with --estimate median";
    Some(warning(WarningKind::Outlier, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_first_trial_is_told_and_scatter_is_not() {
        let cold = guard(&[500.0, 1_000.0, 1_004.0, 997.0, 1_001.0, 999.0]).unwrap();
        assert!(cold.message.starts_with("trial 1 of 6 is far off the others at 500 messages/s"), "{cold:?}");
        assert_eq!(guard(&[990.0, 1_000.0, 1_004.0, 997.0, 1_011.0, 999.0]), None);
    }
}
