//! Changes of level in a series: E-divisive means with a permutation test.

use fastrand::Rng;

use crate::StatsError;
use crate::error::enough;

/// Fewest permutations of a test.
const PERMUTATIONS_MIN: usize = 199;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Position of the first number after it.
    pub at: usize,
    /// Probability that a series without this change seems to have one that is at least as clear, in steps of one permutation.
    pub p: f64,
}

/// The positions at which the level of a series changes, in their order: E-divisive means (Matteson and James 2014, Journal of the American
/// Statistical Association 109(505)), with the candidates of Apache Otava. The clearest candidate of all segments, by the energy distance of
/// its sides, is a change if at most `significance` (above 0, up to 1) of the permutations within the segments have a clearer one; then its
/// sides are searched too. A series without a change seems to have one with a probability of at most `significance`. The same seed gives the
/// same changes. It takes time in proportion to the square of the length.
///
/// # Errors
/// A number that is not finite. A series that is too short has no changes.
pub fn changes(values: &[f64], significance: f64, seed: u64) -> Result<Vec<Change>, StatsError> {
    enough(values, 0)?;
    let mut rng = Rng::with_seed(seed);
    let mut search = Search::new(values.len());
    let mut ends = vec![0, values.len()];
    let mut found = Vec::new();
    while let Some(best) = search.clearest(values, &ends) {
        let Some(p) = search.chance(values, &ends, best.divergence, significance, &mut rng) else { break };
        found.push(Change { at: best.at, p });
        ends.push(best.at);
        ends.sort_unstable();
    }
    found.sort_by_key(|change| change.at);
    Ok(found)
}

/// A place at which a segment may change.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: usize,
    divergence: f64,
}

/// Buffers of the search, for segments up to a length.
struct Search {
    /// By number of values: the sum of the distances within so many first values of a segment.
    left: Vec<f64>,
    /// By position: the sum of the distances from there to the end of the right side.
    right: Vec<f64>,
    /// 1 / n, and 0 for n = 0.
    reciprocals: Vec<f64>,
}

impl Search {
    fn new(length: usize) -> Search {
        let reciprocal = |n| if n == 0 { 0.0 } else { 1.0 / n as f64 };
        let reciprocals = (0..=length).map(reciprocal).collect();
        Search { left: vec![0.0; length + 1], right: vec![0.0; length + 1], reciprocals }
    }

    /// The p value of a divergence; `None` if it is above `significance`.
    fn chance(
        &mut self,
        values: &[f64],
        ends: &[usize],
        divergence: f64,
        significance: f64,
        rng: &mut Rng,
    ) -> Option<f64> {
        let permutations = PERMUTATIONS_MIN.max((2.0 / significance).ceil() as usize - 1);
        let mut shuffled = values.to_vec();
        let mut p = 1.0 / (permutations + 1) as f64;
        for _ in 0..permutations {
            ends.windows(2).for_each(|ends| rng.shuffle(&mut shuffled[ends[0]..ends[1]]));
            // Sums in another order differ by rounding.
            let is_clearer = |other: Candidate| other.divergence >= divergence * (1.0 - 1e-12);
            if self.clearest(&shuffled, ends).is_some_and(is_clearer) {
                p += 1.0 / (permutations + 1) as f64;
            }
            if p > significance * (1.0 + 1e-12) {
                return None;
            }
        }
        Some(p)
    }

    /// The clearest candidate within the segments between these ends; `None` if all are too short.
    fn clearest(&mut self, values: &[f64], ends: &[usize]) -> Option<Candidate> {
        let segments = ends.windows(2).filter(|ends| ends[1] - ends[0] > 1);
        let candidates = segments.map(|ends| {
            let best = self.split(&values[ends[0]..ends[1]]);
            Candidate { at: ends[0] + best.at, ..best }
        });
        candidates.max_by(|a, b| a.divergence.total_cmp(&b.divergence))
    }

    /// The clearest candidate of a segment of two or more values: the place where two of its neighbouring parts meet, of which the first
    /// begins with the segment, with the greatest energy distance, times m n / (m + n) for parts of m and n values.
    fn split(&mut self, values: &[f64]) -> Candidate {
        let mut best = Candidate { at: 1, divergence: f64::NEG_INFINITY };
        self.left[0] = 0.0;
        self.left[1] = 0.0;
        self.right[..=values.len()].fill(0.0);
        for end in 2..=values.len() {
            let last = values[end - 1];
            let mut distance = 0.0;
            for at in (1..end).rev() {
                distance += (values[at] - last).abs();
                self.right[at] += distance;
            }
            self.left[end] = self.left[end - 1] + distance + (values[0] - last).abs();
            let mut clearest = Candidate { at: 1, divergence: f64::NEG_INFINITY };
            for at in 1..end {
                let (left, right) = (self.left[at], self.right[at]);
                let (m, n) = (at, end - at);
                let between = self.left[end] - left - right;
                let within =
                    n as f64 * left * self.reciprocals[m - 1] + m as f64 * right * self.reciprocals[n - 1];
                let divergence = between - within;
                if divergence > clearest.divergence {
                    clearest = Candidate { at, divergence };
                }
            }
            clearest.divergence *= 2.0 * self.reciprocals[end];
            if clearest.divergence > best.divergence {
                best = clearest;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by its definition, in the fifth power of the length.
    fn by_definition(values: &[f64]) -> Candidate {
        let distances = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().flat_map(|a| b.iter().map(move |b| (a - b).abs())).sum()
        };
        let within = |x: &[f64]| match x.len() {
            1 => 0.0,
            n => distances(x, x) / (n * (n - 1)) as f64,
        };
        let mut best = Candidate { at: 0, divergence: f64::NEG_INFINITY };
        for (at, end) in (2..=values.len()).flat_map(|end| (1..end).map(move |at| (at, end))) {
            let (x, y) = (&values[..at], &values[at..end]);
            let (m, n) = (x.len() as f64, y.len() as f64);
            let divergence = m * n / (m + n) * (2.0 * distances(x, y) / (m * n) - within(x) - within(y));
            if divergence > best.divergence {
                best = Candidate { at, divergence };
            }
        }
        best
    }

    #[test]
    fn the_fast_search_finds_what_the_definition_does() {
        let mut rng = Rng::with_seed(1);
        for n in [2, 3, 7, 30, 101] {
            let step = |place| f64::from(u8::from(place > n / 3));
            let values: Vec<f64> = (0..n).map(|place| rng.f64() * 3.0 + step(place)).collect();
            let (fast, slow) = (Search::new(n).split(&values), by_definition(&values));
            assert_eq!(fast.at, slow.at, "{n}");
            assert!((fast.divergence - slow.divergence).abs() < 1e-9, "{n}: {fast:?} {slow:?}");
        }
    }

    #[test]
    fn planted_steps_are_found_at_their_places() {
        let mut rng = Rng::with_seed(2);
        let levels = [(14, 100.0), (14, 105.0), (12, 126.0)];
        let levels = levels.iter().flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
        let values: Vec<f64> = levels.map(|level: f64| level * (1.0 + 0.02 * (rng.f64() - 0.5))).collect();
        let found = |values: &[f64]| -> Vec<usize> {
            changes(values, 0.01, 1).unwrap().iter().map(|change| change.at).collect()
        };
        assert_eq!(found(&values), [14, 28]);
        assert!(changes(&values, 0.01, 1).unwrap().iter().all(|change| change.p == 1.0 / 200.0));
        assert_eq!(found(&values[..3]), [0; 0], "too short");
        assert_eq!(found(&[]), [0; 0]);
        assert_eq!(found(&[3.0; 40]), [0; 0], "nothing changes");
        assert_eq!(changes(&[1.0, f64::INFINITY], 0.01, 1), Err(StatsError::NotFinite(f64::INFINITY)));
    }
}
