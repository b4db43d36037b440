//! Gaps of a crowd: times in which it was due to run and did not, because it was stopped or got no CPU. What was late or silent
//! then is its own, and not the server's.
//!
//! The supervisor is due every [`TICK`], so it notices a stop of the whole process in every pacing. It costs the threads that move
//! messages nothing.

use std::time::Duration;

use klatch_record::CrowdGap;

/// How often the supervisor is due.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Delay behind that from which it is a gap. A machine whose CPUs are all in use delays a thread by less.
const LATE_MIN: Duration = Duration::from_millis(250);
/// Largest number of gaps that a result lists; the longest are kept.
const GAPS_MAX: usize = 100;

/// The gaps of a run so far.
#[derive(Default)]
pub(crate) struct Gaps {
    list: Vec<CrowdGap>,
}

impl Gaps {
    /// Length of the gap of a wait that should have ended after `due` and took `took`; `None` if it was in time.
    pub(crate) fn gap(due: Duration, took: Duration) -> Option<Duration> {
        took.checked_sub(due).filter(|late| *late >= LATE_MIN)
    }

    /// Adds a gap of this length that ended `to_ns` after the gate opened.
    pub(crate) fn add(&mut self, to_ns: u64, length: Duration) {
        let from_ns = to_ns.saturating_sub(length.as_nanos() as u64);
        self.list.push(CrowdGap { from_s: from_ns as f64 / 1e9, to_s: to_ns as f64 / 1e9 });
        if self.list.len() > GAPS_MAX {
            let lengths = self.list.iter().map(CrowdGap::length_s).enumerate();
            if let Some((shortest, _)) = lengths.min_by(|one, other| one.1.total_cmp(&other.1)) {
                self.list.remove(shortest);
            }
        }
    }

    pub(crate) fn into_list(self) -> Vec<CrowdGap> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_takes_much_longer_is_a_gap() {
        let ms = Duration::from_millis;
        assert_eq!(Gaps::gap(TICK, ms(299)), None);
        assert_eq!(Gaps::gap(TICK, ms(5_050)), Some(ms(5_000)));
        assert_eq!(Gaps::gap(TICK, ms(1)), None);
    }

    #[test]
    fn the_longest_gaps_are_kept_in_order() {
        let mut gaps = Gaps::default();
        for second in 1..=150_u64 {
            gaps.add(second * 1_000_000_000, Duration::from_millis(if second == 3 { 900 } else { second }));
        }
        let list = gaps.into_list();
        assert_eq!((list.len(), list[0].to_s, list[99].to_s), (GAPS_MAX, 3.0, 150.0));
        assert!((list[0].length_s() - 0.9).abs() < 1e-9);
        assert!(list.is_sorted_by(|one, other| one.to_s < other.to_s));
    }
}
