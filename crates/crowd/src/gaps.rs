//! Gaps of a crowd: times in which it was due to run and did not, because it was stopped, got no CPU, or had too much to do. What was
//! late or silent then is its own, and not the server's.
//!
//! An event loop is due again when it has handled what was ready, and when its next timer ends, so it notices a gap of a millisecond
//! by the clock that it reads anyway. A loop that waits for the server is due at no known time. That is left to the supervisor, which is
//! due every [`TICK`] and notices a stop of the whole process in every crowd.

use std::time::Duration;

use klatch_record::{CROWD_FROZEN_MIN_S, CROWD_GAP_MIN_S, CrowdGap};

/// How often the supervisor is due.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Largest number of gaps that a result lists; the longest are kept.
const GAPS_MAX: usize = 100;

/// The gaps of a run so far.
#[derive(Default)]
pub(crate) struct Gaps {
    list: Vec<CrowdGap>,
}

impl Gaps {
    /// Length of the gap of a wait of the supervisor that should have ended after `due` and took `took`; `None` if it was in time. A
    /// machine whose CPUs are all in use delays a thread that wakes so seldom by less.
    pub(crate) fn gap(due: Duration, took: Duration) -> Option<Duration> {
        took.checked_sub(due).filter(|late| late.as_secs_f64() >= CROWD_FROZEN_MIN_S)
    }

    /// Adds the time from the moment at which a loop was due to the one at which it had looked at all its connections, if that is a gap.
    /// All are times of the crowd's clock, and the gate opened at `gate_ns`, 0 if it has not.
    pub(crate) fn add_turn(&mut self, gate_ns: u64, due_ns: u64, done_ns: u64) {
        let length_ns = done_ns.saturating_sub(due_ns);
        if length_ns as f64 >= CROWD_GAP_MIN_S * 1e9 && gate_ns > 0 && due_ns >= gate_ns {
            self.add(done_ns - gate_ns, Duration::from_nanos(length_ns));
        }
    }

    /// Adds a gap of this length that ended `to_ns` after the gate opened.
    pub(crate) fn add(&mut self, to_ns: u64, length: Duration) {
        let from_ns = to_ns.saturating_sub(length.as_nanos() as u64);
        self.list.push(CrowdGap { from_s: from_ns as f64 / 1e9, to_s: to_ns as f64 / 1e9 });
        if self.list.len() > GAPS_MAX {
            self.drop_shortest();
        }
    }

    fn drop_shortest(&mut self) {
        let lengths = self.list.iter().map(CrowdGap::length_s).enumerate();
        if let Some((shortest, _)) = lengths.min_by(|one, other| one.1.total_cmp(&other.1)) {
            self.list.remove(shortest);
        }
    }

    /// Adds those of another thread of the same crowd. What overlaps is one gap.
    pub(crate) fn merge(&mut self, other: Gaps) {
        self.list.extend(other.list);
        self.list.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
        self.list.dedup_by(|later, earlier| {
            let overlaps = later.from_s <= earlier.to_s;
            if overlaps {
                earlier.to_s = earlier.to_s.max(later.to_s);
            }
            overlaps
        });
        while self.list.len() > GAPS_MAX {
            self.drop_shortest();
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

    #[test]
    fn a_turn_of_a_loop_is_a_gap_from_a_millisecond_while_the_gate_is_open() {
        const GATE_NS: u64 = 1_000_000_000;
        let mut gaps = Gaps::default();
        gaps.add_turn(GATE_NS, GATE_NS + 5_000_000, GATE_NS + 5_999_000);
        gaps.add_turn(0, 5_000_000, 9_000_000);
        gaps.add_turn(GATE_NS, GATE_NS - 1, GATE_NS + 9_000_000);
        gaps.add_turn(GATE_NS, GATE_NS + 5_000_000, GATE_NS + 7_000_000);
        assert_eq!(gaps.into_list(), [CrowdGap { from_s: 0.005, to_s: 0.007 }]);
    }

    #[test]
    fn a_stop_that_several_threads_notice_is_one_gap() {
        let of = |ends_and_lengths: &[(u64, u64)]| {
            let mut gaps = Gaps::default();
            for (end_ms, length_ms) in ends_and_lengths {
                gaps.add(end_ms * 1_000_000, Duration::from_millis(*length_ms));
            }
            gaps
        };
        let mut gaps = of(&[(2_000, 500)]);
        gaps.merge(of(&[(100, 2), (2_010, 505)]));
        gaps.merge(of(&[(101, 2), (3_000, 1)]));
        let list: Vec<_> = gaps.into_list().iter().map(|gap| (gap.from_s, gap.to_s)).collect();
        assert_eq!(list, [(0.098, 0.101), (1.5, 2.01), (2.999, 3.0)]);
    }
}
