//! Lines that conform: those that received data at nearly the speed of a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sums::{SumError, add_counts, saturating_sum, sum};

/// The smallest share of its speed at which a line conforms: 320 of 400 kbit/s.
pub const CONFORMING_SHARE_MIN: f64 = 0.8;

/// The lines of a run, by what they received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conforming {
    /// Number of lines that conform, which is the score.
    pub lines: u64,
    /// Number of all lines.
    pub of: u64,
    /// Speed of a line, kbit/s.
    pub line_kbit_per_s: u32,
    /// What a twentieth of the lines did not reach, kbit/s.
    pub kbit_per_s_p5: u64,
    /// Median of what the lines received, kbit/s.
    pub kbit_per_s_p50: u64,
    /// What the lines received from the opening of the gate to the last reply: kbit/s, rounded down, and number of lines.
    pub kbit_per_s: Vec<(u64, u64)>,
}

impl Conforming {
    /// The lines of this speed, from what each received. `None` without a line.
    pub fn new(line_kbit_per_s: u32, received: &[(u64, u64)]) -> Option<Conforming> {
        let of = saturating_sum(received.iter().map(|(_, count)| *count));
        let least = f64::from(line_kbit_per_s) * CONFORMING_SHARE_MIN;
        let fast = received.iter().filter(|(kbit, _)| *kbit as f64 >= least);
        let lines = saturating_sum(fast.map(|(_, count)| *count));
        let quantile = |share: f64| {
            let place = ((of as f64 * share).ceil() as u64).max(1);
            let mut count = 0_u64;
            received.iter().find(|(_, more)| {
                count = count.saturating_add(*more);
                count >= place
            })
        };
        Some(Conforming {
            lines,
            of,
            line_kbit_per_s,
            kbit_per_s_p5: quantile(0.05)?.0,
            kbit_per_s_p50: quantile(0.5)?.0,
            kbit_per_s: received.to_vec(),
        })
    }

    /// The lines of all together, which have one speed. `None` without a line.
    ///
    /// # Errors
    /// There are more lines than 64 bits count.
    pub(crate) fn merge<'a>(
        all: impl Iterator<Item = &'a Conforming> + Clone,
    ) -> Result<Option<Conforming>, SumError> {
        let Some(line_kbit_per_s) = all.clone().map(|one| one.line_kbit_per_s).next() else {
            return Ok(None);
        };
        let mut sums = BTreeMap::new();
        add_counts(&mut sums, all.flat_map(|one| one.kbit_per_s.iter().copied()))?;
        sum("lines", sums.values().copied())?;
        Ok(Conforming::new(line_kbit_per_s, &sums.into_iter().collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_conforms_at_four_fifths_of_its_speed() {
        let conforming = Conforming::new(400, &[(100, 1), (319, 2), (320, 10), (390, 87)]).unwrap();
        assert_eq!((conforming.lines, conforming.of), (97, 100));
        assert_eq!((conforming.kbit_per_s_p5, conforming.kbit_per_s_p50), (320, 390));
        assert_eq!(Conforming::new(400, &[]), None);
    }

    #[test]
    fn merged_lines_are_all_lines() {
        let lines = |received: &[(u64, u64)]| Conforming::new(400, received).unwrap();
        let (one, other) = (lines(&[(1, 2), (320, 4)]), lines(&[(320, 1)]));
        let merged = Conforming::merge([&one, &other].into_iter()).unwrap().unwrap();
        assert_eq!((merged.lines, merged.of, &merged.kbit_per_s[..]), (5, 7, &[(1, 2), (320, 5)][..]));
        assert_eq!(Conforming::merge([].into_iter()).unwrap(), None);
        let most = lines(&[(1, u64::MAX), (3, 1)]);
        assert!(Conforming::merge([&most].into_iter()).is_err());
    }
}
