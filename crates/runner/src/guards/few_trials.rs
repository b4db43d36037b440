//! Warns of fewer than three trials.

use klatch_record::{Warning, WarningKind};

use super::warning;

/// With two, the interval is 12.7 standard errors to each side; with three 4.3; with five 2.8 (Student's t, 95 %).
const TRIALS_MIN: usize = 3;

pub(super) fn guard(scores: &[f64]) -> Option<Warning> {
    let advice = "make at least 3, better 5: an interval of two reaches 12.7 standard errors to each side";
    let count = scores.len();
    let message = if count == 1 {
        "there is only one trial".to_owned()
    } else {
        format!("there are only {count} trials")
    };
    (1..TRIALS_MIN).contains(&count).then(|| warning(WarningKind::FewTrials, message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_trials_give_a_warning_and_three_do_not() {
        assert_eq!(guard(&[1.0, 2.0]).unwrap().message, "there are only 2 trials");
        assert_eq!(guard(&[1.0, 2.0, 3.0]), None);
    }
}
