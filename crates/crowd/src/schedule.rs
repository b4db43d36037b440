//! The schedule of a party under pacing `rate`, or with a rate. It is defined in `docs/reference/protocol.md`.

use klatch_protocol::chat::text::mix;
use klatch_record::Arrivals;

/// The increment of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Output number `index`, from 0, of a SplitMix64 generator with this seed.
fn split_mix_64(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
}

/// A random number as a fraction, 0 to below 1.
fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// The seed of a party. It depends on the room's global number, so shards have the same schedules as one crowd.
fn seed_of(seed: u64, room: u32, user: u32) -> u64 {
    split_mix_64(split_mix_64(seed, 0), u64::from(room) << 32 | u64::from(user))
}

/// The offset of a user's first moment from the gate, as a fraction of the period, 0 to below 1.
pub(crate) fn jitter(seed: u64, room: u32, user: u32) -> f64 {
    fraction(seed_of(seed, room, user))
}

/// The moments at which a party is to send, ns after the opening of the gate.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    /// Moments a second.
    rate: f64,
    seed: u64,
    /// The number of the next moment, from 0.
    index: u64,
    /// The first moment, of even ones.
    phase_ns: u64,
    due_ns: u64,
    /// Nothing is due from this time on.
    end_ns: u64,
}

impl Schedule {
    /// The schedule of a user of a room; of other parties, the room is their number, and the user 0.
    pub(crate) fn new(seed: u64, room: u32, user: u32, rate: f64, arrivals: Arrivals) -> Schedule {
        let seed = seed_of(seed, room, user);
        let phase_ns = (fraction(seed) * 1e9 / rate) as u64;
        let mut schedule = Schedule { arrivals, rate, seed, index: 0, phase_ns, due_ns: 0, end_ns: u64::MAX };
        schedule.due_ns = match arrivals {
            Arrivals::Even => phase_ns,
            Arrivals::Poisson => schedule.interval_ns(0),
        };
        schedule
    }

    /// The same with nothing due after this time.
    pub(crate) fn until(self, duration_s: Option<f64>) -> Schedule {
        Schedule { end_ns: duration_s.map_or(u64::MAX, |duration_s| (duration_s * 1e9) as u64), ..self }
    }

    /// The next moment.
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Whether nothing more is due.
    pub(crate) fn is_over(&self) -> bool {
        self.due_ns >= self.end_ns
    }

    /// Passes to the moment after the next one.
    pub(crate) fn advance(&mut self) {
        self.index += 1;
        self.due_ns = match self.arrivals {
            Arrivals::Even => self.phase_ns + (self.index as f64 * 1e9 / self.rate) as u64,
            Arrivals::Poisson => self.due_ns + self.interval_ns(self.index),
        };
    }

    /// The number of moments up to the end of the schedule. It must have an end.
    pub(crate) fn left(&self) -> u64 {
        let mut rest = self.clone();
        while !rest.is_over() {
            rest.advance();
        }
        rest.index - self.index
    }

    /// The interval before moment `index` of a Poisson process, in whole ns.
    fn interval_ns(&self, index: u64) -> u64 {
        (-(1.0 - fraction(split_mix_64(self.seed, index))).ln() * 1e9 / self.rate).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_schedules_that_every_crowd_has() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/schedule.json");
        let vectors: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let vectors = vectors["schedules"].as_array().unwrap();
        assert!(vectors.len() > 5);
        for vector in vectors {
            let number = |name: &str| vector[name].as_u64().unwrap() as u32;
            let seed = vector["seed"].as_str().unwrap().parse().unwrap();
            let arrivals = vector["arrivals"].as_str().unwrap_or("even").parse().unwrap();
            let rate = vector["rate"].as_f64().unwrap();
            let mut schedule = Schedule::new(seed, number("room"), number("user"), rate, arrivals);
            for due_ns in vector["due_ns"].as_array().unwrap() {
                assert_eq!(schedule.due_ns(), due_ns.as_u64().unwrap(), "{vector}");
                schedule.advance();
            }
        }
    }

    #[test]
    fn first_messages_are_spread_over_the_period() {
        let jitters: Vec<f64> = (0..1_000).map(|user| jitter(1, 7, user)).collect();
        let mean = jitters.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "mean {mean}");
        assert!(jitters.iter().all(|jitter| (0.0..1.0).contains(jitter)));
    }

    #[test]
    fn a_schedule_ends_with_its_duration() {
        for arrivals in Arrivals::ALL {
            let mut schedule = Schedule::new(1, 1, 0, 100.0, arrivals).until(Some(2.0));
            let left = schedule.left();
            assert!((170..230).contains(&left), "{arrivals}: {left}");
            assert!(arrivals == Arrivals::Poisson || left == 200, "{left}");
            (0..left).for_each(|_| schedule.advance());
            assert!(schedule.is_over() && schedule.left() == 0 && schedule.due_ns() >= 2_000_000_000);
        }
    }

    /// The statistic of Anderson and Darling for the exponential distribution of a known mean.
    fn anderson_darling(mut intervals: Vec<f64>, mean: f64) -> f64 {
        intervals.sort_by(f64::total_cmp);
        let count = intervals.len();
        let below = |place: usize| -(-intervals[place] / mean).exp_m1();
        let sum: f64 = (0..count)
            .map(|place| {
                let above = -intervals[count - 1 - place] / mean;
                (2 * place + 1) as f64 * (below(place).ln() + above)
            })
            .sum();
        -(count as f64) - sum / count as f64
    }

    /// Intervals of one party, and of all parties of a crowd together, whose rate is the sum.
    #[test]
    fn poisson_arrivals_have_exponential_intervals() {
        // The value that one in a hundred samples of the distribution exceeds.
        const CRITICAL_1_PERCENT: f64 = 3.857;
        let moments = |user: u32, count: usize| {
            let mut schedule = Schedule::new(1, 1, user, 50.0, Arrivals::Poisson);
            std::iter::repeat_with(move || {
                let due_ns = schedule.due_ns();
                schedule.advance();
                due_ns as f64
            })
            .take(count)
        };
        let intervals = |moments: Vec<f64>| -> Vec<f64> {
            let shifted = std::iter::once(0.0).chain(moments.clone());
            moments.into_iter().zip(shifted).map(|(moment, before)| moment - before).collect()
        };
        for user in 0..5 {
            let statistic = anderson_darling(intervals(moments(user, 10_000).collect()), 2e7);
            assert!(statistic < CRITICAL_1_PERCENT, "user {user}: {statistic}");
        }
        let mut all: Vec<f64> = (0..20).flat_map(|user| moments(user, 1_000)).collect();
        all.sort_by(f64::total_cmp);
        all.truncate(10_000);
        let statistic = anderson_darling(intervals(all), 1e6);
        assert!(statistic < CRITICAL_1_PERCENT, "all: {statistic}");
        let even: Vec<f64> = (1..=10_000).map(|place| f64::from(place) * 2e7).collect();
        assert!(anderson_darling(intervals(even), 2e7) > 1_000.0, "even intervals are none");
    }
}
