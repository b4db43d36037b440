//! The schedule of a party under pacing `rate`, or with a rate. It is defined in `docs/reference/protocol.md`.

use klatch_protocol::chat::text::mix;
use klatch_record::{Arrivals, Stages};

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

/// What request `sequence` of a connection draws: a number below `limit`. It depends on the seed alone, and is not that of a schedule.
pub(crate) fn choice(seed: u64, connection: u32, sequence: u32, limit: u32) -> u32 {
    let drawn = split_mix_64(seed_of(seed, connection, 1), u64::from(sequence));
    (((drawn >> 32) * u64::from(limit)) >> 32) as u32
}

/// The offset of a user's first moment from the gate, as a fraction of the period, 0 to below 1.
pub(crate) fn jitter(seed: u64, room: u32, user: u32) -> f64 {
    fraction(seed_of(seed, room, user))
}

/// The rate of a schedule, 1/s.
#[derive(Clone, Copy)]
pub(crate) enum Rate<'a> {
    Constant(f64),
    Stages(&'a Stages),
}

impl Rate<'_> {
    /// Stages, or else a rate; `None` without a schedule.
    pub(crate) fn of(rate: Option<f64>, stages: Option<&Stages>) -> Option<Rate<'_>> {
        stages.map(Rate::Stages).or(rate.map(Rate::Constant))
    }
}

/// The stages of a schedule, and which of them has the next moment.
#[derive(Clone, Debug)]
struct Climb {
    stages: Stages,
    at: usize,
    /// The first moment as a part of an operation, 0 to below 1; of even ones.
    phase: f64,
    /// Operations up to the next moment, times 10⁹; of a Poisson process.
    sum: u64,
}

impl Climb {
    /// When so many operations are due, ns after the opening of the gate; the end of the stages if they are never. No call may go back.
    fn due_ns(&mut self, operations: f64) -> u64 {
        while let Some(stage) = self.stages.all().get(self.at) {
            if operations < stage.up_to_end() {
                return whole_ns(stage.time_of(operations));
            }
            self.at += 1;
        }
        whole_ns(self.stages.time_s())
    }
}

fn whole_ns(time_s: f64) -> u64 {
    (time_s * 1e9) as u64
}

/// The moments at which a party is to send, ns after the opening of the gate.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    /// Moments a second; 1 with stages, whose moments are counted before they have a time.
    rate: f64,
    seed: u64,
    /// The number of the next moment, from 0.
    index: u64,
    /// The first moment, of even ones.
    phase_ns: u64,
    due_ns: u64,
    /// Nothing is due from this time on.
    end_ns: u64,
    /// `None` at a constant rate.
    climb: Option<Box<Climb>>,
}

impl Schedule {
    /// The schedule of a user of a room; of other parties, the room is their number, and the user 0.
    pub(crate) fn new(seed: u64, room: u32, user: u32, rate: Rate<'_>, arrivals: Arrivals) -> Schedule {
        let seed = seed_of(seed, room, user);
        let (rate, end_ns, climb) = match rate {
            Rate::Constant(rate) => (rate, u64::MAX, None),
            Rate::Stages(stages) => {
                let climb = Climb { stages: stages.clone(), at: 0, phase: fraction(seed), sum: 0 };
                (1.0, whole_ns(stages.time_s()), Some(Box::new(climb)))
            }
        };
        let phase_ns = (fraction(seed) * 1e9 / rate) as u64;
        let mut schedule = Schedule { arrivals, rate, seed, index: 0, phase_ns, due_ns: 0, end_ns, climb };
        schedule.due_ns = schedule.next_ns();
        schedule
    }

    /// The same with nothing due after this time.
    pub(crate) fn until(self, duration_s: Option<f64>) -> Schedule {
        Schedule { end_ns: duration_s.map_or(self.end_ns, whole_ns), ..self }
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
        self.due_ns = self.next_ns();
    }

    /// Moment `index`, after that of `index` - 1.
    fn next_ns(&mut self) -> u64 {
        let interval_ns = match self.arrivals {
            Arrivals::Even => 0,
            Arrivals::Poisson => self.interval_ns(self.index),
        };
        match (&mut self.climb, self.arrivals) {
            (None, Arrivals::Even) => self.phase_ns + (self.index as f64 * 1e9 / self.rate) as u64,
            (None, Arrivals::Poisson) => self.due_ns + interval_ns,
            (Some(climb), Arrivals::Even) => climb.due_ns(climb.phase + self.index as f64),
            (Some(climb), Arrivals::Poisson) => {
                climb.sum += interval_ns;
                climb.due_ns(climb.sum as f64 / 1e9)
            }
        }
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
            let stages = vector["stages"].as_str().map(|stages| stages.parse().unwrap());
            let rate = Rate::of(vector["rate"].as_f64(), stages.as_ref()).unwrap();
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
            let mut schedule = Schedule::new(1, 1, 0, Rate::Constant(100.0), arrivals).until(Some(2.0));
            let left = schedule.left();
            assert!((170..230).contains(&left), "{arrivals}: {left}");
            assert!(arrivals == Arrivals::Poisson || left == 200, "{left}");
            (0..left).for_each(|_| schedule.advance());
            assert!(schedule.is_over() && schedule.left() == 0 && schedule.due_ns() >= 2_000_000_000);
        }
    }

    fn in_stages(text: &str, user: u32, arrivals: Arrivals) -> Vec<u64> {
        let stages = text.parse().unwrap();
        let mut schedule = Schedule::new(1, 1, user, Rate::Stages(&stages), arrivals);
        let mut moments = Vec::new();
        while !schedule.is_over() {
            assert_eq!(schedule.left() > 0, !schedule.is_over());
            moments.push(schedule.due_ns());
            schedule.advance();
        }
        assert_eq!(schedule.due_ns(), whole_ns(stages.time_s()), "nothing is due after the last stage");
        moments
    }

    #[test]
    fn stages_at_one_rate_are_that_rate() {
        let stages = in_stages("0s:40,500ms:40,1s:40", 3, Arrivals::Even);
        let mut constant = Schedule::new(1, 1, 3, Rate::Constant(40.0), Arrivals::Even).until(Some(1.5));
        assert_eq!(stages.len(), 60);
        for due_ns in stages {
            assert!(due_ns.abs_diff(constant.due_ns()) <= 1, "{due_ns} and {}", constant.due_ns());
            constant.advance();
        }
        assert!(constant.is_over());
    }

    /// The count up to any time is the integral of the rate, to one moment if they are even.
    #[test]
    fn moments_of_ramps_follow_the_integral_of_the_rate() {
        let even = in_stages("2s:100,1s:0,1s:0,0s:50,1s:50", 7, Arrivals::Even);
        assert!(even.is_sorted());
        for (time_s, operations) in
            [(1.0, 25.0), (2.0, 100.0), (2.5, 137.5), (3.0, 150.0), (4.0, 150.0), (4.5, 175.0)]
        {
            let count = even.iter().filter(|due_ns| **due_ns < whole_ns(time_s)).count() as f64;
            assert!((count - operations).abs() <= 1.0, "{count} up to {time_s} s");
        }
        assert_eq!(even.len(), 200);
        let all: Vec<u64> =
            (0..200).flat_map(|user| in_stages("2s:100,1s:0", user, Arrivals::Poisson)).collect();
        // 200 × 150, with a deviation of 173, and of a half that up to 1 s.
        assert!((29_300..30_700).contains(&all.len()), "{}", all.len());
        let first = all.iter().filter(|due_ns| **due_ns < 1_000_000_000).count();
        assert!((4_700..5_300).contains(&first), "{first} of 5,000");
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
            let mut schedule = Schedule::new(1, 1, user, Rate::Constant(50.0), Arrivals::Poisson);
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

    /// A queue with one place and a service of 1 ms behind the arrivals of 100 parties: the mean time in it is that of the formula of
    /// Pollaczek and Khinchine. Half an hour of arrivals, as those at 90 % hang together for a tenth of a second.
    #[test]
    fn a_queue_behind_poisson_arrivals_is_m_d_1() {
        const SERVICE_NS: f64 = 1e6;
        const MOMENTS: u32 = 16_000;
        for load in [0.3, 0.6, 0.9] {
            let mut arrivals: Vec<u64> = Vec::new();
            for party in 0..100 {
                let rate = Rate::Constant(load * 10.0);
                let mut schedule = Schedule::new(1, 1, party, rate, Arrivals::Poisson);
                for _ in 0..MOMENTS {
                    arrivals.push(schedule.due_ns());
                    schedule.advance();
                }
            }
            arrivals.sort_unstable();
            // Towards the end some parties have no more moments.
            arrivals.truncate(arrivals.len() * 9 / 10);
            let (mut free_ns, mut in_queue_ns) = (0.0_f64, 0.0);
            for due_ns in arrivals.iter().map(|due_ns| *due_ns as f64) {
                free_ns = free_ns.max(due_ns) + SERVICE_NS;
                in_queue_ns += free_ns - due_ns;
            }
            let mean_ns = in_queue_ns / arrivals.len() as f64;
            let expected_ns = SERVICE_NS * (1.0 + load / (2.0 * (1.0 - load)));
            assert!((mean_ns / expected_ns - 1.0).abs() < 0.03, "{load}: {mean_ns} and {expected_ns}");
        }
    }
}
