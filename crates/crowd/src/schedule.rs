//! The offset of a user's schedule under pacing `rate`. It is defined in `docs/reference/protocol.md`.

use klatch_protocol::chat::text::mix;

/// The increment of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Output number `index`, from 0, of a SplitMix64 generator with this seed.
fn split_mix_64(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
}

/// The offset of a user's first message from the gate, as a fraction of the period (0 to below 1). It depends on the
/// room's global number, so shards send the same schedule as one crowd.
pub(crate) fn jitter(seed: u64, room: u32, user: u32) -> f64 {
    let of_user = split_mix_64(split_mix_64(seed, 0), u64::from(room) << 32 | u64::from(user));
    (of_user >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use klatch_record::{ChatWorkload, Pacing};

    use super::*;
    use crate::pace::{Pace, Turn};

    #[test]
    fn a_seed_gives_the_schedules_that_every_crowd_has() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/schedule.json");
        let vectors: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let vectors = vectors["schedules"].as_array().unwrap();
        assert!(vectors.len() > 5);
        for vector in vectors {
            let number = |name: &str| vector[name].as_u64().unwrap();
            let pacing = Pacing::Rate { per_user_per_s: vector["rate"].as_f64().unwrap() };
            let (room, user) = (number("room") as u32, number("user") as u32);
            let due: Vec<u64> =
                vector["due_ns"].as_array().unwrap().iter().flat_map(|ns| ns.as_u64()).collect();
            let workload = ChatWorkload {
                rooms: 1,
                users: user + 1,
                count: 9,
                size_bytes: 60,
                start: room,
                pacing,
                pause_s: 0.0,
                churn_per_user_per_s: 0.0,
            };
            let seed = vector["seed"].as_str().unwrap().parse().unwrap();
            let mut pace = Pace::new(&workload, user, jitter(seed, room, user));
            for due_ns in due {
                assert_eq!(
                    pace.turn(&workload, u64::MAX, 1_000, 0, 0),
                    Turn::Send(1_000 + due_ns),
                    "{vector}"
                );
                pace.record_sent(&workload, u64::MAX);
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
}
