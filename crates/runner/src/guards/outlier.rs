//! Warns of a single trial far from the others.

use klatch_record::{Warning, WarningKind};
use klatch_stats::outlier;

use super::warning;

/// Probability of a warning about a series without an outlier.
const SIGNIFICANCE: f64 = 0.01;

pub(super) fn guard(scores: &[f64]) -> Option<Warning> {
    let place = outlier(scores, SIGNIFICANCE).ok().flatten()?;
    let message = format!(
        "trial {} of {} is far from the others at {:.0} messages/s (Grubbs' test, 1 %)",
        place + 1,
        scores.len(),
        scores[place]
    );
    let advice = "check what else ran then; if it is the first, make more warm-up runs; or compare medians";
    Some(warning(WarningKind::Outlier, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_first_trial_gives_a_warning_and_scatter_does_not() {
        let cold = guard(&[500.0, 1_000.0, 1_004.0, 997.0, 1_001.0, 999.0]).unwrap();
        assert!(
            cold.message.starts_with("trial 1 of 6 is far from the others at 500 messages/s"),
            "{cold:?}"
        );
        assert_eq!(guard(&[990.0, 1_000.0, 1_004.0, 997.0, 1_011.0, 999.0]), None);
    }
}
