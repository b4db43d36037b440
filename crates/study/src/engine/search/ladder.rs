//! The values that a search tries: it moves up or down by a factor until it has one value that held and one that failed,
//! then halves the gap.

use klatch_record::SearchStep;

use crate::search::Search;

/// A pass ends when the gap between the value that held and the one that failed is below this share of the former.
const GAP: f64 = 0.02;

/// Start of a later pass, as a share of the first pass's result. The power of the pass number makes each start differ, so
/// that passes try different values.
const LATER_FROM: f64 = 0.95;

/// Factor of later passes, which start near the result.
const LATER_FACTOR: f64 = 1.15;

/// The values of one pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ladder {
    from: f64,
    factor: f64,
    least: f64,
    most: f64,
    /// The smallest difference between two values; 0 where there is none.
    unit: f64,
}

impl Ladder {
    /// The first pass, which doubles from the lowest value.
    pub(super) fn first(search: &Search) -> Ladder {
        let (from, most, unit) = match search {
            Search::Limit { rooms_from, rooms_max } => (f64::from(*rooms_from), f64::from(*rooms_max), 1.0),
            Search::Knee { rate_from, rate_max, .. } => (*rate_from, *rate_max, 0.0),
        };
        Ladder { from, factor: 2.0, least: from, most, unit }
    }

    /// A later pass, which starts near the result of the first one. The second pass has number 1.
    pub(super) fn later(self, result: f64, number: u32) -> Ladder {
        let from = (result * LATER_FROM.powi(number as i32)).clamp(self.least, self.most);
        Ladder { from, factor: LATER_FACTOR, ..self }
    }

    /// The next value after these steps of the pass; `None` at the end of the pass.
    pub(super) fn next(&self, steps: &[SearchStep]) -> Option<f64> {
        let good = highest_held(steps);
        let bad = steps.iter().filter(|step| !step.held).map(|step| step.value).min_by(f64::total_cmp);
        match (good, bad) {
            (None, None) => Some(self.from),
            (None, Some(bad)) => (bad > self.least).then(|| (bad / self.factor).max(self.least)),
            (Some(good), None) => (good < self.most).then(|| (good * self.factor).min(self.most)),
            (Some(good), Some(bad)) => {
                let middle = f64::midpoint(good, bad);
                let middle = if self.unit > 0.0 { middle.floor() } else { middle };
                (bad - good > self.unit.max(good * GAP)).then_some(middle)
            }
        }
    }
}

/// The highest value that held, if one did.
pub(super) fn highest_held(steps: &[SearchStep]) -> Option<f64> {
    steps.iter().filter(|step| step.held).map(|step| step.value).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values of a pass in which everything up to `limit` holds.
    fn tried(ladder: Ladder, limit: f64) -> Vec<f64> {
        let mut steps: Vec<SearchStep> = Vec::new();
        while let Some(value) = ladder.next(&steps) {
            let (held, seen) = (value <= limit, String::new());
            steps.push(SearchStep { pass: 1, value, held, visits: 1, observed: seen });
            assert!(steps.len() < 100, "the pass does not end: {steps:?}");
        }
        steps.iter().map(|step| step.value).collect()
    }

    const KNEE: Search =
        Search::Knee { rate_from: 1.0, rate_max: 500.0, latency_p99_max_ms: 10.0, passes: 4 };

    #[test]
    fn a_limit_is_exact_to_one_room_or_two_per_cent() {
        let ladder = Ladder::first(&Search::Limit { rooms_from: 5, rooms_max: 1000 });
        assert_eq!(tried(ladder, 17.0), [5.0, 10.0, 20.0, 15.0, 17.0, 18.0]);
        assert_eq!(tried(ladder, 3.0), [5.0]);
        assert_eq!(tried(ladder, 5000.0).last(), Some(&1000.0));
        let last = tried(ladder, 777.0);
        assert!(last.len() < 20, "{last:?}");
    }

    #[test]
    fn a_knee_is_exact_to_two_per_cent() {
        let tried = tried(Ladder::first(&KNEE), 37.3);
        let best = tried.iter().copied().filter(|value| *value <= 37.3).fold(0.0, f64::max);
        assert!((36.5..=37.3).contains(&best), "{tried:?}");
    }

    #[test]
    fn a_later_pass_reaches_the_knee_from_either_side_in_few_steps() {
        for limit in [30.0, 37.3, 45.0] {
            let tried = tried(Ladder::first(&KNEE).later(37.3, 2), limit);
            let best = tried.iter().copied().filter(|value| *value <= limit).fold(0.0, f64::max);
            assert!((limit * 0.979..=limit).contains(&best) && tried.len() <= 8, "{limit}: {tried:?}");
        }
    }

    #[test]
    fn a_later_pass_stays_within_the_ends_of_the_search() {
        let ladder = Ladder::first(&KNEE).later(1.0, 1);
        assert_eq!(tried(ladder, 0.5), [1.0]);
    }
}
