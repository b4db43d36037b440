//! Moments that are fixed in advance by the seed.

use crate::random::Random;

/// Mean time between two moments of a sequence, seconds.
const MEAN_S: f64 = 5.0;
/// Longest time between two moments of a sequence, seconds.
const MOST_S: f64 = 25.0;

/// Moments whose intervals are negative-exponential, in ns after the gate opened.
pub(super) struct Moments {
    random: Random,
    next_ns: u64,
}

impl Moments {
    /// The moments of the sequence with this seed.
    pub(super) fn new(seed: u64) -> Moments {
        let mut moments = Moments { random: Random::new(seed), next_ns: 0 };
        moments.advance();
        moments
    }

    /// The next moment, ns after the gate opened.
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    pub(super) fn advance(&mut self) {
        let interval_s = (-(1.0 - self.random.unit()).ln() * MEAN_S).min(MOST_S);
        self.next_ns += (interval_s * 1e9) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_their_mean_and_their_bound() {
        let mut moments = Moments::new(1);
        let (mut before_ns, mut most_ns) = (0, 0);
        for _ in 0..10_000 {
            most_ns = most_ns.max(moments.next_ns() - before_ns);
            before_ns = moments.next_ns();
            moments.advance();
        }
        let mean_s = before_ns as f64 / 1e9 / 10_000.0;
        assert!((4.8..5.1).contains(&mean_s), "{mean_s}");
        assert_eq!(most_ns, 25_000_000_000);
    }
}
